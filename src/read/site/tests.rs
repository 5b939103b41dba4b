//! Sites with their expectations.

use std::collections::BTreeMap;

use super::{Emission, SegmentOrigin, evaluate};
use crate::diag::draw;
use crate::source::Source;

fn run(body: &str, leaves: &[(&str, &str)]) -> Result<Emission, String> {
    let text = format!(
        "int Maker::make(Plan const &plan, std::vector<int> const &params, bool wide) {{\n{body}\nreturn add(K, out.to_string());\n}}\n\
         struct Tile {{ int rows; }};\nint half(int n);\nvoid grow(int &n);\n"
    );
    let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    evaluate(&Source::new("site.cc", text), Some("make"), &leaves)
        .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect())
}

fn lines(body: &str, leaves: &[(&str, &str)]) -> Vec<String> {
    run(body, leaves).unwrap_or_else(|e| panic!("{e}")).lines.into_iter().map(|l| l.text).collect()
}

#[test]
fn a_leaf_that_starts_at_zero_is_never_zero() {
    let body = "int rows = 0;\nrows = plan.input->shape(0);\nout.e(\"k<$>();\", rows);";
    assert_eq!(lines(body, &[("rows", "24")]), ["k<24>();"]);
    let error = run(body, &[]).unwrap_err();
    assert!(error.contains("the value of `rows` is not known"), "{error}");
    assert!(error.contains("plan.input->shape(0)"), "{error}");
    assert!(error.contains("add --set rows=VALUE"), "{error}");
    assert!(error.contains("site.cc:4:18"), "{error}");
}

#[test]
fn chained_ternaries_rounding_and_comments_between_arguments() {
    let body = "int width = plan.w;\nint const tile = width <= 16 ? 16 : width < 64 ? 32 : width < 256 ? 64 : 128;\n\
                out.e(\"$,$,$\", width /* the width */, // and\n /* tile, */ tile, (width + tile - 1) / tile);";
    for (width, text) in [
        ("15", "15,16,1"),
        ("16", "16,16,1"),
        ("31", "31,32,1"),
        ("32", "32,32,1"),
        ("63", "63,32,2"),
        ("64", "64,64,1"),
        ("255", "255,64,4"),
        ("256", "256,128,2"),
    ] {
        assert_eq!(lines(body, &[("width", width)]), [text]);
    }
}

#[test]
fn truth_values_strings_and_string_ternaries_print_as_themselves() {
    let body = "bool flag = params[0] > 0;\nout.e(\"$ $ $ $ $\", flag, wide, /*Split=*/\"false\", flag ? \"table[2]\" : \"nullptr\", 'c');";
    assert_eq!(lines(body, &[("params[0]", "1"), ("wide", "0")]), ["true false false table[2] c"]);
    assert_eq!(lines(body, &[("params[0]", "0"), ("wide", "true")]), ["false true false nullptr c"]);
}

#[test]
fn literals_split_within_a_name_and_an_escape() {
    let body = "out.e(\"TMA tma(desc_\"\n \"ptrs[2]\" \"[0], \\\"x\\\" $) \", 3);";
    let emission = run(body, &[]).unwrap();
    assert_eq!(emission.lines[0].text, "TMA tma(desc_ptrs[2][0], \"x\" 3) ");
    let line = &emission.lines[0];
    assert_eq!(line.segments.last().unwrap().range.end, line.text.len());
    for segment in &line.segments {
        match &segment.from {
            SegmentOrigin::Literal { at } if at.span.end - at.span.start == segment.range.len() => {
                assert_eq!(at.text(), line.text[segment.range.clone()]);
            }
            SegmentOrigin::Literal { at } => assert_eq!(at.text(), "\\\""),
            SegmentOrigin::Value { expr, .. } => assert_eq!(expr, "3"),
            SegmentOrigin::Indent => {}
        }
    }
}

