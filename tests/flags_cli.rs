//! `krepro flags` as a user types it.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::{Command, Stdio};

struct Answer {
    code: i32,
    out: String,
    err: String,
}

fn flags(arguments: &[&str], log: &str) -> Answer {
    let mut child = Command::new(env!("CARGO_BIN_EXE_krepro"))
        .arg("flags")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

const LOG: &str =
    "[1/2] nvcc -I'/opt/my dir' -DA=1 -arch=sm_90a -shared -c k.cu -o k.o\n[2/2] nvcc -DB -c b.cu -o b.o\n";

#[test]
fn every_format_holds_the_same_flags() {
    let lines = flags(&[], LOG);
    assert_eq!(lines.out, "-I/opt/my dir\n-DA=1\n-gencode=arch=compute_90a,code=sm_90a\n");
    assert_eq!(lines.code, 0);
    assert!(lines.err.contains("dropped: 1:47 -shared"), "{}", lines.err);
    assert!(lines.err.contains("changed by krepro: 1:34 -arch=sm_90a"), "{}", lines.err);
    assert!(lines.err.contains("b.cu"), "{}", lines.err);
    assert_eq!(flags(&["-0"], LOG).out, lines.out.replace('\n', "\0"));
    assert_eq!(flags(&["--format", "shell"], LOG).out, "'-I/opt/my dir' -DA=1 -gencode=arch=compute_90a,code=sm_90a\n");
    let json: serde_json::Value = serde_json::from_str(&flags(&["--json"], LOG).out).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["command"]["arguments"][0]["text"], "-I/opt/my dir");
    assert_eq!(json["command"]["arguments"][0]["at"], "-:1:12");
    let profile: toml::Table = flags(&["--format", "toml"], LOG).out.parse().unwrap();
    let command: krepro::model::CompileCommand = profile["compile"].clone().try_into().unwrap();
    assert_eq!(command.arguments[2].text, "-gencode=arch=compute_90a,code=sm_90a");
    assert_eq!(command.changes.len(), 4);
}

#[test]
fn a_command_is_selected_by_file_or_line() {
    assert_eq!(flags(&["--select", "b.cu"], LOG).out, "-DB\n");
    assert_eq!(flags(&["--select", "2"], LOG).out, "-DB\n");
    let none = flags(&["--select", "c.cu"], LOG);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("commands begin in lines 1, 2"), "{}", none.err);
}

#[test]
fn paths_are_mapped_and_the_absent_are_named() {
    let log = "nvcc -I/nowhere/a -isystem /nowhere/b -I/nowhere2 -c k.cu\n";
    let mapped = flags(&["--map", "/nowhere=/here"], log);
    assert_eq!(mapped.out, "-I/here/a\n-isystem\n/here/b\n-I/nowhere2\n");
    assert!(mapped.err.contains("not on this machine: /here/a and 2 more"), "{}", mapped.err);
    assert_eq!(flags(&["--map", "nothing"], log).code, 2);
}

#[test]
fn a_response_file_is_read_when_the_user_names_it_and_only_then() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inc.rsp");
    std::fs::write(&file, "-I\"/a b\" -DX=1\n").unwrap();
    let file = file.to_str().unwrap();
    let log = format!("nvcc --options-file {file} -std=c++17 -c k.cu -o k.o\n");
    let without = flags(&[], &log);
    assert_eq!((without.code, without.out.as_str()), (3, "-std=c++17\n"));
    assert!(without.err.contains("--response FILE"), "{}", without.err);
    let with = flags(&["--response", file], &log);
    assert_eq!((with.code, with.out.as_str()), (0, "-I/a b\n-DX=1\n-std=c++17\n"));
}

#[test]
fn every_end_has_its_exit_code() {
    assert_eq!(flags(&[], "nothing here\n").code, 2);
    assert_eq!(flags(&[], "hipcc -c k.hip\n").code, 2);
    assert_eq!(flags(&[], "nvcc -I/a -isystem\n").code, 3);
    assert_eq!(flags(&["/nowhere/build.log"], "").code, 2);
    assert_eq!(flags(&["--format", "xml"], "").code, 2);
    let json: serde_json::Value = serde_json::from_str(&flags(&["--json"], "hipcc -c k.hip\n").out).unwrap();
    assert_eq!(json["diagnostics"][0]["code"], "K-LOG-HIP");
}
