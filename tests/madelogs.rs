//! Logs that real build tools made of one small project, besides the corpus: the flags are those of its build files.
//!
//! Only the paths of the machine were made neutral (and 09 cut to the lines of nvcc and its first children, its environment
//! replaced).

#![allow(clippy::unwrap_used)]

use krepro::read::log::{Kind, Options, Recovered, Verdict, recover};

fn read(name: &str) -> Recovered {
    let path = format!("{}/tests/madelogs/{name}", env!("CARGO_MANIFEST_DIR"));
    recover(&std::fs::read(path).unwrap()[..], &Options { name: name.into(), ..Options::default() }).unwrap()
}

fn kept(recovered: &Recovered) -> String {
    recovered.command.arguments.iter().map(|a| a.text.as_str()).collect::<Vec<_>>().join(" | ")
}

const MAKE: &str = "-std=c++17 | -O3 | -gencode | arch=compute_90a,code=sm_90a | -gencode | arch=compute_100a,code=sm_100a | \
                    -Iinc dir | -DALPHA=0.5f | -DNAME=\"a b\" | -lineinfo";

const CMAKE: &str = "-forward-unknown-to-host-compiler | -DALPHA=0.5f | -DNAME=\"a b\" | -Dk_EXPORTS | -I/home/user/p/inc dir | \
                     --generate-code=arch=compute_90a,code=[compute_90a,sm_90a] | -Xcompiler=-fPIC | -lineinfo | -Xptxas=-v | \
                     --use_fast_math | -x | cu";

/// File, source of the command that is taken, its flags, and how many other commands the log has.
const CASES: [(&str, &str, &str, usize); 15] = [
    ("01-make-trace.log", "src/gemm.cu", MAKE, 1),
    (
        "02-scons.log",
        "src/gemm.cu",
        "-std=c++17 | -gencode=arch=compute_90a,code=sm_90a | -Iinc dir | -DALPHA=0.25f | --use_fast_math | -Xcompiler | \
         -fPIC,-Wall | -rdc=true",
        1,
    ),
    (
        "03-meson-ninja.log",
        "../src/gemm.cu",
        "-D_GLIBCXX_ASSERTIONS=1 | -DCCCL_ENABLE_ASSERTIONS=1 | -Ik.p | -Xcompiler=-Wall,-Winvalid-pch | --std=c++17 | -O3 | \
         -I../inc dir | -gencode=arch=compute_90a,code=sm_90a | -DALPHA=0.5f | --expt-relaxed-constexpr | -I.. | -I. | -Ik.p",
        1,
    ),
    ("04-cmake-build-v.log", "/home/user/p/src/scale.cu", CMAKE, 1),
    ("05-ninja-t-compdb.log", "/home/user/p/src/gemm.cu", CMAKE, 1),
    ("06-ninja-t-commands.log", "/home/user/p/src/gemm.cu", CMAKE, 1),
    (
        "07-bash-x-ps4.log",
        "src/gemm.cu",
        "-std=c++17 | -O2 | -Iinc dir | -gencode=arch=compute_90a,code=sm_90a | -DALPHA=1.5f | -DT=Foo<1,2> | -DMSG=it's",
        1,
    ),
    (
        "08-xargs-t.log",
        "src/gemm.cu",
        "-std=c++17 | -Iinc dir | -gencode=arch=compute_90a,code=sm_90a | --ptxas-options=-v",
        1,
    ),
    ("09-strace-v.log", "src/gemm.cu", "-std=c++17 | -arch=sm_90 | -Iinc dir | -DALPHA=2.5f", 0),
    (
        "10-structlog-json.log",
        "src/gemm.cu",
        "-std=c++20 | -Iinc dir | -DNAME=\"q\" | -gencode=arch=compute_100a,code=sm_100a | -Xcompiler=-fPIC",
        0,
    ),
    ("11-make-n-ts.log", "src/gemm.cu", MAKE, 1),
    (
        "12-parallel-dryrun.log",
        "src/gemm.cu",
        "-std=c++17 | -Iinc dir | -gencode=arch=compute_90a,code=sm_90a | -rdc=true",
        1,
    ),
    ("13-tmux-wrap.log", "src/gemm.cu", MAKE, 1),
    (
        "14-pprint.log",
        "src/gemm.cu",
        "-std=c++17 | -O3 | -Iinc dir | -DALPHA=0.125f | -DNAME='x' | -gencode=arch=compute_90a,code=sm_90a | -use_fast_math | \
         --expt-relaxed-constexpr",
        1,
    ),
    (
        "16-nvcc-v-env.log",
        "src/scale.cu",
        "-std=c++17 | -Iinc dir | -DEXTRA=1 | -gencode=arch=compute_90,code=[sm_90,compute_90] | -lineinfo",
        0,
    ),
];

#[test]
fn every_tool_s_log_gives_the_flags_of_its_build_file() {
    for (name, source, flags, others) in CASES {
        let recovered = read(name);
        assert_eq!(kept(&recovered), flags, "{name}");
        assert_eq!(recovered.command.sources, [source], "{name}");
        assert_eq!(recovered.others.len(), others, "{name}: {:?}", recovered.others);
        assert_ne!(recovered.verdict, Verdict::Partial, "{name}");
    }
}

#[test]
fn pip_shows_the_compiles_and_the_link_of_a_build_back_end() {
    let recovered = read("15-pip-v-skbuild.log");
    assert_eq!(kept(&recovered).matches("-DNDEBUG").count(), 1);
    assert_eq!(recovered.command.sources, ["/home/user/p/src/scale.cu"]);
    assert!(recovered.others.iter().any(|o| o.kind == Kind::Compile));
}

#[test]
fn ps_has_lost_the_boundaries_and_krepro_says_so() {
    let recovered = read("17-ps.log");
    assert_eq!(recovered.missing, ["boundaries of arguments"]);
    assert!(!recovered.buildable());
}

#[test]
fn an_environment_that_strace_prints_is_in_no_output() {
    let recovered = read("09-strace-v.log");
    assert!(!format!("{recovered:?}").contains("hunter2"));
}