#[test]
fn what_is_emitted_depends_on_both_flags() {
    let body = "bool mine = wide;\nif (wide) { assert(params.size() == 1); mine = (params[0] == 1); } else { assert(params.size() == 0); }\n\
                if (wide && mine) { out.e(\"using R = r;\"); }\nout.e(\"k<$>(a$\", (wide && mine) ? \"R\" : \"void\", wide && mine ? \",\" : \");\");\n\
                if (wide && mine) out.e(\"&r);\");";
    assert_eq!(lines(body, &[("wide", "false"), ("params.size()", "0")]), ["k<void>(a);"]);
    let one = ("params.size()", "1");
    assert_eq!(lines(body, &[("wide", "true"), one, ("params[0]", "0")]), ["k<void>(a);"]);
    assert_eq!(lines(body, &[("wide", "true"), one, ("params[0]", "1")]), ["using R = r;", "k<R>(a,", "&r);"]);
    let error = run(body, &[("wide", "false"), ("params.size()", "2")]).unwrap_err();
    assert!(error.contains("assert(params.size() == 0)"), "{error}");
    assert!(error.contains("`params.size()` is 2"), "{error}");
}

#[test]
fn all_unknown_leaves_are_told_at_once() {
    let body = "int rows = 0, cols = 0;\nrows = plan.a; cols = plan.b;\nint const tile = rows < 8 ? 8 : 16;\n\
                if (wide) { out.e(\"w $\", params[2]); }\nout.e(\"$ $ $\", tile, cols, rows);";
    let error = run(body, &[]).unwrap_err();
    for name in ["--set rows=", "--set cols=", "--set wide=", "--set 'params[2]="] {
        assert!(error.contains(name), "{name} in {error}");
    }
    assert_eq!(error.matches("error[").count(), 4, "{error}");
}

#[test]
fn a_false_assertion_is_quoted_and_unknown_ones_are_passed_over() {
    let body = "int rows = plan.r;\nassert(plan.dims == 2);\nassert(rows <= 16);\nout.e(\"$\", rows);";
    let emission = run(body, &[("rows", "16")]).unwrap();
    assert_eq!(emission.assertions, 1);
    let error = run(body, &[("rows", "20")]).unwrap_err();
    assert!(error.contains("K-SITE-ASSERT") && error.contains("assert(rows <= 16)"), "{error}");
    assert!(error.contains("`rows` is 20"), "{error}");
}

#[test]
fn loops_switches_and_accumulated_text() {
    let body = "std::string list = \"\";\nfor (int i = 0; i < 3; ++i) { if (i > 0) list += \", \"; list += std::to_string(i * i); }\n\
                int n = 1; while (n < 100) n *= 2;\nswitch (n) { case 64: out.e(\"a\"); break; case 128: out.e(\"b\"); case 1: out.e(\"c\"); break; default: out.e(\"d\"); }\n\
                out.e(\"$ $ $\", list, n, std::min(n, 7) + std::max<int>(1, 2));";
    assert_eq!(lines(body, &[]), ["b", "c", "0, 1, 4 128 9"]);
}

#[test]
fn numbers_print_as_the_emitter_prints_them() {
    let body = "float const s = 1.0f / sqrtf(128.0f);\nint x = -7;\nout.e(\"$f, $ $ $\", s, x / 2, x % 2, static_cast<int>(2.9f));";
    assert_eq!(lines(body, &[]), ["0.088388f, -3 -1 2"]);
}

#[test]
fn indentation_follows_the_emitter() {
    let body = "out.inc_indent();\nout.e(\"if {\");\nout.e(\"x;\");\nout.e(\"}\");\nout.dec_indent();\nout.e_front(\"first\");\nout.e(\"\");";
    assert_eq!(lines(body, &[]), ["first", "  if {", "    x;", "  }", ""]);
}

#[test]
fn calls_that_are_commented_out_do_not_exist() {
    assert_eq!(lines("// out.e(\"a\");\n/* out.e(\"b\"); */ out.e(\"c\" /* \"d\" */);", &[]), ["c"]);
}

