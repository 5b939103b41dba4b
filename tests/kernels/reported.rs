//! What a report says of real runs: figures and sentences, not that a section is there.

use std::path::Path;
use std::process::Command;

use krepro::model::Answer;
use serde_json::{Value, json};

use super::{KERNELS, common, header, make, on_two_threads, run_with};

/// The block of `language` below a heading of docs/reading.md.
fn block(heading: &str, language: &str) -> String {
    let text = fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reading.md")).unwrap();
    let section = text.split(heading).nth(1).unwrap();
    section.split(&format!("```{language}\n")).nth(1).unwrap().split("```").next().unwrap().to_owned()
}

/// A script in `folder`, where no GPU is to be found: exit code and both streams.
fn shell(folder: &Path, script: &str) -> (i32, String, String) {
    let own = folder.join("bin");
    fs_err::create_dir_all(&own).unwrap();
    let none = own.join("nvidia-smi");
    fs_err::write(&none, "#!/bin/sh\nexit 9\n").unwrap();
    fs_err::set_permissions(&none, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let krepro = Path::new(env!("CARGO_BIN_EXE_krepro")).parent().unwrap();
    let path = format!("{}:{}:{}", own.display(), krepro.display(), std::env::var("PATH").unwrap());
    let ran = Command::new("bash").args(["-ec", script]).env("PATH", path).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code().unwrap_or(-1), text(ran.stdout), text(ran.stderr))
}

/// The recipe of the docs as it is written, and with sums in half precision.
#[test]
fn a_kernel_without_a_site_is_run_by_the_recipe_and_a_draft_says_what_to_say() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = block("## A kernel without a site", "sh");
    let (new, run) = recipe.split_once("krepro run").unwrap();
    let (code, _, told) = shell(folder.path(), new);
    assert_eq!(code, 0, "{told}");
    // The same contract as a file leaves nothing to assume.
    fs_err::write(folder.path().join("contract.toml"), block("## A kernel without a site", "toml")).unwrap();
    let by_file =
        "krepro new --kernel gemm.cuh:gemm --site call.cu --log compile.log --scaffold contract.toml -o by_file";
    let (code, _, told) = shell(folder.path(), by_file);
    assert_eq!(code, 0, "{told}");
    let assumed = |name: &str| {
        let text = fs_err::read_to_string(folder.path().join(name).join("repro.toml")).unwrap();
        krepro::read::record::parse(&krepro::source::Source::new("repro.toml", text)).unwrap().contract.assumed().len()
    };
    assert_eq!((assumed("by_file"), assumed("repro")), (0, 9));
    if common::toolchain().is_none() {
        return;
    }
    let halves = new
        .replace("float sum = 0;", "__half sum = __float2half(0.f);")
        .replace(
            "sum += __half2float(a[row * k + i]) * __half2float(b[column * k + i])",
            "sum = __hfma(a[row * k + i], b[column * k + i], sum)",
        )
        .replace("__float2half(sum)", "sum");
    assert_ne!(halves, new);
    // Without --backend there is no GPU, and what stands in for one decides nothing.
    let scripts = [format!("krepro run{run}krepro run repro || echo \"then $?\""), format!("{halves}krepro run{run}")];
    let results = on_two_threads(&[0, 1], |index| {
        let own = folder.path().join(index.to_string());
        fs_err::create_dir_all(&own).unwrap();
        let script = if *index == 0 { format!("{new}{}", scripts[0]) } else { scripts[1].clone() };
        shell(&own, &script)
    });
    let (code, right, told) = &results[0];
    assert_eq!(*code, 0, "{right}{told}");
    assert!(
        right.starts_with("wrote repro/") && right.contains("\nNOT REPRODUCED (emulated): no rung fails\n"),
        "{right}"
    );
    let fallback = "\nDRAFT (emulated): the evidence does not decide\n  no rung fails on the CPU backend, which stood in because no GPU was found";
    assert!(right.contains(fallback) && right.ends_with("then 3\n"), "{right}");
    let (code, draft, told) = &results[1];
    assert_eq!(*code, 3, "{draft}{told}");
    // The layouts are assumed as well, and the integers bear them out.
    let confounds: Vec<&str> =
        draft.split("DRAFT (emulated)").nth(1).unwrap().lines().skip(1).take_while(|l| !l.is_empty()).collect();
    assert_eq!(confounds.len(), 2, "{draft}");
    assert!(
        confounds[0].starts_with("  accumulator is assumed (")
            && confounds[1].starts_with("  epilogue[0] is assumed ("),
        "{draft}"
    );
    let next = "and say it: krepro new … --contract accumulator=VALUE --contract epilogue=STEPS; or in repro.toml";
    assert!(
        draft.contains(next) && draft.contains("gate: still failing: REPRODUCED; passing: the assumption"),
        "{draft}"
    );
}

/// 11 rows of 200 int8 values: 3 and -3 in turn, and one 127.
fn outlier(path: &Path) {
    let mut header = "{'descr': '|i1', 'fortran_order': False, 'shape': (11, 200), }".to_owned();
    header.push_str(&" ".repeat(128 - 10 - 1 - header.len()));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..2200).map(|i| {
        if i == 607 {
            127
        } else if i % 2 == 0 {
            3
        } else {
            253_u8
        }
    }));
    fs_err::write(path, bytes).unwrap();
}

