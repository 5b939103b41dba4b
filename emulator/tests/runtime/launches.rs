//! Executables that nvcc built, run on the CPU backend.

use crate::support::{Nvcc, SM_90A, output_of, run_with};
use krepro_emulator::runtime::{End, ReportKind};

#[test]
fn calls_that_run_no_kernel_answer_as_cuda_does() {
    let Some(nvcc) = Nvcc::find() else { return };
    let outcome = run_with(&nvcc.executable(&["calls.cu"], &[SM_90A, &["-std=c++17"]].concat()), &[]).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{}", output_of(&outcome));
    let stdout = String::from_utf8(outcome.stdout).unwrap();
    assert_eq!(stdout, "krepro CPU backend (H200, sm_90a, emulated): sm_90, 132 multiprocessors\n0 checks failed\n");
    assert_eq!(outcome.launches, []);
    let told: Vec<&str> = outcome.reports.iter().map(|report| report.text.as_str()).collect();
    for sentence in [
        "block (512, 1, 1) has 512 threads, the kernel's launch bounds allow 256",
        "block (2048, 1, 1) is not within 1 and (1024, 1024, 64)",
        "grid (3, 1, 1) is no multiple of cluster (2, 1, 1)",
        "cuTensorMapEncodeTiled: boxDim[0] = 128 is 256 bytes, more than the 128 of the swizzle (at most 64 elements)",
    ] {
        assert!(told.contains(&sentence), "{sentence}: {told:#?}");
    }
    assert!(outcome.reports.iter().all(|report| report.kind == ReportKind::Refused));
}

#[test]
fn every_way_to_launch_reaches_the_kernel() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["small.cu"], &[SM_90A, &["-std=c++17", "-lcuda"]].concat());
    for way in ["chevrons", "classic", "cooperative", "extended", "cluster", "own-cluster", "driver", "packed"] {
        let outcome = run_with(&executable, &[way]).unwrap();
        assert_eq!(outcome.end, End::Exited(0), "{way}: {}", output_of(&outcome));
        assert_eq!(outcome.launches.len(), 1, "{way}");
        let launch = &outcome.launches[0];
        let cluster = if way.contains("cluster") { [2, 1, 1] } else { [1, 1, 1] };
        assert_eq!((launch.grid, launch.block, launch.cluster), ([4, 1, 1], [32, 1, 1], cluster), "{way}");
        assert_eq!((launch.status, outcome.reports.len()), (0, 0), "{way}: {}", output_of(&outcome));
    }
}

#[test]
fn a_kernels_output_comes_when_the_program_waits() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["small.cu"], &[SM_90A, &["-std=c++17", "-lcuda"]].concat());
    let outcome = run_with(&executable, &["printf"]).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&outcome.stdout),
        "launched\nblock 0 says 5 and 0.75\nblock 1 says 5 and 0.75\nblock 2 says 5 and 0.75\nblock 3 says 5 and 0.75\n\
         done\nprintf: 0 checks failed\n"
    );
}

#[test]
fn images_loaded_at_run_time_are_found_in_every_form() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["small.cu"], &[SM_90A, &["-std=c++17", "-lcuda"]].concat());
    for options in [
        &["-fatbin", "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]", "-std=c++17"][..],
        &["-fatbin", "-gencode=arch=compute_90a,code=compute_90a", "-std=c++17", "--no-compress"],
        &["-fatbin", "-gencode=arch=compute_90a,code=compute_90a", "-std=c++17", "--compress-mode=speed"],
        &["-ptx", "-arch=sm_90a", "-std=c++17"],
    ] {
        let image = nvcc.executable(&["small.cu"], options);
        for way in ["library", "module"] {
            let outcome = run_with(&executable, &[way, image.to_str().unwrap()]).unwrap();
            assert_eq!(outcome.end, End::Exited(0), "{way} {options:?}: {}", output_of(&outcome));
        }
    }
    let cubin = nvcc.executable(&["small.cu"], &["-cubin", "-arch=sm_90a", "-std=c++17"]);
    let outcome = run_with(&executable, &["module", cubin.to_str().unwrap()]).unwrap();
    assert!(outcome.reports[0].text.contains("machine code (a cubin)"), "{}", output_of(&outcome));
}

#[test]
fn separately_compiled_units_are_linked() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["unit_a.cu", "unit_b.cu"], &[SM_90A, &["-rdc=true"]].concat());
    let outcome = run_with(&executable, &[]).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{}", output_of(&outcome));
}