#[test]
fn a_loop_over_something_opaque_is_a_named_construct() {
    let error = run("for (auto const &op : plan.ops) { out.e(\"$\", op); }", &[]).unwrap_err();
    assert!(error.contains("K-SITE-CONSTRUCT") && error.contains("site.cc:2:1"), "{error}");
    let body = "int n = 1; for (auto const &op : plan.ops) { n += op->size; touch(op); }\nout.e(\"$\", n);";
    assert!(run(body, &[]).unwrap_err().contains("--set n=VALUE"));
    assert_eq!(lines(body, &[("n", "5")]), ["5"]);
}

#[test]
fn what_an_unknown_call_may_change_is_unknown() {
    let body = "int n = 1; int const m = 2; fill(&n, m);\nout.e(\"$ $\", n, m);";
    assert!(run(body, &[]).unwrap_err().contains("--set n=VALUE"));
    assert_eq!(lines(body, &[("n", "4")]), ["4 2"]);
}

#[test]
fn placeholders_and_arguments_must_agree() {
    let error = run("out.e(\"$ $\", 1);", &[]).unwrap_err();
    assert!(error.contains("2 placeholders `$`, but 1 arguments"), "{error}");
}

#[test]
fn leaves_that_are_not_used_are_told() {
    let body = "constexpr int STAGES = 4;\nint rows = plan.r;\nout.e(\"$ $\", STAGES, rows);";
    let emission = run(body, &[("rows", "8"), ("STAGES", "5"), ("row", "9")]).unwrap();
    assert_eq!(emission.text(), "4 8\n");
    let warnings: String = emission.warnings.iter().map(|d| draw(d, false)).collect();
    assert!(warnings.contains("`STAGES`") && warnings.contains("the site computes it itself"), "{warnings}");
    assert!(warnings.contains("given `row`"), "{warnings}");
    assert_eq!(emission.leaves.len(), 1);
    assert_eq!(emission.leaves[0].expr.as_deref(), Some("plan.r"));
}

#[test]
fn a_value_must_fit_its_declared_type() {
    let error = run("int rows = plan.r;\nout.e(\"$\", rows);", &[("rows", "many")]).unwrap_err();
    assert!(error.contains("K-SITE-LEAF-TYPE"), "{error}");
}

#[test]
fn a_missing_function_gets_the_nearest_names() {
    let source = Source::new("s.cc", "int register_linear(int a) { code.e(\"x\"); }\nint other() {}\n");
    let none = BTreeMap::new();
    let error = evaluate(&source, Some("register_linaer"), &none).unwrap_err();
    let text: String = error.iter().map(|d| draw(d, false)).collect();
    assert!(text.contains("s.cc:1:5") && text.contains("s.cc:register_linear"), "{text}");
    assert_eq!(evaluate(&source, None, &none).unwrap().text(), "x\n");
}

#[test]
fn a_pasted_block_needs_no_function() {
    let source = Source::new("-", "int const a = 3;\nc.e(\"k<$, $>();\", a, rows);\n");
    let leaves = BTreeMap::from([("rows".to_owned(), "7".to_owned())]);
    assert_eq!(evaluate(&source, None, &leaves).unwrap().text(), "k<3, 7>();\n");
}

#[test]
fn endless_loops_and_deep_nesting_end() {
    let error = run("while (true) { int a = 1; }\nout.e(\"x\");", &[]).unwrap_err();
    assert!(error.contains("a loop this long"), "{error}");
    let deep = format!("out.e(\"$\", {}1{});", "(".repeat(3000), ")".repeat(3000));
    assert!(run(&deep, &[]).unwrap_err().contains("nested this deep"));
    let error = run("int a = 1 / 0;\nout.e(\"$\", a);", &[]).unwrap_err();
    assert!(error.contains("divides by zero"), "{error}");
}

