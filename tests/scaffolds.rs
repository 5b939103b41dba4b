//! Each bundled scaffold on kernels written in its framework's style: `krepro new`, then nvcc and the CPU backend.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and says what it saw")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One `krepro new` on the fixtures of a folder.
struct New {
    fixtures: PathBuf,
    folder: tempfile::TempDir,
    options: Vec<String>,
}

impl New {
    fn of(fixtures: &str, kernel: &str, site: &str, scaffold: &str) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scaffolds").join(fixtures);
        let map = format!("/srv/kernels={}", fixtures.display());
        let options =
            ["--kernel", kernel, "--site", site, "--scaffold", scaffold, "--log", "../jit.log", "--map", &map];
        let options = options.map(str::to_owned).to_vec();
        New { fixtures, folder: tempfile::tempdir().unwrap(), options }
    }

    fn also(mut self, option: &str, values: &[&str]) -> Self {
        self.options.extend(values.iter().flat_map(|value| [option.to_owned(), (*value).to_owned()]));
        self
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("repro")
    }

    fn krepro(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_krepro"));
        command.current_dir(&self.fixtures).args(arguments).output().unwrap()
    }

    /// The generated `.cu`.
    fn made(&self) -> String {
        let mut arguments: Vec<&str> = vec!["new"];
        arguments.extend(self.options.iter().map(String::as_str));
        let output = self.output();
        arguments.extend(["-o", output.to_str().unwrap()]);
        let ran = self.krepro(&arguments);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let mut files = fs_err::read_dir(&output).unwrap().map(|entry| entry.unwrap().path());
        let unit = files.find(|path| path.extension().is_some_and(|e| e == "cu")).unwrap();
        fs_err::read_to_string(unit).unwrap()
    }

    /// What `krepro new` says when it refuses.
    fn refused(&self) -> String {
        let mut arguments: Vec<&str> = vec!["new"];
        arguments.extend(self.options.iter().map(String::as_str));
        let output = self.output();
        arguments.extend(["-o", output.to_str().unwrap()]);
        let ran = self.krepro(&arguments);
        assert_eq!(ran.status.code(), Some(2));
        assert!(!output.exists());
        String::from_utf8_lossy(&ran.stderr).into_owned()
    }

    /// Builds and runs it on the CPU backend: every rung that is not skipped passes.
    fn passes(&self, rungs: &[&str]) {
        if common::toolchain().is_none() {
            return;
        }
        let output = self.output();
        let ran = self.krepro(&["run", "--json", "--backend", "cpu", output.to_str().unwrap()]);
        let text = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(ran.status.code(), Some(0), "{text}\n{}", String::from_utf8_lossy(&ran.stderr));
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let rows = report["answer"]["rungs"].as_array().unwrap();
        for rung in rungs {
            let passed = rows.iter().any(|row| row["name"] == *rung && row["status"] == "pass");
            assert!(passed, "{rung}: {text}");
        }
    }
}

fn deepgemm(kernel: &str, header: &str, function: &str) -> New {
    let leaves = [
        "args.major_a=cute::UMMA::Major::K",
        "args.major_b=cute::UMMA::Major::K",
        "args.major_sfb=cute::UMMA::Major::MN",
        "args.layout.block_m=16",
        "args.layout.block_n=16",
        "args.launch.num_sms=3",
        "args.with_accumulation=false",
        "get_compiled_dim(args.m,'m',args.compiled_dims)=0",
        "get_compiled_dim(args.n,'n',args.compiled_dims)=136",
        "get_compiled_dim(args.k,'k',args.compiled_dims)=256",
    ];
    let used = |leaf: &&str| function == "generate_bf16" || !leaf.contains("layout") && !leaf.contains("with_accum");
    let both =
        |leaf: &&str| !(leaf.starts_with("args.major_") && leaf.contains("sfb") == (function == "generate_bf16"));
    let leaves: Vec<&str> = leaves.into_iter().filter(used).filter(both).collect();
    let kernel = format!("deep_gemm/impls/{header}:{kernel}");
    New::of("deepgemm", &kernel, &format!("sites.hpp:{function}"), "deepgemm")
        .also("--set", &leaves)
        .also("--contract", &["m=20"])
}

