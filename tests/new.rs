//! `krepro new` on the examples, and on everything that can be wrong.

#[path = "new/line.rs"]
mod line;

use line::{New, krepro, root};

#[test]
fn the_simt_example_becomes_a_reproducer_with_every_value_placed() {
    let new = New::simt();
    new.made();
    let record = new.read("repro.toml");
    assert!(record.contains("m = { value = 16, from = \"read\", at = \"examples/simt_linear/site.cc:"), "{record}");
    let unit = new.read("linear_kernel.cu");
    assert!(unit.contains("simt::linear_kernel<__nv_bfloat16, 16, 1024, 6144, 32, 2, 0>"), "{unit}");
    assert!(new.read("inputs/site.txt").contains("emit_simt_linear"));
}

#[test]
fn a_new_reproducer_is_the_same_bytes_twice_and_reads_back_equal() {
    let (first, second) = (New::sm90(), New::sm90());
    first.made();
    second.made();
    for name in ["repro.toml", "linear_task.cu", "build.sh"] {
        assert_eq!(first.read(name), second.read(name), "{name}");
    }
    let text = first.read("repro.toml");
    let record =
        krepro::read::record::parse(&krepro::source::Source::new("repro.toml", text.clone())).expect("a record");
    assert_eq!(krepro::render::sealed(&record.to_toml().expect("text"), "#"), text);
}

#[test]
fn an_edited_record_and_files_of_others_are_kept() {
    let new = New::sm90();
    new.made();
    new.made();
    let record = new.path("repro.toml");
    let edited = fs_err::read_to_string(&record)
        .unwrap()
        .replace("padding_zero = { value = false", "padding_zero = { value = true");
    fs_err::write(&record, &edited).unwrap();
    let again = new.run();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains("repro.toml was edited by hand and is kept"), "{said}");
    assert_eq!(fs_err::read_to_string(&record).unwrap(), edited);

    let other = New::sm90();
    fs_err::create_dir_all(other.path("inputs")).unwrap();
    fs_err::write(other.path("inputs/site.txt"), "mine").unwrap();
    let refused = other.run();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("the folder is no reproducer's"), "{said}");
    assert_eq!(fs_err::read_to_string(other.path("inputs/site.txt")).unwrap(), "mine");
}

#[test]
fn a_profile_that_flags_wrote_takes_the_place_of_its_log() {
    let profile = krepro(&["flags", "examples/simt_linear/jit.log", "--format", "toml"].map(str::to_owned));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flags.toml");
    std::fs::write(&path, profile.stdout).expect("a profile");
    let (by_log, by_profile) = (New::simt(), New::simt().without("--log", ""));
    let by_profile = by_profile.also("--profile", &path.display().to_string());
    by_log.made();
    by_profile.made();
    for name in ["repro.toml", "linear_kernel.cu", "build.sh"] {
        assert_eq!(by_log.read(name), by_profile.read(name), "{name}");
    }
    std::fs::write(&path, "version = 9\n").expect("a profile");
    let wrong = New::simt().without("--log", "").also("--profile", &path.display().to_string());
    wrong.refused(&["flags.toml"]);
}

#[test]
fn what_is_missing_is_asked_for_with_every_option_that_gives_it() {
    let asked = krepro(&["new", "--kernel", "x.cuh:x", "-o", "x"].map(str::to_owned));
    let told = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert_eq!(asked.status.code(), Some(2), "{told}");
    assert!(told.contains("<--log <FILE>|--profile <FILE>>"), "{told}");
    assert!(told.contains("<--site <FILE[:FUNCTION]>|--prints <FILE>|--symbol <SYMBOL>>"), "{told}");
}

#[test]
fn an_older_standard_of_the_log_is_raised_in_the_build_and_said() {
    let log = std::fs::read_to_string(root().join("examples/simt_linear/jit.log")).expect("a log");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jit.log");
    std::fs::write(&path, log.replace("-std=c++17", "-std=c++14")).expect("a log");
    let new = New::simt().with("--log", &path.display().to_string());
    new.made();
    let script = new.read("build.sh");
    assert!(
        script.contains("-std=c++17") && script.contains("-std=c++14") && script.contains("the harness"),
        "{script}"
    );
}

