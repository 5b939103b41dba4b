//! Kernels of which one unit holds many cases: groups, splits, element types.

use std::path::Path;
use std::process::Command;

use super::{Kernel, common, header, make, on_two_threads};

/// Kernels whose cases differ in template arguments, built in one unit each: groups of rows with weights of their own, a reduction that
/// four warps share, every element type. A case without a defect passes every rung that it has, one with a defect fails.
const CASES: [(Kernel, &str); 4] = [
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
        "told,fp4,defect\n0,false,0\n1,false,0\n2,false,0\n0,true,0\n0,false,1\n1,false,2\n0,false,3\n2,true,4\n",
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
        "out,through,defect\n__nv_bfloat16,0,0\n__nv_bfloat16,1,0\n__nv_bfloat16,2,0\n__nv_bfloat16,3,0\nfloat,4,0\n__nv_bfloat16,0,1\n\
         __nv_bfloat16,1,2\n__nv_bfloat16,0,3\n__nv_bfloat16,2,3\n__nv_bfloat16,3,1\nfloat,4,4\n",
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
        "in,out,scales,defect\n__half,__half,0,0\nfloat,float,0,0\nfloat,float,1,0\n__nv_fp8_e5m2,__half,0,0\n\
         __nv_fp8_e4m3,__nv_fp8_e4m3,0,0\nuint8_t,__nv_bfloat16,2,0\n__nv_fp8_e4m3,__nv_bfloat16,3,0\n__half,__half,0,1\n\
         __nv_fp8_e4m3,__nv_fp8_e4m3,0,1\nuint8_t,__nv_bfloat16,2,2\n__nv_fp8_e4m3,__nv_bfloat16,3,2\n",
    ),
    (
        Kernel {
            folder: "types_simt",
            kernel: "integer_linear",
            site: "emit_integer_linear",
            sets: &["shape.rows=6", "shape.columns=40", "shape.depth=64", "out=int32_t", "defect=0"],
        },
        "out,defect\nint32_t,0\nint8_t,0\nint32_t,1\nint32_t,2\nint8_t,1\nint8_t,2\n",
    ),
];

/// The cases of a sweep on the CPU backend, with the line of each.
fn sweep(made: &Path, cases: &str) -> Vec<(String, serde_json::Value)> {
    let table = made.join("cases.csv");
    fs_err::write(&table, cases).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .args(["sweep", "--backend", "cpu", "--json", "--jobs", "1", "--cases"])
        .arg(&table)
        .arg(made)
        .output()
        .unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let result: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|why| panic!("{why}: {told}"));
    let list = result["cases"].as_array().unwrap_or_else(|| panic!("{told}"));
    list.iter().map(|case| (case["case"].as_str().unwrap().to_owned(), case.clone())).collect()
}

#[test]
fn groups_splits_and_all_element_types_pass_and_their_defects_fail() {
    if common::toolchain().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let numbered: Vec<_> = CASES.iter().enumerate().collect();
    let results = on_two_threads(&numbered, |(index, (kernel, cases))| {
        sweep(&make(kernel, &header(kernel), &folder.path().join(index.to_string())), cases)
    });
    for ((kernel, cases), results) in CASES.iter().zip(results) {
        assert_eq!(results.len() + 1, cases.lines().count(), "{}", kernel.kernel);
        for (case, told) in results {
            let right = if case.contains("defect=0") { "pass" } else { "fail" };
            assert_eq!(told["verdict"], right, "{} {case}: {told:#}", kernel.kernel);
        }
    }
}