#[test]
fn deepgemm_bf16_keeps_its_unit_and_fills_swizzled_boxes() {
    let new = deepgemm("sm90_bf16_gemm_impl", "sm90_bf16_gemm.cuh", "generate_bf16");
    let unit = new.made();
    for line in [
        "using namespace toy;",
        "        0, 136, 256,",
        "{Role::out, Element::bf16, 20, 136, 136, Major::k, false, false, false},",
        "     {256, 20}, {512}, {64, 16}, {1, 1},",
        "     CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE},",
        "  launch_kernel(KREPRO_ENTRY, shape, nullptr, 20, 136, 256, buffers.map(\"tensor_map_a\"), \
         buffers.map(\"tensor_map_b\"), buffers.map(\"tensor_map_cd\"));",
    ] {
        assert!(unit.lines().any(|found| found == line || found.trim() == line), "{line}\n{unit}");
    }
    new.passes(&["ones", "integers", "padding", "one_hot.a", "one_hot.b", "gaussian"]);
}

#[test]
fn deepgemm_fp8_scales_blocks_of_both_operands() {
    let new = deepgemm("sm90_fp8_gemm_1d2d_impl", "sm90_fp8_gemm_1d2d.cuh", "generate_fp8");
    let unit = new.made();
    for line in [
        "{Role::scale_a, Element::f32, 20, 2, 20, Major::mn, false, false, false},",
        "{Role::scale_b, Element::f32, 2, 2, 2, Major::mn, false, false, false},",
    ] {
        assert!(unit.lines().any(|found| found.trim() == line), "{line}\n{unit}");
    }
    new.passes(&["ones", "integers", "one_hot.a", "epilogue", "gaussian"]);
}

#[test]
fn an_extent_of_0_is_left_to_run_time_and_asked_for() {
    let mut new = deepgemm("sm90_bf16_gemm_impl", "sm90_bf16_gemm.cuh", "generate_bf16");
    new.options.truncate(new.options.len() - 2);
    let said = new.refused();
    assert!(said.contains("how large is `m`") && said.contains("leaves it to run time"), "{said}");
}

#[test]
fn a_host_launcher_is_called_with_its_operands_and_its_workspace() {
    let kernel = "groupwise.cuh:CutlassGroupwiseScaledGEMMSM100";
    let new = New::of("flashinfer", kernel, "instances.cu.jinja", "flashinfer")
        .also("--set", &["scale_major_k=\"false\"", "mma_sm=1", "dtype_out=__nv_bfloat16"])
        .also("--contract", &["m=6", "n=200", "k=384"]);
    let unit = new.made();
    let call = "  call_launcher(KREPRO_ENTRY, shape, buffers.workspace(), shape.workspace, buffers.address(\"a\"), \
                buffers.address(\"b\"), buffers.address(\"scale_a\"), buffers.address(\"scale_b\"), \
                buffers.address(\"out\"), 6, 200, 384, 1, cudaStream_t{});";
    assert!(unit.lines().any(|line| line == call), "{unit}");
    assert!(
        unit.contains("#define KREPRO_ENTRY &flashinfer::gemm::CutlassGroupwiseScaledGEMMSM100<1, 128, 128, false,")
    );
    new.passes(&["ones", "integers", "epilogue", "gaussian"]);
}

#[test]
fn tilelang_s_host_half_gives_launch_and_descriptors() {
    let new = New::of("tilelang", "printed.cu:main_kernel", "printed.cu", "tilelang");
    let unit = new.made();
    for line in [
        "{Role::a, Element::f16, 32, 128, 128, Major::k, false, false, false},",
        "{Role::b, Element::f16, 48, 128, 48, Major::mn, false, false, false},",
        "{Role::out, Element::f16, 32, 48, 48, Major::k, false, false, false},",
        "{48, 128}, {96}, {16, 32}, {1, 1},",
        "{{3, 2, 1}, {128, 1, 1}, {1, 1, 1}, 2048, 0, 0},",
    ] {
        assert!(unit.lines().any(|found| found.trim() == line), "{line}\n{unit}");
    }
    new.passes(&["ones", "integers", "one_hot.a", "one_hot.b", "gaussian"]);
}

#[test]
fn a_struct_kernel_runs_through_its_own_host_code_with_a_workspace() {
    let new = New::of("struct", "collective.cuh:GemmHouse", "printed.cu", "scaffold.toml")
        .also("--contract", &["m=5", "n=96", "k=160"]);
    let unit = new.made();
    assert!(unit.contains("using gemm_16x64_mainloop = typename house::CollectiveBuilder<"), "{unit}");
    assert!(unit.contains("#define KREPRO_ENTRY house::GemmHouse<house::Shape<0, 0>, gemm_16x64_mainloop>"), "{unit}");
    new.passes(&["ones", "integers", "padding", "one_hot.a", "gaussian"]);
}

#[test]
fn a_kernel_that_is_no_gemm_is_told_so() {
    let new = New::of("plain", "norm.cuh:rms_norm", "printed.cu", "plain");
    let said = new.refused();
    assert!(said.contains("K-NO-ORACLE") && said.contains("rms_norm<__nv_bfloat16, 1024>"), "{said}");
}