fn printed(body: &str, leaves: &[(&str, &str)]) -> Result<Emission, String> {
    let text =
        format!("struct Maker {{ static std::string generate(const Args& args, float clamp) {{\n{body}\n}} }};\n");
    let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    evaluate(&Source::new("site.hpp", text), None, &leaves)
        .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect())
}

#[test]
fn a_raw_format_string_with_braces_literals_and_overloads() {
    let body = "return fmt::format(R\"(\n#include <k.cuh>\nstatic void make() {{\n  auto p = &k<{}, 1, {}, {}, {}, {:a}f>;\n}};\n)\",\n  // the major\n  to_string(args.major), args.layout.block_m, args.cluster_n > 1, args.dim(args.m, 'm'), clamp);";
    let leaves = [
        ("args.major", "UMMA::Major::K"),
        ("args.layout.block_m", "128"),
        ("args.cluster_n", "2"),
        ("args.dim(args.m,'m')", "0"),
        ("clamp", "10.0f"),
    ];
    let emission = printed(body, &leaves).unwrap();
    assert_eq!(
        emission.text(),
        "\n#include <k.cuh>\nstatic void make() {\n  auto p = &k<UMMA::Major::K, 1, 128, true, 0, 0x1.4p+3f>;\n};\n"
    );
    let line = &emission.lines[3];
    let values: Vec<_> = line
        .segments
        .iter()
        .filter_map(|s| match &s.from {
            SegmentOrigin::Value { expr, .. } => Some((expr.as_str(), &line.text[s.range.clone()])),
            _ => None,
        })
        .collect();
    assert_eq!(values[1], ("args.layout.block_m", "128"));
    assert_eq!(values[2], ("args.cluster_n > 1", "true"));
    let error = printed(body, &leaves[..1]).unwrap_err();
    for name in ["args.layout.block_m", "args.cluster_n", "'args.dim(args.m,", "clamp"] {
        assert!(error.contains(&format!("--set {name}")), "{name}: {error}");
    }
}

#[test]
fn placeholders_without_argument_and_loose_braces_are_errors() {
    let error = printed("return fmt::format(\"{} {}\", 1);", &[]).unwrap_err();
    assert!(error.contains("placeholder 2"), "{error}");
    assert!(printed("return fmt::format(\"a }\");", &[]).unwrap_err().contains("a single `}`"));
    assert_eq!(printed("return fmt::format(\"{1}{0}\", 1, 2);", &[]).unwrap().text(), "21");
    let named = "return fmt::format(\"{n}{m:d}\", fmt::arg(\"m\", 1), fmt::arg(\"n\", args.n));";
    assert_eq!(printed(named, &[("args.n", "7")]).unwrap().text(), "71");
}

#[test]
fn streams_and_joined_strings() {
    let body = "std::ostringstream ss;\nint n = args.n;\nss << \"k<\" << n << \", \" << true << \", \" << 0.5 << '>' << std::endl;\nif (n > 3) ss << \"(\" << n * 2 << \");\\n\";\nreturn ss.str();";
    assert_eq!(printed(body, &[("n", "4")]).unwrap().text(), "k<4, 1, 0.5>\n(8);\n");
    assert_eq!(printed(body, &[("n", "3")]).unwrap().text(), "k<3, 1, 0.5>\n");
    assert!(printed(body, &[]).unwrap_err().contains("--set n=VALUE"));
    let body = "std::string t = args.wide ? \"wide\" : \"slim\";\nstd::string out = \"k<\" + t;\nout += \", \" + std::to_string(args.n);\nreturn out + \">\";";
    let emission = printed(body, &[("args.wide", "true"), ("args.n", "7")]).unwrap();
    assert_eq!(emission.text(), "k<wide, 7>");
    assert_eq!(emission.lines[0].segments.len(), 5);
}