#[test]
fn the_awaited_bytes_come_from_the_header_and_a_changed_header_changes_the_finding() {
    let right = New::sm90();
    assert!(!right.made().contains("predicted[K-S09]"));
    let awaits_more = New::sm90().without("--set", "defect=").also("--set", "defect=8");
    let text = awaits_more.made();
    assert!(text.contains("predicted[K-S09]") && text.contains("await"), "{text}");
}

#[test]
fn every_problem_of_what_was_given_is_said_at_once() {
    New::simt().without("--set", "batch_size").without("--set", "defect").refused(&[
        "`batch_size` is not known",
        "--set batch_size=VALUE",
        "`defect` is not known",
        "site.cc:",
    ]);
}

#[test]
fn a_missing_site_function_names_the_nearest() {
    New::simt()
        .with("--site", "examples/simt_linear/site.cc:emit_simt_liner")
        .refused(&["emit_simt_liner", "emit_simt_linear"]);
}

#[test]
fn a_header_without_the_kernel_names_the_nearest() {
    New::simt()
        .with("--kernel", "examples/simt_linear/simt_linear.cuh:linear_kernal")
        .refused(&["linear_kernal", "linear_kernel"]);
}

#[test]
fn names_with_metacharacters_are_refused_before_anything_is_read() {
    for name in ["k;touch owned", "k$(touch owned)", "k\"<int>", "k`x`"] {
        New::simt()
            .with("--kernel", &format!("examples/simt_linear/simt_linear.cuh:{name}"))
            .refused(&["is no C++ name"]);
    }
    New::simt().also("--name", "a/../b").refused(&["cannot be the stem"]);
}

#[test]
fn a_log_without_a_command_and_a_truncated_one_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("none.log"), "nothing to see\n").expect("written");
    std::fs::write(path("cut.log"), "+ /usr/local/cuda/bin/nvcc -std=c++17 -gencode arch=compute_90a,code=sm_9")
        .expect("written");
    New::simt().with("--log", &path("none.log")).refused(&["none.log"]);
    New::simt().with("--log", &path("cut.log")).refused(&["cut.log"]);
}

#[test]
fn a_wrong_arity_is_shown_in_both_texts() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site.cc");
    std::fs::write(&site, "void f(C &code) { code.e(\"simt::linear_kernel<__nv_bfloat16, 16, 1024>;\"); }\n")
        .expect("written");
    New::simt()
        .with("--site", &format!("{}:f", site.display()))
        .without("--set", "")
        .refused(&["template arguments", "simt_linear.cuh:"]);
}

#[test]
fn what_the_plain_scaffold_cannot_know_is_asked_not_guessed() {
    New::simt().with("--scaffold", "plain").refused(&[
        "how large is `m`",
        "--contract m=EXPR",
        "which parameter is `a`",
        "which parameter is `out`",
        "how large is the grid",
        "--launch grid=X,Y,Z",
    ]);
}

#[test]
fn groups_and_splits_that_are_half_said_are_asked_for() {
    let groups = || New::simt().also("--contract", "groups=bias");
    groups().refused(&["which rows belong together? `parameter bias` tells the kernel", "--contract group_rows="]);
    groups().also("--contract", "group_rows=4,12").refused(&["how does `parameter bias` tell the groups?", "offsets"]);
    let words =
        ["m=16", "n=1024", "k=6144", "a=input", "b=weight", "out=output", "split_k.count=4", "split_k.through=atomics"];
    let split = words.iter().fold(New::simt().with("--scaffold", "plain"), |new, word| new.also("--contract", word));
    split.refused(&["to which place do the splits add with atomics?", "split_k.through=reduce_add"]);
}

#[test]
fn an_option_that_nothing_asks_is_an_error() {
    New::simt().also("--contract", "mm=16").refused(&["--contract mm"]);
    New::simt().also("--launch", "threads=8,8,1,1").refused(&["names 4 extents"]);
}

