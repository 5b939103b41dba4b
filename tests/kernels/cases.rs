//! Kernels of which one unit holds many cases: groups, splits, element types.

use std::path::Path;
use std::process::Command;

use super::{Kernel, common, header, make, on_two_threads};

/// What a case is: its line of the table, and `pass`, `fail`, or what the diagnosis says of the defect.
type Case = (&'static str, &'static str);

/// Kernels whose cases differ in template arguments, built in one unit each: groups of rows with weights of their own, a reduction that
/// four warps share, an output by columns, every element type. A case without a defect passes every rung that it has, one with a defect
/// fails. Where a stage or a class is expected, the further probes are run: they are all right of a case that passes.
const CASES: [(Kernel, &str, &[Case]); 5] = [
    (
        Kernel {
            folder: "grouped_simt",
            kernel: "grouped_linear",
            site: "emit_grouped_linear",
            sets: &[
                "shape.rows=18",
                "shape.columns=40",
                "shape.depth=64",
                "shape.experts=3",
                "told=0",
                "fp4=false",
                "defect=0",
            ],
        },
        "told,fp4,defect",
        &[
            ("0,false,0", "pass"),
            ("1,false,0", "pass"),
            ("2,false,0", "pass"),
            ("0,true,0", "pass"),
            ("0,false,1", "VERDICT: operand load, GROUP_STRIDE_WRONG"),
            ("1,false,2", "VERDICT: store, GROUP_TAIL_CUT"),
            ("0,false,3", "VERDICT: operand load, GROUP_OF_TILE"),
            ("2,true,4", "VERDICT: epilogue, ALPHA_INDEX"),
        ],
    ),
    (
        Kernel {
            folder: "split_simt",
            kernel: "split_linear",
            site: "emit_split_linear",
            sets: &[
                "shape.rows=3",
                "shape.columns=40",
                "shape.depth=102",
                "out=__nv_bfloat16",
                "through=0",
                "defect=0",
            ],
        },
        "out,through,defect",
        &[
            ("__nv_bfloat16,0,0", "pass"),
            ("__nv_bfloat16,1,0", "pass"),
            ("__nv_bfloat16,2,0", "pass"),
            ("__nv_bfloat16,3,0", "pass"),
            ("float,4,0", "pass"),
            ("__nv_bfloat16,0,1", "VERDICT: MMA accumulate, SPLITK_PART_MISSING"),
            ("__nv_bfloat16,1,2", "VERDICT: MMA accumulate, SPLITK_PART_DOUBLE"),
            // What a place holds that nobody wrote is no sum of anything.
            ("__nv_bfloat16,0,3", "the stage is not established"),
            ("__nv_bfloat16,2,3", "the stage is not established"),
            ("__nv_bfloat16,3,1", "VERDICT: MMA accumulate, SPLITK_PART_MISSING"),
            ("float,4,4", "VERDICT: MMA accumulate, K_BLOCK_DOUBLE: the product at k = 24 is summed 2 times"),
        ],
    ),
    (
        Kernel {
            folder: "column_simt",
            kernel: "column_linear",
            site: "emit_column_linear",
            sets: &["shape.rows=19", "shape.columns=40", "shape.depth=72", "shape.stride=24", "defect=0"],
        },
        "shape.stride,defect",
        &[
            ("24,0", "pass"),
            ("19,0", "pass"),
            (
                "24,1",
                "VERDICT: store, OUT_MAJOR_WRONG: rows of the output are contiguous instead of columns, n = 40 elements apart",
            ),
            ("19,1", "VERDICT: store, OUT_MAJOR_WRONG"),
            ("24,2", "VERDICT: store, OUT_STRIDE_WRONG: the stride of the output is m = 19 instead of 24"),
            ("24,3", "VERDICT: store, N_TAIL_UNWRITTEN: columns from 39 on are not written"),
            ("24,4", "VERDICT: epilogue, BIAS_WRONG_AXIS"),
            ("24,5", "VERDICT: operand load or MMA accumulate, K_TAIL_MISSING: k from 56 on is not in the sum"),
            ("24,6", "VERDICT: operand load or store, STORE_ROW_PERM"),
        ],
    ),
    (
        Kernel {
            folder: "types_simt",
            kernel: "typed_linear",
            site: "emit_typed_linear",
            sets: &[
                "shape.rows=3",
                "shape.columns=136",
                "shape.depth=256",
                "in=float",
                "out=float",
                "scales=0",
                "defect=0",
            ],
        },
        "in,out,scales,defect",
        &[
            ("__half,__half,0,0", "pass"),
            ("float,float,0,0", "pass"),
            ("float,float,1,0", "pass"),
            ("__nv_fp8_e5m2,__half,0,0", "pass"),
            ("__nv_fp8_e4m3,__nv_fp8_e4m3,0,0", "pass"),
            ("uint8_t,__nv_bfloat16,2,0", "pass"),
            ("__nv_fp8_e4m3,__nv_bfloat16,3,0", "pass"),
            ("__half,__half,0,1", "fail"),
            ("__nv_fp8_e4m3,__nv_fp8_e4m3,0,1", "fail"),
            ("uint8_t,__nv_bfloat16,2,2", "fail"),
            ("__nv_fp8_e4m3,__nv_bfloat16,3,2", "fail"),
        ],
    ),
    (
        Kernel {
            folder: "types_simt",
            kernel: "integer_linear",
            site: "emit_integer_linear",
            sets: &["shape.rows=6", "shape.columns=40", "shape.depth=64", "out=int32_t", "defect=0"],
        },
        "out,defect",
        &[
            ("int32_t,0", "pass"),
            ("int8_t,0", "pass"),
            ("int32_t,1", "fail"),
            ("int32_t,2", "fail"),
            ("int8_t,1", "fail"),
            ("int8_t,2", "fail"),
        ],
    ),
];

/// The cases of a sweep on the CPU backend.
fn sweep(made: &Path, header: &str, cases: &[Case]) -> Vec<serde_json::Value> {
    let table = made.join("cases.csv");
    let lines: Vec<&str> = std::iter::once(header).chain(cases.iter().map(|case| case.0)).collect();
    fs_err::write(&table, lines.join("\n") + "\n").unwrap();
    let diagnosed = cases.iter().any(|case| !matches!(case.1, "pass" | "fail"));
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(["sweep", "--backend", "cpu", "--json", "--jobs", "1"])
        .args(["--diagnose", if diagnosed { "always" } else { "never" }, "--cases"])
        .arg(&table)
        .arg(made)
        .output()
        .unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let result: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|why| panic!("{why}: {told}"));
    result["cases"].as_array().unwrap_or_else(|| panic!("{told}")).clone()
}

#[test]
fn groups_splits_outputs_by_columns_and_all_element_types_pass_and_their_defects_are_named_or_fail() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let numbered: Vec<_> = CASES.iter().enumerate().collect();
    let results = on_two_threads(&numbered, |(index, (kernel, table, cases))| {
        sweep(&make(kernel, &header(kernel), &folder.path().join(index.to_string())), table, cases)
    });
    let mut unlike = Vec::new();
    for ((kernel, _, cases), results) in CASES.iter().zip(results) {
        assert_eq!(results.len(), cases.len(), "{}", kernel.kernel);
        for ((line, expected), told) in cases.iter().zip(results) {
            let verdict = if *expected == "pass" { "pass" } else { "fail" };
            let said = matches!(*expected, "pass" | "fail") || told["why"].as_str().unwrap().contains(expected);
            if told["verdict"] != verdict || !said {
                unlike.push(format!("{} {line}: {expected}: {told:#}", kernel.kernel));
            }
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}
