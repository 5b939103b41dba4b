//! `krepro new` on sites and texts of every kind.

use super::new::New;

const ENTRY: &str = "#define KREPRO_ENTRY &gemm<__nv_bfloat16, 8, 96, 256>";

/// The plain kernel of `tests/sites/variants`, with a text of one's own as the site.
fn gemm(folder: &tempfile::TempDir, name: &str, site: &str) -> New {
    let path = folder.path().join(name);
    fs_err::write(&path, site).unwrap();
    plain(New::own("variants", "gemm.cuh:gemm", &path.display().to_string(), "plain"))
}

fn plain(new: New) -> New {
    new.contract(&["m=M", "n=N", "k=K", "a=in", "b=weight", "out=out"])
        .also("--launch", "grid=1,1,1")
        .also("--launch", "threads=64")
}

#[test]
fn every_construct_of_a_site_reaches_the_reproducer() {
    let folder = tempfile::tempdir().unwrap();
    for (name, site, given) in [
        (
            "loop.cc",
            "void f(Keeper &w, int m) { std::string rest; for (int i : {96, 256}) rest += \", \" + std::to_string(i);\n\
             w.e(\"auto p = &gemm<__nv_bfloat16, $$>;\", m, rest); }",
            vec!["m=8"],
        ),
        (
            "bounded.cc",
            "void f(Keeper &printer_, int m) { int n = 3; while (n < 96) n *= 2;\nint k = 0; for (int i = 0; i < 16; ++i) { k += 16; }\n\
             printer_.e(\"auto p = &gemm<__nv_bfloat16, $, $, $>;\", m, n, k); }",
            vec!["m=8"],
        ),
        (
            "ternary.cc",
            "void f(Keeper *keeper, int m, bool wide) { keeper->e(\"auto p = &gemm<$, $, $, $>;\", wide ? \"__nv_bfloat16\" : \"float\", m,\n\
             m < 4 ? 32 : m < 16 ? 96 : 128, 1 << 8); }",
            vec!["m=8", "wide=true"],
        ),
        (
            "braces.hpp",
            "std::string f(int m) { return fmt::format(\"static void make() {{ auto p = &gemm<__nv_bfloat16, {0}, {1}, {2}>; }}\", m, 96, 256); }",
            vec!["m=8"],
        ),
        (
            "stream.cc",
            "std::string f(int m, bool wide) { std::stringstream out; out << \"auto p = &gemm<__nv_bfloat16, \" << m; out << \", \" << (wide ? 96 : 48)\n\
             << \", \" << 256u << '>' << \";\" << std::endl; return out.str(); }",
            vec!["m=8", "wide=true"],
        ),
        (
            "f.py",
            "def f(m, wide):\n    n = 96 if wide else 48\n    return f'auto p = &gemm<__nv_bfloat16, {m}, {n:d}, {2**8}>;'\n",
            vec!["m=8", "wide=True"],
        ),
        (
            "named.py",
            "text = 'auto p = &gemm<{t}, {m}, {n}, {k}>;'.format(t='__nv_bfloat16', m=m, n=96, k=256)\n",
            vec!["m=8"],
        ),
        (
            "percent.py",
            "def f(m):\n    return 'auto p = &gemm<%s, %d, %d, %i>;' % ('__nv_bfloat16', m, 96, 256)\n",
            vec!["m=8"],
        ),
        (
            "blocks.jinja",
            "{%- set sizes = [96, 256] -%}\n{# one kernel #}\nauto p = &gemm<{{ dtype|default('__nv_bfloat16') }}, {{ m }}{% for s in sizes %}, {{ s }}{% endfor %}>;\n",
            vec!["m=8"],
        ),
        (
            "write.rs",
            "fn f(out: &mut String, m: u32) { writeln!(out, \"// {{}}\")?; write!(out, \"auto p = &gemm<__nv_bfloat16, {m}, {n}, {:>3}>;\", 256, n = 96)?; }",
            vec!["m=8"],
        ),
    ] {
        let new = gemm(&folder, name, site).set(&given);
        new.made();
        assert!(new.unit().lines().any(|line| line == ENTRY), "{name}\n{}", new.unit());
        let missing = gemm(&folder, name, site).set(&given[1..]);
        missing.refused(&["`m` is not known", "--set m=VALUE", &format!("{name}:")]);
    }
}