#[test]
fn what_an_earlier_error_kept_from_being_asked_is_not_called_unasked() {
    let new =
        New::simt().with("--scaffold", "plain").also("--contract", "a=input").also("--scalar", "output_stride=1024");
    let text = String::from_utf8_lossy(&new.run().stderr).into_owned();
    assert!(text.contains("how large is `m`") && text.contains("which parameter is `b`"), "{text}");
    assert!(!text.contains("K-OPTION") && !text.contains("which parameter is `a`"), "{text}");
}

#[test]
fn an_edited_unit_is_never_overwritten() {
    let new = New::simt();
    new.made();
    let path = new.output.join("linear_kernel.cu");
    let edited = format!("{}// mine\n", new.read("linear_kernel.cu"));
    std::fs::write(&path, &edited).expect("written");
    let before = new.read("repro.toml");
    for output in [new.run(), krepro(&["render".to_owned(), new.output.display().to_string()])] {
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("was edited by hand"));
    }
    assert_eq!(new.read("linear_kernel.cu"), edited);
    assert_eq!(new.read("repro.toml"), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_file_error() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("written");
    let mut new = New::simt();
    new.output = folder.path().join("file/repro");
    let output = new.run();
    assert_eq!(output.status.code(), Some(74), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_usage_error_is_json_too_when_json_is_asked_for() {
    for words in [&["new", "--json"][..], &["run", "x", "--json", "--claim", "foo"], &["flags", "--json", "--bogus"]] {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let output = krepro(&words);
        assert_eq!(output.status.code(), Some(2));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&value["version"], &value["exit"]), (&1.into(), &2.into()), "{value}");
        assert!(!value["diagnostics"].as_array().expect("a list").is_empty());
    }
}

#[test]
fn a_named_file_that_is_not_there_is_a_wrong_option() {
    New::simt().with("--log", "examples/simt_linear/none.log").refused(&["none.log"]);
    New::simt().with("--kernel", "examples/simt_linear/none.cuh:linear_kernel").refused(&["none.cuh"]);
}

const INSTANCE: &str = "simt::linear_kernel<__nv_bfloat16, 16, 1024, 6144, 32, 2, 0>";

/// The SIMT example with a text of its own as the site.
fn with_site(folder: &tempfile::TempDir, name: &str, text: &str) -> New {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    New::simt().with("--site", &path.display().to_string()).without("--set", "")
}

#[test]
fn every_language_of_a_site_gives_the_same_instantiation() {
    let folder = tempfile::tempdir().expect("a folder");
    let sites = [
        (
            "site.py",
            "def site(m, args):\n    return f'''auto p = &simt::linear_kernel<__nv_bfloat16, {m}, {n}, 6144, 32, 2, {d}>;'''\n",
        ),
        (
            "format.py",
            "code = \"auto p = &simt::linear_kernel<__nv_bfloat16, {m}, {n}, 6144, 32, 2, {d}>;\".format(m=m, n=n, d=d)\n",
        ),
        (
            "percent.py",
            "code = \"auto p = &simt::linear_kernel<__nv_bfloat16, %d, %s, 6144, 32, 2, %d>;\" % (m, n, d)\n",
        ),
        (
            "site.jinja",
            "{% for k in [6144] %}\nauto p = &simt::linear_kernel<__nv_bfloat16, {{ m }}, {{ n }}, {{ k }}, 32, 2, {{ d }}>;\n{% endfor %}\n",
        ),
        (
            "site.rs",
            "fn site() -> String { format!(\"auto p = &simt::linear_kernel<__nv_bfloat16, {m}, {n}, 6144, 32, 2, {d}>;\") }\n",
        ),
        (
            "stream.cc",
            "std::string site(int m, int n, int d) {\n  std::ostringstream s;\n  s << \"auto p = &simt::linear_kernel<__nv_bfloat16, \" << m << \", \" << n << \", 6144, 32, 2, \" << d << \">;\\n\";\n  return s.str();\n}\n",
        ),
        (
            "format.hpp",
            "std::string site(int m, int n, int d) {\n  return fmt::format(R\"(auto p = &simt::linear_kernel<__nv_bfloat16, {}, {}, 6144, 32, 2, {}>;)\", m, n, d);\n}\n",
        ),
    ];
    for (name, text) in sites {
        let new = with_site(&folder, name, text).also("--set", "m=16").also("--set", "n=1024").also("--set", "d=0");
        new.made();
        let unit = new.read("linear_kernel.cu");
        assert!(unit.contains(&format!("#define KREPRO_ENTRY &{INSTANCE}")), "{name}: {unit}");
        // The copy that the folder keeps gives the same again, as sweeps need it.
        let copies =
            std::fs::read_dir(new.path("inputs")).expect("inputs").map(|entry| entry.expect("an entry").path());
        let copy = copies.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == "site")).expect("a copy");
        let again = New::simt()
            .with("--site", &copy.display().to_string())
            .without("--set", "")
            .also("--set", "m=16")
            .also("--set", "n=1024")
            .also("--set", "d=0");
        again.made();
        assert!(again.read("linear_kernel.cu").contains(&format!("#define KREPRO_ENTRY &{INSTANCE}")), "{name}");
        with_site(&folder, name, text).also("--set", "m=16").refused(&["`n` is not known", "--set n=VALUE"]);
    }
}

