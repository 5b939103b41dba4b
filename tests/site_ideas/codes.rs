//! Every code that the readers of sites, signatures and instantiations give: one input each that reaches it, with its place and what
//! to do. A code of the readers' source that no input here reaches fails the test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use krepro::diag::{Diagnostics, draw};
use krepro::read::instantiation::{Select, check_arity, parse, parse_text, symbol};
use krepro::read::signature::{SignatureOptions, find};
use krepro::read::site::{Emission, read, read_with, task_graph};
use krepro::source::Source;

/// A code, the file's name, its text, the values given, and what the message says.
type Case =
    (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const SITES: &[Case] = &[
    ("K-SITE-LEAF", "s.cc", "void f(E &c, int n) { c.e(\"$\", n); }", &[], &["s.cc:1:", "add --set n=VALUE"]),
    ("K-SITE-LEAF", "s.py", "def f(n):\n    return f'<{n}>'\n", &[], &["s.py:2:", "add --set n=VALUE"]),
    ("K-SITE-LEAF", "s.jinja", "a\n{{ n }}", &[], &["s.jinja:2:4", "add --set n=VALUE"]),
    ("K-SITE-LEAF", "s.rs", "fn f() -> String { format!(\"{n}\") }", &[], &["s.rs:1:", "add --set n=VALUE"]),
    (
        "K-SITE-LEAF-TYPE",
        "s.cc",
        "void f(E &c, int n) { c.e(\"$\", n); }",
        &[("n", "many")],
        &["s.cc:1:", "`n`, which is `int`", "add --set n=VALUE"],
    ),
    (
        "K-SITE-UNUSED",
        "s.cc",
        "void f(E &c) { c.e(\"x\"); }",
        &[("n", "3")],
        &["the given `n`", "leave out `--set n=…`"],
    ),
    (
        "K-SITE-OCTAL",
        "s.cc",
        "void f(E &c, int n) { c.e(\"$\", n); }",
        &[("n", "010")],
        &["s.cc:1:", "octal: 8", "--set n=10"],
    ),
    (
        "K-SITE-STALE",
        "s.cc",
        "void f(E &c, T &t) { t.fix(); c.e(\"$\", t.n); }",
        &[("t.n", "3")],
        &["s.cc:1:22", "--set t.n=…"],
    ),
    ("K-SITE-DEFAULT", "s.jinja", "{{ n|default(3) }}", &[], &["s.jinja:1:4", "--set n=VALUE"]),
    (
        "K-SITE-CONSTRUCT",
        "s.cc",
        "void f(E &c) { goto end; c.e(\"x\"); end: ; }",
        &[],
        &["s.cc:1:16", "`goto`", "paste the text"],
    ),
    (
        "K-SITE-CONSTRUCT",
        "s.py",
        "def f(n):\n    try:\n        return f'{n}'\n    except E:\n        pass\n",
        &[],
        &["s.py:2:5", "paste the text"],
    ),
    ("K-SITE-CONSTRUCT", "s.rs", "fn f() { if b { write!(o, \"a\"); } }", &[], &["s.rs:1:1", "paste the text"]),
    ("K-SITE-UNDEFINED", "s.cc", "void f(E &c) { c.e(\"$\", 1 / 0); }", &[], &["s.cc:1:25", "divides by zero"]),
    (
        "K-SITE-ASSERT",
        "s.cc",
        "void f(E &c, int n) { assert(n < 4); c.e(\"$\", n); }",
        &[("n", "5")],
        &["s.cc:1:30", "assert(n < 4)", "`n` is 5"],
    ),
    (
        "K-SITE-PLACEHOLDER",
        "s.cc",
        "void f(E &c) { c.e(\"$ $\", 1); }",
        &[],
        &["s.cc:1:16", "2 placeholders", "check the site"],
    ),
    (
        "K-SITE-EMPTY",
        "s.cc",
        "void f(E &c, bool b) { if (b) c.e(\"x\"); }",
        &[("b", "false")],
        &["s.cc:1:", "name the function that emits"],
    ),
    (
        "K-SITE-EMITTER",
        "s.cc",
        "void f(E &a, E &b) { a.e(\"x\"); b.e(\"y\"); }",
        &[],
        &["s.cc:1:", "2 emitters", "paste the text"],
    ),
    (
        "K-SITE-FUNCTION",
        "s.cc",
        "void f(E &c) { c.e(\"x\"); } void g(E &c) { c.e(\"y\"); }",
        &[],
        &["2 functions that emit", "--site s.cc:f"],
    ),
    ("K-SITE-TEMPLATE", "s.jinja", "x\n{% for %}", &[], &["s.jinja:2:", "syntax error"]),
    ("K-SITE-TEMPLATE", "s.rs", "fn (", &[], &["s.rs:1:1", "no Rust"]),
];

const HEADERS: &[(&str, &str, &str, &[&str])] = &[
    ("K-SIG-NAME", "void linear(int a) {}", "linaer", &["h.cuh:1:6", "did you mean", "h.cuh:linear"]),
    ("K-SIG-AMBIGUOUS", "void f(int a) {}\nvoid f(float a) {}", "f", &["h.cuh:1:6", "h.cuh:2:6", "-D"]),
    ("K-SIG-UNREADABLE", "__global__ void f(int a, = b c d(], int n) {}", "f", &["h.cuh:1:", "--annotation-macro"]),
];

const TEXTS: &[(&str, &str, &[&str])] = &[
    ("K-INST-KERNEL", "int x = 3;", &["t.cu:1:1", "kernel<…>"]),
    ("K-INST-CHOICE", "k<1>();\nk<2>();", &["t.cu:1:1", "t.cu:2:1", "or the line"]),
    ("K-INST-SYMBOL", "_Znonsense", &["t.cu:1:1", "give the whole symbol"]),
    ("K-ARITY-TEMPLATE", "k<1>(a);", &["t.cu:1:1", "h.cuh:1:1", "takes 2 template arguments"]),
    ("K-ARITY-CALL", "k<1, 2>(a, b);", &["t.cu:1:1", "h.cuh:1:1", "takes 1 arguments"]),
];

fn drawn(all: &Diagnostics) -> String {
    all.iter().map(|d| draw(d, false) + "\n").collect()
}

fn hold(code: &str, said: &str, parts: &[&str], what: &str) {
    assert!(said.contains(&format!("[{code}]")), "{what}\nno {code} in\n{said}");
    for part in parts {
        assert!(said.contains(part), "{what}\nno `{part}` in\n{said}");
    }
}

#[test]
fn every_code_of_the_readers_is_reached_with_its_place_and_its_remedy() {
    let mut reached = BTreeSet::new();
    for (code, name, text, given, parts) in SITES {
        let leaves: BTreeMap<_, _> = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let said = match read(&Source::new(*name, *text), None, &leaves) {
            Ok(emission) => drawn(&emission.warnings),
            Err(errors) => drawn(&errors),
        };
        hold(code, &said, parts, text);
        reached.insert(*code);
    }
    for (code, text, name, parts) in HEADERS {
        let errors = find(&Source::new("h.cuh", *text), name, &SignatureOptions::default()).unwrap_err();
        hold(code, &drawn(&errors), parts, text);
        reached.insert(*code);
    }
    let header = Source::new("h.cuh", "template <int A, int B> void k(int a) {}");
    let signature = find(&header, "k", &SignatureOptions::default()).unwrap();
    for (code, text, parts) in TEXTS {
        let source = Source::new("t.cu", *text);
        let errors = if *code == "K-INST-SYMBOL" {
            symbol::parse_symbol(&source).unwrap_err()
        } else {
            match parse_text(&source, &Select::default()) {
                Ok(found) => check_arity(&signature, &found, &[header.clone(), source]),
                Err(errors) => errors,
            }
        };
        hold(code, &drawn(&errors), parts, text);
        reached.insert(*code);
    }
    let graph = Source::new("g.json", "{\"all_tasks\": [}");
    let errors = task_graph::leaves(&graph, "7", 0).unwrap_err();
    hold("K-LEAVES-GRAPH", &drawn(&errors), &["g.json:1:"], "a task graph");
    reached.insert("K-LEAVES-GRAPH");
    let mut known = BTreeSet::new();
    for folder in ["site", "site/python", "signature", "instantiation"] {
        codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/read").join(folder), &mut known);
    }
    let unreached: Vec<_> = known.iter().filter(|code| !reached.contains(code.as_str())).collect();
    assert!(known.len() > 15 && unreached.is_empty(), "no input reaches {unreached:?}");
    let gone: Vec<_> = reached.iter().filter(|code| !known.contains(**code)).collect();
    assert!(gone.is_empty(), "no reader gives {gone:?}");
}

/// The codes that stand in the Rust files of a folder, tests left out.
fn codes(folder: &Path, out: &mut BTreeSet<String>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".rs") || name == "tests.rs" {
            continue;
        }
        let text = fs_err::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for part in text.split("\"K-").skip(1) {
            let end = part.find('"').unwrap();
            out.insert(format!("K-{}", &part[..end]));
        }
    }
}

#[test]
fn values_of_production_s_own_prints_may_be_left_unused() {
    let offered = BTreeMap::from([("m".to_owned(), "3".to_owned()), ("q".to_owned(), "4".to_owned())]);
    let source = Source::new("s.cc", "void f(E &c, int m) { c.e(\"k<$>();\", m); }");
    let emission: Emission = read_with(&source, None, &BTreeMap::new(), &offered, &[]).unwrap();
    assert!(emission.warnings.iter().next().is_none());
    assert_eq!(parse(&emission, &Select::default()).unwrap().template_arguments[0].value, "3");
}