#[test]
fn what_was_given_is_the_value_on_entry() {
    let c = [("plan.m", "4"), ("wide", "1")];
    for (body, text) in [
        ("plan.m = 64;", "64"),
        ("plan.m *= 2;", "8"),
        ("plan.m++;", "5"),
        ("plan.m = (plan.m + 7) / 8 * 8;", "8"),
        ("if (wide) plan.m = 16; else plan.m = 32;", "16"),
        ("for (int i = 0; i < 2; ++i) plan.m *= 2;", "16"),
    ] {
        assert_eq!(lines(&format!("{body}\nout.e(\"$\", plan.m);"), &c), [text], "{body}");
    }
    for (body, words) in [
        ("plan.m = round_up(plan.m, 8);", "--set 'round_up(plan.m,8)=VALUE'"),
        ("if (params[2] > 4) plan.m = 64;", "--set 'params[2]=VALUE'"),
        ("if (other > 4) plan.m = 64;", "may change here"),
        ("int &r = plan.m; r = 9;", "may change here"),
        ("int *p = &plan.m; *p = 9;", "may change here"),
        ("for (auto x : plan.list) plan.m = x;", "may change here"),
        ("goto end;", "`goto`"),
    ] {
        let error = run(&format!("{body}\nout.e(\"$\", plan.m);"), &c).unwrap_err();
        assert!(error.contains(words), "{body}\n{error}");
    }
    assert_eq!(lines("wide = !wide;\nout.e(\"$\", wide);", &c), ["false"]);
    let local = "int m = plan.m; int &r = m; r = 9;\nout.e(\"$\", m);";
    assert!(run(local, &c).unwrap_err().contains("may change it"));
}

#[test]
fn a_given_value_behind_what_may_change_it_is_told() {
    let text = |head: &str, body: &str| format!("void make(Emitter &out, {head}) {{\n{body}\nout.e(\"$\", c.m);\n}}\n");
    let codes = |head: &str, body: &str| -> Vec<String> {
        let leaves = BTreeMap::from([("c.m".to_owned(), "4".to_owned())]);
        let emission = evaluate(&Source::new("site.cc", text(head, body)), Some("make"), &leaves).unwrap();
        assert_eq!(emission.text().trim_end(), "4", "{body}");
        emission.warnings.iter().map(|d| d.code.to_string()).collect()
    };
    for body in [
        "c.normalize();",
        "fix(c);",
        "fix(&c.n, c.m);",
        "pad(1, c, 8);",
        "c = other;",
        "int x = area(c);",
        "int x = c.area() + 1;",
        "if (unknown()) c.normalize();",
        "while (c.next()) { }",
        "auto &alias = c; alias.m = 3;",
        "Guard guard(c);",
    ] {
        assert_eq!(codes("Config &c", body), ["K-SITE-STALE"], "{body}");
    }
    for body in ["", "log(c.m);", "int x = c.size();", "other.normalize();", "int x = std::max(c.m, 3);"] {
        assert_eq!(codes("Config &c", body), Vec::<String>::new(), "{body}");
    }
    assert_eq!(codes("Config const &c", "fix(c);"), Vec::<String>::new());

    let twice = "int m = plan.first();\nm = round_up(m, 8);\nout.e(\"$\", m);";
    let emission = run(twice, &[("m", "4")]).unwrap();
    assert!(emission.warnings.iter().any(|d| d.code == "K-SITE-STALE"), "{:?}", emission.warnings);
    let looped = "int m = 0;\nfor (int i = 0; i < 2; ++i) { m = probe(); }\nout.e(\"$\", m);";
    assert!(run(looped, &[("m", "4")]).unwrap().warnings.is_empty());
}

/// What the site says of the value of `n`, for a body before `out.e("$", n)`: its text, or the first error's place and cause.
fn told(body: &str, given: &[(&str, &str)]) -> String {
    match run(&format!("{body}\nout.e(\"$\", n);"), given) {
        Ok(emission) => {
            let stale = emission.warnings.iter().any(|d| d.code == "K-SITE-STALE");
            emission.text().trim_end().to_owned() + if stale { " stale" } else { "" }
        }
        Err(error) => error,
    }
}