#[test]
fn an_instantiation_behind_a_macro_of_a_header_is_expanded() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("instances.h"),
        "#define INSTANCE(M, N, D) \\\n  template __global__ void simt::linear_kernel<__nv_bfloat16, M, N, 6144, 32, 2, D>(int);\n",
    )
    .expect("written");
    let text = "#include \"instances.h\"\nINSTANCE(16, 1024, 0)\nINSTANCE(16, 512, 0)\n";
    with_site(&folder, "gen.cu", text).refused(&["2 instantiations behind macros", "gen.cu:2:1", "--line LINE"]);
    let new = with_site(&folder, "gen.cu", text).also("--line", "2");
    new.made();
    assert!(new.read("linear_kernel.cu").contains(INSTANCE));
    assert_eq!(new.read("inputs/site.txt"), "INSTANCE(16, 1024, 0)");
    assert!(new.read("repro.toml").contains("gen.cu:2 (INSTANCE expanded)"));
}

#[test]
fn a_symbol_of_production_gives_the_instantiation_and_contradicts_a_wrong_one() {
    let symbol = format!(
        "void {INSTANCE}(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, int)"
    );
    let new = New::simt().without("--site", "").without("--set", "").also("--symbol", &symbol);
    new.made();
    assert!(new.read("linear_kernel.cu").contains(INSTANCE));
    assert!(new.read("repro.toml").contains("production_symbol = { value = "), "{}", new.read("repro.toml"));
    New::simt().also("--symbol", &symbol).made();
    New::simt().also("--symbol", &symbol.replace("1024", "512")).refused(&[
        "K-SYMBOL-DIFFERS",
        "template argument 2 is `512` there and `1024` here",
        "site.cc:",
    ]);
    New::simt().without("--site", "").without("--set", "").also("--symbol", "_Znonsense").refused(&["K-INST-SYMBOL"]);
}

#[test]
fn a_branch_of_generated_text_is_chosen_by_task_or_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "__device__ void run(Task const *t) {{\n  if (t->type == TASK_A && t->variant == 0) {{\n    {}(a, b, c, d, 1024);\n  }} else \
         if (t->type == TASK_A && t->variant == 1) {{\n    {INSTANCE}(a, b, c, d, 1024);\n  }}\n}}\n",
        INSTANCE.replace("1024", "512")
    );
    with_site(&folder, "gen.cu", &text).refused(&["2 instantiations", "t->variant == 1"]);
    for (option, value) in [("--task", "TASK_A:1"), ("--line", "5")] {
        let new = with_site(&folder, "gen.cu", &text).also(option, value);
        new.made();
        assert!(new.read("linear_kernel.cu").contains(INSTANCE));
        assert_eq!(new.read("inputs/site.txt").trim(), format!("{INSTANCE}(a, b, c, d, 1024);"));
    }
    with_site(&folder, "gen.cu", &text)
        .also("--task", "TASK_B")
        .refused(&["no block of the text runs for task TASK_B"]);
    with_site(&folder, "gen.cu", &text).also("--task", "TASK_B;").refused(&["names no task"]);
}