/// A zero point that is added: the verdict, every figure of a rung whose errors are known, where the errors lie, the isolated parts, the
/// spread of a given operand, and what is to be done.
#[test]
fn the_report_of_a_wrong_kernel_holds_its_figures() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let header = header(&KERNELS[0]).replace("sum - zero_point[0]", "sum + zero_point[0]");
    let made = make(&KERNELS[0], &header, folder.path());
    let file = folder.path().join("a.npy");
    outlier(&file);
    let input = format!("a={}", file.display());
    let (exit, report) = run_with(&made, &["--diagnose", "always", "--input", &input]);
    assert_eq!(exit, 1, "{report:#}");
    let verdict = &report["outcome"]["verdict"];
    assert_eq!((&verdict["classes"], &verdict["stages"]), (&json!(["ZERO_POINT_SIGN"]), &json!(["epilogue"])));
    assert_eq!(verdict["cause"], "the zero point is added instead of subtracted");

    // `epilogue`: every sum is 1, so s · (1 + z) stands in the place of s · (1 - z); z is 2 there.
    let rungs = report["rungs"].as_array().unwrap();
    let metrics = |name: &str| &rungs.iter().find(|rung| rung["name"] == name).unwrap()["metrics"];
    let near = |rung: &str, figure: &str, expected: f64, within: f64| {
        let x = metrics(rung)[figure].as_f64().unwrap();
        assert!((x - expected).abs() <= within, "{rung} {figure}: {x}");
    };
    for (figure, expected) in
        [("ratio", -3.0), ("rel_l2", 4.0), ("max_rel", 4.0), ("cosine", -1.0), ("max_abs", 64.0), ("rel_l2_floor", 0.0)]
    {
        near("epilogue", figure, expected, 1e-9);
    }
    near("epilogue", "snr_db", -20.0 * 4_f64.log10(), 1e-6);
    assert_eq!((&metrics("epilogue")["wrong"], &metrics("ones")["snr_db"]), (&json!(880), &json!("inf")));
    // Once rounded to bf16: about 1.7e-3 of normal values.
    near("gaussian", "rel_l2_floor", 1.66e-3, 0.1e-3);

    let structure = &report["structure"];
    assert_eq!((&structure["probe"], &structure["wrong"]), (&json!("random"), &json!(440)));
    assert_eq!(structure["pattern"], "uniform: 100 % of every tile");
    let heat = &structure["heat"];
    assert_eq!((&heat["columns"], &heat["row_span"], &heat["share"]), (&json!(40), &json!(1), &json!(vec![1.0; 440])));

    let details = &report["details"];
    let parts: Vec<(String, &Value, String)> = details["isolation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| {
            let text = |field: &str| part[field].as_str().unwrap().to_owned();
            (text("what").split([',', ':']).next().unwrap().to_owned(), &part["right"], text("shows"))
        })
        .collect();
    let (yes, no, unknown) = (&json!(true), &json!(false), &Value::Null);
    for (part, right, shows) in [
        ("quantise-dequantise round trip of s8", yes, "largest error 0.500 of a step, 4096 values"),
        ("element codes", yes, "2 probes exact on 880 elements"),
        ("accumulation alone", yes, "6 probes exact on 2640 elements"),
        ("dequantising epilogue alone", no, "wrong: 440 of 440 elements of `zero_point`"),
        ("what the epilogue adds", yes, "1 probe exact on 440 elements"),
        ("block scales alone", unknown, "no probe of this run"),
        ("rounding and saturation of the output", yes, "4 probes exact on 1760 elements"),
    ] {
        assert!(parts.iter().any(|p| p.0 == part && p.1 == right && p.2.starts_with(shows)), "{part}: {parts:#?}");
    }
    let smallest = &details["smallest"];
    assert_eq!(
        (&smallest["terms"], &smallest["observed"], &smallest["expected"]),
        (&json!(1), &json!(5.0), &json!(-3.0))
    );

    // The root mean square is that of 2199 threes and one 127, 4.03: all but one lie below it.
    let a = &details["operands"][0];
    assert_eq!((&a["count"], &a["largest"], &a["zeros"]), (&json!(2200), &json!(127.0), &json!(0)));
    assert_eq!(a["histogram"], json!([0, 0, 2199, 0, 0, 0, 0, 1, 0]));
    assert!((a["row_spread"].as_f64().unwrap() - 127.0 / 3.0).abs() < 1e-9, "{a}");

    let answer: Answer = serde_json::from_value(report.clone()).unwrap();
    let text = krepro::report::text(&answer);
    for line in [
        "VERDICT: epilogue, ZERO_POINT_SIGN\n  the zero point is added instead of subtracted\n",
        "\n  epilogue               FAIL    880   880     64.0      12.4     4.00   4.00        0  -3.000000  -1.000000   -12.0    exact\n",
        "\nError of `random`: 440 of 440 elements, uniform: 100 % of every tile\n",
        &format!("\n      10  {}\n", "#".repeat(40)),
        "\n  dequantising epilogue alone: every sum 1: WRONG; wrong: 440 of 440 elements of `zero_point`\n",
        "\n  a: outliers; one scale for the whole tensor would leave most of its codes near zero\n",
        "\n  correct the epilogue and run again: the zero point is added instead of subtracted\n",
        "\n  gate: exit code 0 of the whole ladder\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