#[test]
fn a_local_that_something_may_have_changed_is_a_question_with_its_place() {
    for (body, words) in [
        // Within expressions: initialisers, conditions, arguments, assertions, what a short circuit skips.
        ("int n = 1; int a = n++;", "`n++` may change it"),
        ("int n = 1; int a = (n = 4) + 1;", "computes it from `4`"),
        ("int n = 1; int a = 3, b = a + (n += 2);", "`n+=2` may change it"),
        ("int n = 1; if ((n = plan.f()) > 2) { touch(); }", "computes it from `plan.f()`"),
        ("int n = 1; while (n++ < plan.f()) { }", "--set n=VALUE"),
        ("int n = 1; assert(++n < 4);", "`++n` may change it"),
        ("int n = 1; bool b = true || n++ > 1;", "`n++` may change it"),
        ("int n = 1; out.e(\"$\", plan.m + 0 * 1 ? 1 : 2); out.e(\"$\", (n = 2));", "is not evaluated"),
        ("int n = 1; int t[2] = {1, 2}; t[n++] = 5;", "`n++` may change it"),
        ("int n = 1; switch (n++) { default: break; }", "`n++` may change it"),
        // By reference and by address.
        ("int n = 1; fix(n);", "`fix(n)` may change it"),
        ("int n = 1; int a = fix(n);", "`fix(n)` may change it"),
        ("int n = 1; int a = 2 * read(&n);", "`&n` may change it"),
        ("int n = 1; if (fix(n)) touch();", "`fix(n)` may change it"),
        ("int n = 1; plan.fill(n);", "`plan.fill(n)` may change it"),
        ("int n = 1; std::swap(n, m);", "`std::swap(n,m)` may change it"),
        ("int n = 1; std::tie(n, m) = plan.f();", "--set n=VALUE"),
        ("int n = 1; grow(n);", "`grow(n)` may change it"),
        ("int n = 1; in >> n;", "`in>>n` may change it"),
        ("int n = 1; (wide ? n : m) = 4;", "computes it from `4`"),
        ("int n = 1; *&n = 4;", "--set n=VALUE"),
        // By another name, at any later time.
        ("int n = 1; int &r = n; n = 2; r = 9;", "may change it"),
        ("int n = 1; int *p = &n; n = 2; *p = 9;", "may change it"),
        ("int n = 1; auto bump = [&] { n += 2; }; n = 2; bump();", "may change it"),
        ("int n = 1; auto bump = [&n](int by) { n += by; }; bump(2);", "may change it"),
        ("int n = 1; std::for_each(a, b, [&](int x) { n = x; });", "may change it"),
        ("int n = 1; Guard guard(n); n = 2;", "may change it"),
        // Under conditions and in loops that are not known.
        ("int n = 1; if (plan.f()) n = 2;", "--set"),
        ("int n = 1; if (plan.f()) { if (wide) { n++; } }", "--set"),
        ("int n = 1; for (int i = 0; i < plan.f(); ++i) n *= 2;", "--set n=VALUE"),
        ("int n = 1; for (auto x : plan.list) n += x;", "--set n=VALUE"),
        ("int n = 1; do { n = 3; } while (plan.f());", "--set n=VALUE"),
        ("int n = 1; switch (plan.f()) { case 1: n = 2; }", "--set n=VALUE"),
        ("int n = 1; try { n = plan.f(); } catch (...) { }", "--set n=VALUE"),
        // Kept from call to call, or bound with others.
        ("static int n = 1;", "--set n=VALUE"),
        ("auto [n, m] = plan.f();", "--set n=VALUE"),
    ] {
        let error = told(body, &[("wide", "1"), ("m", "7"), ("plan.m", "3")]);
        let squeezed = |text: &str| text.replace(' ', "");
        assert!(error.contains("error[") && squeezed(&error).contains(&squeezed(words)), "{body}\n{error}");
        assert!(error.contains("site.cc:2:"), "{body}\n{error}");
    }
}