#[test]
fn leaves_come_from_a_task_graph_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = folder.path().join("graph.json");
    std::fs::write(
        &graph,
        r#"{"all_tasks": [{"task_type": 7, "variant_id": 1, "inputs": [], "outputs": [{"dims": [16, 1024], "strides": [1024, 1]}]}]}"#,
    )
    .expect("written");
    let text = "enum { TASK_A = 7 };\nstd::string site(Graph const &g, int d) {\n  int rows = 0, cols = 0;\n  rows = \
                output_ops[0]->output_tensors[0].dim[0];\n  cols = output_ops[0]->output_tensors[0].dim[1];\n  Code c;\n  \
                c.e(\"auto p = &simt::linear_kernel<__nv_bfloat16, $, $, 6144, 32, 2, $>;\", rows, cols, d);\n  return c.str();\n}\n";
    let with = |task: &str| {
        with_site(&folder, "site.cc", text)
            .also("--set", "d=0")
            .also("--task-graph", &graph.display().to_string())
            .also("--task", task)
    };
    let new = with("TASK_A=7:1");
    let said = new.made();
    assert!(!said.contains("K-SITE-UNUSED"), "{said}");
    let record = new.read("repro.toml");
    assert!(record.contains("graph.json:1:1") && record.contains("outputs[0].dims[1]"), "{record}");
    with("TASK_A=7").refused(&["which variant of TASK_A"]);
    with("TASK_A:1").refused(&["TASK_A=NUMBER:1", "7:1"]);
    with("TASK_A=7:2").refused(&["7:1"]);
}

#[test]
fn a_debug_output_gives_text_launch_and_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("run.log");
    std::fs::write(
        &output,
        format!(
            "d = 0\nm: 16\nn = 1024\nn = 512\nGenerated kernel code:\n#include <k.cuh>\nstatic void __instantiate() {{\n  auto p = \
             reinterpret_cast<void*>(&{INSTANCE});\n}};\n\nLoading\nLaunch kernel with {{16, 2}} x 256, shared memory: 1024 bytes, \
             cluster: 1, pdl: 0\n"
        ),
    )
    .expect("written");
    let output = output.display().to_string();
    let new = New::simt().without("--site", "").without("--set", "").also("--prints", &output);
    new.made();
    let record = new.read("repro.toml");
    assert!(record.contains("run.log:12:21") && record.contains("shared_memory = { value = 1024"), "{record}");
    assert!(new.read("linear_kernel.cu").contains(INSTANCE));
    let site = "std::string site(int m, int n, int d) {\n  return fmt::format(\"auto p = &simt::linear_kernel<__nv_bfloat16, {}, {}, \
                6144, 32, 2, {}>;\", m, n, d);\n}\n";
    with_site(&folder, "site.hpp", site).also("--prints", &output).refused(&[
        "`n` is not known",
        "prints several values of it: 1024",
        "run.log:4",
    ]);
    let new = with_site(&folder, "site.hpp", site).also("--prints", &output).also("--set", "n=1024");
    new.made();
    assert!(
        new.read("repro.toml").contains("m = { value = \"16\", from = \"transcribed\", at = "),
        "{}",
        new.read("repro.toml")
    );
}

#[test]
fn the_launch_of_a_generated_text_is_read_from_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "void call() {{\n  dim3 grid(16, 1);\n  {INSTANCE}<<<grid, dim3(256), 0, stream>>>(a, b, c, d, 1024);\n}}\n"
    );
    let new = with_site(&folder, "host.cu", &text);
    new.made();
    let record = new.read("repro.toml");
    assert!(record.contains("host.cu:3:") && record.contains("expr = \"dim3(16, 1)\""), "{record}");
    assert!(record.contains("most_threads = { value = 256"), "{record}");
}

