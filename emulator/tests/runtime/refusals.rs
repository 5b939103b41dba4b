//! Executables that cannot run, or go wrong: each says in words what to change or what happened.

use crate::support::{Nvcc, SM_90A, output_of, request, run_with};
use krepro_emulator::runtime::{End, Output, ReportKind, RunError, run};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

#[test]
fn a_static_runtime_is_refused_before_it_starts() {
    let Some(nvcc) = Nvcc::find() else { return };
    let options = ["-gencode=arch=compute_90a,code=[sm_90a,compute_90a]", "-cudart=static"];
    let error = run_with(&nvcc.executable(&["wrong.cu"], &options), &["bounds"]).unwrap_err();
    assert!(matches!(error, RunError::StaticRuntime { .. }), "{error:?}");
    assert!(error.to_string().ends_with("link it with -cudart shared"), "{error}");
}

#[test]
fn an_rpath_to_the_real_library_does_not_bypass_the_shim() {
    let Some(nvcc) = Nvcc::find() else { return };
    let rpath = format!("-Xlinker=--disable-new-dtags,-rpath,{}", nvcc.toolkit().join("lib").display());
    let executable = nvcc.executable(&["wrong.cu"], &[SM_90A, &[&rpath]].concat());
    let outcome = run_with(&executable, &["graph"]).unwrap();
    assert_eq!(outcome.end, End::Exited(801 % 256), "{}", output_of(&outcome));
}

#[test]
fn machine_code_only_is_refused_with_the_option_to_add() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["wrong.cu"], &["-arch=sm_90a", "-cudart=shared"]);
    let sass_only = nvcc.executable(&["wrong.cu"], &["-gencode=arch=compute_90a,code=sm_90a", "-cudart=shared"]);
    let outcome = run_with(&sass_only, &["bounds"]).unwrap();
    let report = &outcome.reports[0];
    assert_eq!(report.kind, ReportKind::Image);
    assert!(report.text.contains("-gencode=arch=compute_90a,code=[sm_90a,compute_90a]"), "{}", report.text);
    // -arch=sm_90a embeds PTX for compute_90a, whose kernels run.
    let outcome = run_with(&executable, &["bounds"]).unwrap();
    assert_eq!(outcome.reports[0].kind, ReportKind::Fault, "{}", output_of(&outcome));
}

#[test]
fn a_missing_function_is_named() {
    let Some(nvcc) = Nvcc::find() else { return };
    let outcome = run_with(&nvcc.executable(&["wrong.cu"], SM_90A), &["graph"]).unwrap();
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "cudaErrorNotSupported\n");
    let sentence = "the program called cudaGraphCreate, which the CPU backend does not have";
    assert_eq!(outcome.reports[0].text, sentence);
    assert_eq!(outcome.reports[0].kind, ReportKind::MissingFunction);
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), format!("krepro: CPU backend: {sentence}\n"));
}

#[test]
fn faults_come_out_as_cudas_errors_and_as_reports() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["wrong.cu"], SM_90A);
    for (way, code, name, kind, words) in [
        ("bounds", 700, "cudaErrorIllegalAddress", ReportKind::Fault, "wrong.cu:6"),
        ("misaligned", 716, "cudaErrorMisalignedAddress", ReportKind::Fault, "wrong.cu:7"),
        ("assert", 710, "cudaErrorAssert", ReportKind::Assert, "(int)threadIdx.x < limit"),
        ("barrier", 702, "cudaErrorLaunchTimeout", ReportKind::Deadlock, "64 of 128 threads arrived"),
    ] {
        let outcome = run_with(&executable, &[way]).unwrap();
        let stdout = String::from_utf8_lossy(&outcome.stdout).into_owned();
        assert!(stdout.starts_with(&format!("cudaSuccess, then {name}: ")), "{way}: {}", output_of(&outcome));
        assert_eq!(outcome.end, End::Exited(code % 256), "{way}: {}", output_of(&outcome));
        assert_eq!(outcome.reports.len(), 1, "{way}: {}", output_of(&outcome));
        let report = &outcome.reports[0];
        assert!(report.kind == kind && report.text.contains(words), "{way}: {report:#?}");
        assert!(!report.kernel.is_empty());
    }
}

#[test]
fn a_deadline_stops_program_and_kernel() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["wrong.cu"], SM_90A);
    let mut request = request(&executable, &["forever"]);
    request.options.idle_limit = u64::MAX;
    request.deadline = Some(Duration::from_millis(700));
    let start = Instant::now();
    let outcome = run(&request).unwrap();
    assert_eq!(outcome.end, End::Stopped);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn damaged_images_are_reported_and_never_believed() {
    let Some(nvcc) = Nvcc::find() else { return };
    let executable = nvcc.executable(&["wrong.cu"], SM_90A);
    let whole = std::fs::read(&executable).unwrap();
    let magic = 0xBA55_ED50u32.to_le_bytes();
    let at = whole.windows(4).position(|window| window == magic).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Entry headers and the PTX behind them: kind, header size, payload size, compressed size, expanded size.
    for (name, offset, value) in [
        ("kind", 16, 7u64),
        ("header", 20, 1),
        ("payload", 24, u64::MAX),
        ("payload-2", 24, 1 << 20),
        ("no-header", 20, 0),
    ] {
        let mut bytes = whole.clone();
        let size = if offset == 24 { 8 } else { 4 };
        bytes[at + offset..at + offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        let damaged = folder.path().join(name);
        std::fs::write(&damaged, bytes).unwrap();
        std::fs::set_permissions(&damaged, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut request = request(&damaged, &["bounds"]);
        request.gpu =
            krepro_emulator::gpu::SimulatedGpu::for_arch(krepro_emulator::arch::Arch::parse("sm_90a").unwrap());
        let outcome = run(&request).unwrap();
        let told = outcome.reports.first().unwrap_or_else(|| panic!("{name}: {}", output_of(&outcome)));
        assert!(matches!(told.kind, ReportKind::Image | ReportKind::Fault), "{name}: {told:?}");
    }
}

#[test]
fn what_is_no_cuda_program_is_refused_or_left_alone() {
    let mut shell = request("/bin/sh".as_ref(), &["-c", "echo hello; exit 3"]);
    let error = run(&shell).unwrap_err();
    assert!(matches!(error, RunError::NoDeviceCode { .. }), "{error:?}");
    shell.gpu = krepro_emulator::gpu::SimulatedGpu::for_arch(krepro_emulator::arch::Arch::parse("sm_90a").unwrap());
    let outcome = run(&shell).unwrap();
    assert_eq!((outcome.end, outcome.stdout.as_slice()), (End::Exited(3), &b"hello\n"[..]));
    let error = run(&request("/nowhere/program".as_ref(), &[])).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/program: No such file"), "{error}");
    shell.output = Output::Inherit;
    shell.arguments = vec!["-c".into(), "exit 0".into()];
    assert_eq!(run(&shell).unwrap().end, End::Exited(0));
}