#[test]
fn what_cannot_have_changed_keeps_its_value() {
    for body in [
        "int n = 4;",
        "int const n = 4; fix(n); int a = fix(n);",
        "int n = 4; int a = half(n); half(n);",
        "int n = 4; int a = std::min(n, 8) + static_cast<int>(n) + int(n) + plan.shape(n);",
        "int n = 4; int const &r = n; const int *p = &n;",
        "int n = 4; auto twice = [=](int x) { return n * x; }; auto none = [](int n) { n++; return n; };",
        "int n = 3; n++;",
        "int n = 2; n *= 2; { int n = 9; fix(n); }",
        "int n = 1; if (wide) n = 4; else fix(n);",
        "int n = 0; for (int i = 0; i < 4; ++i) { n += 1; }",
        "int n = 0; for (int i : {1, 3}) { n += i; }",
        "int n = 9; fix(n); n = 4;",
        "int n = 4; Tile tile(n); std::vector<int> all(n); dim3 grid(n);",
        "int t[2] = {1, 3}; t[0] = 9; int n = 4;",
        "params[1] = 4; int i = 1; int n = params[i];",
        "int n = 4; printf(\"%d\", n); out.e(\"$\", n); assert(n == 4);",
    ] {
        let text = told(body, &[("wide", "1")]);
        assert_eq!(text.lines().last(), Some("4"), "{body}\n{text}");
    }
    // What is given for a local is its value behind the change.
    assert_eq!(told("int n = 1; fix(n);", &[("n", "6")]), "6");
    assert_eq!(told("int n = 1; int &r = n; n = 2; r = 9;", &[("n", "6")]), "6 stale");
}

#[test]
fn members_and_elements_that_may_have_changed_are_no_longer_what_the_site_assigned() {
    for (body, words) in [
        ("wide = 4; fix(wide); int n = wide;", "computes it from `wide`"),
        ("Plan local; local.m = 4; fix(local); int n = local.m;", "--set local.m=VALUE"),
        ("Plan local; local.m = 4; local.grow(); int n = local.m;", "--set local.m=VALUE"),
        ("Plan local; local.m = 4; auto &l = local; l.m = 5; int n = local.m;", "--set local.m=VALUE"),
        ("int t[2] = {1, 2}; t[0] = 9; int n = t[0];", "computes it from `t[0]`"),
        ("int t[2] = {1, 2}; fill(t); int n = t[0];", "t"),
        ("params[0] = 4; params[plan.k] = 5; int n = params[0];", "computes it from `params[0]`"),
    ] {
        let error = told(body, &[]);
        assert!(error.contains("error[") && error.contains(words), "{body}\n{error}");
    }
    assert_eq!(told("int i = 1; int n = params[i] + params[i + 1];", &[("params[1]", "3"), ("params[2]", "4")]), "7");
    let error = told("int i = 1; int n = params[i];", &[]);
    assert!(error.contains("--set 'params[1]=VALUE'"), "{error}");
}