#[test]
fn a_false_assertion_of_a_site_is_quoted_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for (name, site, words) in [
        (
            "assert.cc",
            "void f(Keeper &code, int m) {\n  assert(m <= 4 && \"few rows\");\n  code.e(\"auto p = &gemm<__nv_bfloat16, $, 96, 256>;\", m);\n}\n",
            vec!["K-SITE-ASSERT", "assert.cc:2:10", "m <= 4", "`m` is 8"],
        ),
        (
            "assert.py",
            "def f(m):\n    assert m <= 4, 'few rows'\n    return f'auto p = &gemm<__nv_bfloat16, {m}, 96, 256>;'\n",
            vec!["K-SITE-ASSERT", "assert.py:2:", "m <= 4"],
        ),
    ] {
        gemm(&folder, name, site).set(&["m=8"]).refused(&words);
        let four = gemm(&folder, name, site).set(&["m=4"]);
        four.made();
        assert!(four.unit().contains("&gemm<__nv_bfloat16, 4, 96, 256>"));
    }
}

#[test]
fn the_log_s_definitions_choose_branches_of_header_and_site() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs_err::write(&path, text).unwrap();
        path.display().to_string()
    };
    let header = path(
        "branch.cuh",
        "#if defined(WIDE) and (LEVEL >= 2)\ntemplate <int M, int N>\n__global__ void gemm(float const *in, float const *weight, float *out, int rows) {\n#else\n\
         template <int M>\n__global__ void gemm(float const *in, float *out) {\n#endif\n}\n",
    );
    let site = path(
        "branch.cc",
        "void f(Keeper &code, int m) {\n#ifdef WIDE\n  code.e(\"auto p = &gemm<$, 96>;\", m);\n#else\n  code.e(\"auto p = &gemm<$>;\", m);\n#endif\n}\n",
    );
    let of = |define: &str| {
        let line = format!(
            "nvcc -x cu -std=c++17 {define} -I{} -gencode arch=compute_90a,code=sm_90a -cubin -o /tmp/k.cubin /tmp/k.cu\n",
            folder.path().display()
        );
        let log = path("jit.log", &line);
        New::logged(&format!("{header}:gemm"), &site, "plain", &log)
            .also("--launch", "grid=1,1,1")
            .also("--launch", "threads=64")
            .contract(&["m=M", "k=64", "a=in", "out=out"])
            .set(&["m=8"])
    };
    let wide = of("-DWIDE -DLEVEL=3").contract(&["n=N", "b=weight"]).also("--scalar", "rows=8");
    wide.made();
    assert!(wide.unit().contains("#define KREPRO_ENTRY &gemm<8, 96>"), "{}", wide.unit());
    // The site's branch needs two template arguments, the header's takes one.
    of("-DWIDE -DLEVEL=1").refused(&["K-ARITY-TEMPLATE", "branch.cuh:5:1", "branch.cc:3:"]);
    of("-DLEVEL=3").refused(&["`defined(WIDE)` is not known", "branch.cc:2:1", "--set 'defined(WIDE)=VALUE'"]);
    let narrow = of("-DLEVEL=3").set(&["defined(WIDE)=false"]).contract(&["n=1", "b=in"]);
    let _ = narrow.made();
    assert!(narrow.unit().contains("#define KREPRO_ENTRY &gemm<8>"), "{}", narrow.unit());
}

#[test]
fn macros_of_a_house_annotate_and_stand_for_keywords() {
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("house.cuh");
    let text = "#pragma once\nnamespace house {\ntemplate <typename T, int M, int N, int K>\nHOUSE_KERNEL HOUSE_BOUNDS(64) void gemm(T const *in, T const *weight, T *out) {}\n}\n";
    fs_err::write(&header, text).unwrap();
    let site = folder.path().join("printed.cu");
    fs_err::write(&site, "template void house::gemm<float, 8, 96, 256>(float const *, float const *, float *);\n")
        .unwrap();
    let new =
        || plain(New::own("variants", &format!("{}:gemm", header.display()), &site.display().to_string(), "plain"));
    let kernel = new().also("--annotation-macro", "HOUSE_KERNEL=__global__").also("--annotation-macro", "HOUSE_BOUNDS");
    kernel.made();
    assert!(kernel.unit().contains("#define KREPRO_ENTRY &house::gemm<float, 8, 96, 256>"));
    let record = kernel.record();
    for entry in ["HOUSE_KERNEL=__global__", "HOUSE_BOUNDS"] {
        assert!(record.contains(&format!("\"{entry}\"")), "{record}");
    }
    assert!(record.contains("global = true"), "{record}");
    new()
        .also("--annotation-macro", "HOUSE_KERNEL=float")
        .refused(&["K-OPTION", "`--annotation-macro HOUSE_KERNEL=float`"]);
}