#[test]
fn a_block_keeps_its_extents() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "void call() {{\n  dim3 block{{32, 4, 2}};\n  {INSTANCE}<<<dim3(16), block>>>(a, b, c, d, 1024);\n}}\n"
    );
    let printed = with_site(&folder, "host.cu", &text);
    let given = New::simt().also("--launch", "threads=32,4,2");
    for new in [printed, given] {
        new.made();
        assert!(
            new.read("linear_kernel.cu").contains("{16, 1, 1}, {32, 4, 2}, {1, 1, 1}"),
            "{}",
            new.read("linear_kernel.cu")
        );
        let record = new.read("repro.toml");
        assert!(record.contains("threads = [\n  { value = 32, "), "{record}");
    }
}

#[test]
fn what_cannot_be_read_within_the_chevrons_is_assumed_to_be_as_the_scaffold_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("void call(dim3 g) {{ dim3 b(256); set(b); {INSTANCE}<<<g, b, 0, s>>>(a, b, c, d, 1024); }}\n");
    let new = with_site(&folder, "host.cu", &text);
    new.made();
    let record = new.read("repro.toml");
    for what in ["`g`", "`b`"] {
        assert!(
            record.contains(&format!("{what} within the `<<<…>>>` of the text cannot be read")),
            "{what}\n{record}"
        );
    }
}

#[test]
fn threads_that_only_the_launch_bounds_tell_are_assumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = with_site(
        &folder,
        "host.cu",
        &format!("void call() {{ {INSTANCE}<<<dim3(16), threads>>>(a, b, c, d, 1024); }}\n"),
    );
    let words = ["m=16", "n=1024", "k=6144", "a=input", "b=weight", "bias=bias", "out=output"];
    let new = words.iter().fold(new.with("--scaffold", "plain"), |new, word| new.also("--contract", word));
    let new = new.also("--scalar", "output_stride=1024");
    new.made();
    let record = new.read("repro.toml");
    assert!(record.contains("\nthreads = { value = 256, from = \"assumed\""), "{record}");
}

const FILL: &str = "void fill(CUtensorMap *map, Task const &task, Tensor const &t, size_t id) {
  int const rows = t.dim[0];
  const uint64_t dims[2] = {static_cast<uint64_t>(t.dim[1]), static_cast<uint64_t>(rows)};
  const uint64_t strides[1] = {static_cast<uint64_t>(t.dim[1]) * 2};
  const uint32_t tile[2] = {64, static_cast<uint32_t>(std::min(rows, 8))};
  if (task.kind == TASK_LINEAR) {
    CHECK(cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, t.data, dims, strides, tile, ones, CU_NONE,
                                 CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_FILL));
  }
}
";

#[test]
fn production_descriptors_come_from_fill_code_or_prints_and_differences_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let fill = format!("tma_input={}:fill", file("fill.h", FILL));
    let with = || {
        New::sm90()
            .also("--fill", &fill)
            .also("--fill-set", "task.kind=TASK_LINEAR")
            .also("--fill-set", "tma_input:t.dim[1]=REDUCTION_SIZE")
    };
    let new = with().also("--fill-set", "tma_input:t.dim[0]=BATCH_SIZE");
    let said = new.made();
    assert!(said.contains("K-DESCRIPTOR-RULE") || said.contains("K-S09"), "{said}");
    let record = new.read("repro.toml");
    assert!(record.contains("fill code, from t.dim[0], t.dim[1]") || record.contains("fill.h:"), "{record}");
    with().refused(&["K-FILL-LEAF", "t.dim[0]"]);
    let print = file(
        "run.log",
        "Making TMA desc: global memory: 6144 16, shared memory: 64 8, outer stride: 6144, swizzle: 128 (base: 0), elem size: 2\n",
    );
    let new = New::sm90().also("--prints", &print);
    let said = new.made();
    assert!(said.contains("K-S09"), "{said}");
    assert!(new.read("repro.toml").contains("run.log:1:60"), "{}", new.read("repro.toml"));
    New::sm90()
        .also("--prints", &print)
        .also("--printed-map", "tma_nothing=1")
        .refused(&["no descriptor `tma_nothing`"]);
    New::sm90().also("--prints", &print).also("--printed-map", "tma_input=9").refused(&["line 9 prints no descriptor"]);
}
