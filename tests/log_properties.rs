//! Properties of the log reader: what is encoded is decoded, our splitter agrees with shlex, and no input upsets it.

#![allow(clippy::unwrap_used)]

use krepro::read::log::{Options, Select, from_scan, recover, scan};
use proptest::prelude::*;

/// Words after the compiler, as they were decoded.
fn words(log: &[u8]) -> Option<Vec<String>> {
    let scan = scan(log, &Options { name: "log".into(), ..Options::default() }).unwrap();
    let found = scan.commands.first()?;
    Some(found.argv().skip(1).map(str::to_owned).collect())
}

fn python(word: &str) -> String {
    let quote = if word.contains('\'') && !word.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in word.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c == quote => out.extend(['\\', c]),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn strace(word: &str) -> String {
    let mut out = String::from('"');
    for byte in word.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..0x7f => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

/// Arguments as build tools make them: options with any text as value.
fn argument() -> impl Strategy<Value = String> {
    prop_oneof![
        "-D[A-Z]{1,4}=[ -~é]{0,12}",
        "-I/[ -~é]{1,12}",
        Just("-O3".to_owned()),
        Just("-gencode=arch=compute_90a,code=[sm_90a,compute_90a]".to_owned()),
        Just("--expt-relaxed-constexpr".to_owned()),
        "-Xcompiler=[ -~]{1,12}",
    ]
    // A line that ends within a compiler's own name is another story.
    .prop_filter("names no compiler", |text| !["nvcc", "hipcc", "clang"].iter().any(|name| text.contains(name)))
}

fn command() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(argument(), 0..8).prop_map(|mut arguments| {
        arguments.extend(["-c", "k.cu", "-o", "k.o"].map(String::from));
        arguments
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_python_list_is_decoded(arguments in command(), prefix in "(\\[rank[0-9]\\]: )?(Command ')?") {
        let list: Vec<String> = std::iter::once("nvcc".to_owned()).chain(arguments.clone()).map(|w| python(&w)).collect();
        let log = format!("{prefix}[{}]\n", list.join(", "));
        prop_assert_eq!(words(log.as_bytes()), Some(arguments));
    }

    #[test]
    fn a_json_array_and_a_json_command_are_decoded(arguments in command()) {
        let argv: Vec<&str> = std::iter::once("nvcc").chain(arguments.iter().map(String::as_str)).collect();
        let array = serde_json::to_string(&serde_json::json!([{ "directory": "/b", "arguments": argv, "file": "k.cu" }])).unwrap();
        prop_assert_eq!(words(array.as_bytes()), Some(arguments.clone()), "{}", array);
        let array = serde_json::to_string_pretty(&serde_json::json!([{ "directory": "/b", "arguments": argv, "file": "k.cu" }])).unwrap();
        prop_assert_eq!(words(array.as_bytes()), Some(arguments.clone()), "{}", array);
        let line = shlex::try_join(argv.iter().copied()).unwrap();
        let command = serde_json::to_string(&serde_json::json!([{ "directory": "/b", "command": line, "file": "k.cu" }])).unwrap();
        prop_assert_eq!(words(command.as_bytes()), Some(arguments), "{}", command);
    }

    #[test]
    fn rust_debug_and_strace_are_decoded(arguments in command()) {
        let debug: Vec<String> = std::iter::once("nvcc").chain(arguments.iter().map(String::as_str)).map(|w| format!("{w:?}")).collect();
        let log = format!("running: {}\n", debug.join(" "));
        prop_assert_eq!(words(log.as_bytes()), Some(arguments.clone()), "{}", log);
        let argv: Vec<String> = std::iter::once("nvcc").chain(arguments.iter().map(String::as_str)).map(strace).collect();
        let log = format!("123 execve(\"/usr/bin/nvcc\", [{}], 0x7ffc /* 36 vars */) = 0\n", argv.join(", "));
        prop_assert_eq!(words(log.as_bytes()), Some(arguments), "{}", log);
    }

    #[test]
    fn a_nul_list_is_decoded(arguments in command()) {
        let log: Vec<u8> = std::iter::once("nvcc").chain(arguments.iter().map(String::as_str)).flat_map(|w| [w.as_bytes(), b"\0"].concat()).collect();
        prop_assert_eq!(words(&log), Some(arguments));
    }

    #[test]
    fn a_shell_line_is_split_as_shlex_splits_it(arguments in command(), prefix in "(\\[[0-9]/9\\] )?(ccache )?") {
        let line = shlex::try_join(std::iter::once("nvcc").chain(arguments.iter().map(String::as_str))).unwrap();
        let log = format!("{prefix}{line}\n");
        prop_assert_eq!(words(log.as_bytes()), Some(arguments), "{}", log);
    }

    #[test]
    fn quoting_of_any_kind_is_split_as_shlex_splits_it(pieces in proptest::collection::vec(
        prop_oneof!["[a-z0-9=/.]{1,5}", "'[ -&(-~]{0,6}'", "\"[ !#%-\\[\\]-_a-~]{0,6}\"", "\\\\[ -~]", Just(" ".to_owned())], 1..20,
    )) {
        let line = format!("nvcc -c k.cu -DA={}", pieces.concat());
        prop_assume!(!line.contains("\\\n") && !line.contains("nvcc -c k.cu -DA=#"));
        let Some(expected) = shlex::split(&line) else { return Ok(()) };
        let comment = expected.len() < line.split(' ').count() && line.contains(" #");
        prop_assume!(!comment);
        prop_assume!(line.matches("nvcc").count() == 1);
        prop_assert_eq!(words(line.as_bytes()), Some(expected[1..].to_vec()), "{}", line);
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400), tail in "[ -~\n\\x00\\x1b]{0,300}") {
        for text in [[b"nvcc -c k.cu ".as_slice(), &bytes].concat(), [bytes.as_slice(), b"['nvcc', '", tail.as_bytes()].concat(), tail.into_bytes()] {
            let options = Options { name: "log".into(), ..Options::default() };
            let scan = scan(&text[..], &options).unwrap();
            let outcome = from_scan(&scan, &options);
            if let Err(diagnostics) = outcome {
                prop_assert!(diagnostics.has_errors());
                for diagnostic in diagnostics.iter() {
                    krepro::diag::draw(diagnostic, false);
                }
            }
        }
    }
}

/// Lines that would take hours if a command's surroundings were read anew for each command, and logs that grow when they
/// are expanded.
#[test]
fn hostile_logs_end_soon() {
    let many = |text: &str| text.repeat((1 << 16) / text.len());
    let bomb = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let logs = [
        many("=nvcc "),
        many("nvcc -c a.cu 2> "),
        many("['nvcc','-c','a.cu'] "),
        many("execve(\"nvcc\", [\"nvcc\", \"a.cu\"], 0x) "),
        many("\\nvcc.exe "),
        many("cd /x && nvcc -c a.cu ; "),
        many("{\"command\": \"nvcc -c a.cu\"}"),
        many("nvcc -c $'"),
        many("clang -x cuda a.cu; "),
        many("#$ gcc -E -DX "),
        format!("{}nvcc -c a.cu{}", many("["), many("]")),
        format!("{}nvcc -c a.cu", many("\\")),
        format!("{}nvcc -c a.cu", many("\x1b[31m")),
        format!("['nvcc',\n{} 'k.cu']\n", " '-DX=]',\n".repeat(3000)),
        bomb(17, &|i| format!("a{i} = {}\n", format!("$a{}", i + 1).repeat(20)))
            + "rule cu\n  command = nvcc $a0 -c k.cu\nbuild k.o: cu k.cu\n\n",
        bomb(9, &|i| format!("$ cat r{i}\n{}\n", format!("--options-file r{} ", i + 1).repeat(50)))
            + "nvcc --options-file r0 -c k.cu\n",
    ];
    for log in logs {
        let start = log.chars().take(30).collect::<String>();
        let begun = std::time::Instant::now();
        let options = Options { name: "log".into(), ..Options::default() };
        let scan = scan(log.as_bytes(), &options).unwrap();
        let kept: usize = scan.commands.iter().map(|c| c.excerpt.bytes().len()).sum();
        assert!(kept < 16 << 20, "{start}: {kept} bytes of text are kept");
        let _ = from_scan(&scan, &options);
        assert!(begun.elapsed().as_secs() < 60, "{start}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_database_in_one_line_gives_every_command_with_its_folder_and_column() {
    let entry = |i: usize| serde_json::json!({ "directory": format!("/d{i}"), "command": format!("nvcc -DI={i} -c k{i}.cu"), "file": "k" });
    let log = serde_json::Value::Array((0..2000).map(entry).collect()).to_string();
    let options = Options { name: "db".into(), select: Some(Select::File("k1234.cu".into())), ..Options::default() };
    let recovered = recover(log.as_bytes(), &options).unwrap();
    assert_eq!(recovered.others.len(), 1999);
    assert_eq!(recovered.command.arguments[0].text, "-DI=1234");
    assert_eq!(recovered.command.directory.as_deref(), Some("/d1234"));
    let column = log.find("-DI=1234 ").unwrap() + 1;
    assert_eq!(recovered.command.arguments[0].at.to_string(), format!("db:1:{column}"));
    let spot = recovered.logged.spot(recovered.logged.at(), 4);
    assert_eq!(
        (spot.text().as_ref(), spot.place().to_string()),
        ("nvcc", format!("db:1:{}", log.find("nvcc -DI=1234").unwrap() + 1))
    );
}