#[test]
fn text_that_a_helper_may_add_is_never_left_out() {
    let refused = |body: &str, words: &str| {
        let error = run(body, &[("wide", "1")]).unwrap_err();
        assert!(error.contains(words) && error.contains("site.cc:"), "{body}\n{error}");
    };
    refused("out.e(\"k<\"); append_args(out, 3); out.e(\">\");", "`append_args(out, 3)`, which may emit out of sight,");
    refused("append_args(&out, 3); out.e(\">\");", "out of sight");
    refused("out.e(\"k<\"); out.raw(\"3\");", "`out.raw(\"3\")`, which may emit out of sight,");
    refused("auto line = [&](int n) { out.e(\"$\", n); }; line(3); out.e(\"x\");", "out of sight");
    refused("if (plan.f()) { append_args(out); } out.e(\"x\");", "out of sight");
    let text = |body: &str| {
        let site = format!("std::string generate(Args const &args, int k, std::ostream &os) {{ {body} }}");
        let leaves = BTreeMap::from([("k".to_owned(), "3".to_owned())]);
        evaluate(&Source::new("site.hpp", site), None, &leaves)
            .map(|e| e.text())
            .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect::<String>())
    };
    for body in [
        "std::string t = \"k<\"; append_args(t, k); t += \">\"; return t;",
        "std::string t = \"k<\"; t.insert(0, \"x\"); return t + \">\";",
        "std::string t = \"k<\"; if (args.wide) t += \"w\"; return t + \">\";",
        "std::ostringstream ss; ss << \"k<\"; append_args(ss, k); ss << \">\"; return ss.str();",
        "std::ostringstream ss; ss << \"k<\"; ss.str(\"\"); ss << \">\"; return ss.str();",
        "append_args(os, k); os << \">\"; return os.str();",
        "std::string t; auto add = [&](int x) { t += std::to_string(x); }; add(3); return t + \">\";",
    ] {
        let error = text(body).unwrap_err();
        assert!(error.contains("site.hpp:1:"), "{body}\n{error}");
    }
    for (body, printed) in [
        ("std::string t; t += \"k<\"; t.append(std::to_string(k)); t.push_back('>'); return t;", "k<3>"),
        ("std::string t = \"k\"; t = t + \"<\" + std::to_string(k); return t + \">\";", "k<3>"),
        ("os << \"k<\" << k << \">\"; return os.str();", "k<3>"),
    ] {
        assert_eq!(text(body).as_deref(), Ok(printed), "{body}");
    }
}

#[test]
fn branches_of_a_site_follow_the_command_line_and_ask_where_it_says_nothing() {
    let site = "#ifndef SITE_H\n#define SITE_H\nvoid make(Emitter &out, int n) {\n#ifdef FAST\n  out.e(\"fast<$\"\n#if LEVEL > 1\n  \", deep\"\n#endif\n  \">\", \
                n);\n#else\n  out.e(\"slow<$>\", n);\n#endif\n}\n#endif\n";
    let text = |defines: &[(&str, Option<&str>)], given: &[(&str, &str)]| {
        let defines: Vec<_> = defines.iter().map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned))).collect();
        let mut leaves: BTreeMap<_, _> = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        leaves.insert("n".to_owned(), "4".to_owned());
        super::evaluate::evaluate_with(&Source::new("site.h", site), None, &leaves, &defines)
            .map(|e| e.text() + &e.warnings.iter().map(|d| d.code.clone()).collect::<String>())
            .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect::<String>())
    };
    assert_eq!(text(&[("FAST", None), ("LEVEL", Some("2"))], &[]).as_deref(), Ok("fast<4, deep>\n"));
    assert_eq!(text(&[("FAST", None), ("LEVEL", Some("1"))], &[]).as_deref(), Ok("fast<4>\n"));
    assert_eq!(text(&[], &[("defined(FAST)", "false")]).as_deref(), Ok("slow<4>\n"));
    assert_eq!(text(&[], &[("FAST", "1"), ("LEVEL", "2")]).as_deref(), Ok("fast<4, deep>\n"));
    let error = text(&[], &[]).unwrap_err();
    assert!(error.contains("`defined(FAST)` is not known") && error.contains("site.h:4:1"), "{error}");
    assert!(error.contains("--set 'defined(FAST)=VALUE'"), "{error}");
    let error = text(&[("FAST", None)], &[]).unwrap_err();
    assert!(error.contains("`LEVEL` is not known") && error.contains("site.h:6:1"), "{error}");
}

#[test]
fn what_the_parser_stumbles_in_is_refused_where_it_matters() {
    let error = run("int n = 1;\nout.e(\"$\" n);", &[]).unwrap_err();
    assert!(error.contains("the parser stumbles") && error.contains("site.cc:3:1"), "{error}");
    let error = told("int n = 1; n = = 2;", &[]);
    assert!(error.contains("--set n=VALUE"), "{error}");
}