#[test]
fn a_printed_kernel_with_descriptors_and_launch_line_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("run.log");
    fs_err::write(
        &output,
        "Generated kernel code:\n#include \"gemm.cuh\"\nstatic void __instantiate() {\n  auto p = reinterpret_cast<void *>(&gemm<__nv_bfloat16, 8, 96, \
         256>);\n};\n\nLaunch kernel with {3, 2} x 128, shared memory: 2048 bytes, cluster: 1, pdl: 0\n",
    )
    .unwrap();
    let new = New::logged_kernel("variants", "gemm.cuh:gemm", "plain")
        .also("--prints", &output.display().to_string())
        .contract(&["m=M", "n=N", "k=K", "a=in", "b=weight", "out=out"]);
    new.made();
    let record = new.record();
    assert!(record.contains("run.log:4:") && record.contains("run.log:7:"), "{record}");
    assert!(new.unit().contains("{{3, 2, 1}, {128, 1, 1}, {1, 1, 1}, 2048, 0, 0},"), "{}", new.unit());
    assert!(new.unit().lines().any(|line| line == ENTRY));
}

#[test]
fn explicit_and_macro_instantiations_are_read_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let explicit = "template __global__ void gemm<__nv_bfloat16, 8, 96, 256>(__nv_bfloat16 const *, __nv_bfloat16 const *, __nv_bfloat16 *);\n";
    let new = gemm(&folder, "explicit.cu", explicit);
    new.made();
    assert!(new.unit().lines().any(|line| line == ENTRY));
    assert!(new.record().contains("explicit.cu:1:26"), "{}", new.record());
    // The macro is defined in a header that the text includes.
    fs_err::write(
        folder.path().join("instances.h"),
        "#define GEMM_INSTANCE(T, M, N, K) \\\n  template __global__ void gemm<T, M, N, K>(T const *, T const *, T *);\n",
    )
    .unwrap();
    let text = "#include \"instances.h\"\nGEMM_INSTANCE(__nv_bfloat16, 16, 64, 128)\nGEMM_INSTANCE(__nv_bfloat16, 8, 96, 256)\n";
    gemm(&folder, "macro.cu", text).refused(&[
        "2 instantiations behind macros",
        "macro.cu:2:1",
        "macro.cu:3:1",
        "--line LINE",
    ]);
    let new = gemm(&folder, "macro.cu", text).also("--line", "3");
    new.made();
    assert!(new.unit().lines().any(|line| line == ENTRY), "{}", new.unit());
    assert!(new.record().contains("macro.cu:3 (GEMM_INSTANCE expanded)"));
}

#[test]
fn a_tilelang_kernel_is_read_with_its_host_half() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scaffolds/tilelang");
    let new = New::own("../scaffolds/tilelang", "printed.cu:main_kernel", "printed.cu", "tilelang");
    new.made();
    assert!(root.is_dir() && new.unit().contains("{48, 128}, {96}, {16, 32}, {1, 1},"), "{}", new.unit());
}

#[test]
fn kernels_that_are_no_gemm_are_read_and_politely_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, scaffold, computes) in [
        ("flash_attention_kernel", "plain", "attention"),
        ("layer_norm", "plain", "a reduction along rows"),
        ("rotary_embedding", "plain", "a pointwise step"),
        ("argmax_partial", "plain", "a choice"),
        ("all_reduce_kernel", "plain", "a reduction across GPUs"),
        ("paged_attention_task_impl", "mirage", "attention"),
        ("rmsnorm_task_impl", "mirage", "a norm"),
        ("silu_mul_task_impl", "mirage", "a pointwise or gathering step"),
        ("topk_softmax_task_impl", "mirage", "a choice among tokens or experts"),
        ("BatchDecodeWithPagedKVCache", "flashinfer", "attention"),
        ("TopKMaskLogits", "flashinfer", "no product of two matrices"),
    ] {
        let header = folder.path().join("other.cuh");
        fs_err::write(
            &header,
            format!("template <typename T, int W>\n__global__ void {name}(T const *in, T *out) {{}}\n"),
        )
        .unwrap();
        let site = folder.path().join("other.cu");
        fs_err::write(&site, format!("{name}<float, 128>(a, b);\n")).unwrap();
        let new = New::own("variants", &format!("{}:{name}", header.display()), &site.display().to_string(), scaffold);
        let said =
            new.refused(&["K-NO-ORACLE", &format!("no oracle for `{name}`"), computes, &format!("{name}<float, 128>")]);
        assert!(said.contains("site and signature were read, and fit"), "{said}");
    }
}
