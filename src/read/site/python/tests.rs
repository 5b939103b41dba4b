//! Python sites with their expectations.

use std::collections::BTreeMap;

use super::evaluate;
use crate::diag::draw;
use crate::source::Source;

fn of(text: &str, function: Option<&str>, leaves: &[(&str, &str)]) -> Result<String, String> {
    let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    evaluate(&Source::new("site.py", text), function, &leaves)
        .map(|e| e.text())
        .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect())
}

fn run(text: &str, leaves: &[(&str, &str)]) -> Result<String, String> {
    of(text, None, leaves)
}

fn f(body: &str, leaves: &[(&str, &str)]) -> Result<String, String> {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    of(&format!("def f(c, m, n):\n{body}"), Some("f"), leaves)
}

#[test]
fn f_strings_with_conditions_and_calls() {
    let text = "code = f\"\"\"\nk<{kwargs[\"M\"] if \"m\" in kwargs[\"DIMS\"] else 0}, {str(wide).lower()}, {{{tile * 2 + 1}}}, {n // 2}>\n\"\"\"";
    let leaves =
        [("kwargs[\"M\"]", "128"), ("\"m\" in kwargs[\"DIMS\"]", "true"), ("wide", "False"), ("tile", "8"), ("n", "7")];
    assert_eq!(run(text, &leaves).unwrap(), "\nk<128, false, {17}, 3>\n");
    let error = run(text, &leaves[..2]).unwrap_err();
    assert!(error.contains("--set wide=VALUE") && error.contains("--set tile=VALUE"), "{error}");
    assert!(error.contains("site.py:2:"), "{error}");
}

#[test]
fn format_with_names_and_percent_with_tuples() {
    let text = "T = \"template void run<{arch}, {dtype}, {flag}>({{}});\\n\".format(arch=ARCH, dtype=DT[x], flag=str(packed or split).lower())";
    let leaves = [("ARCH", "90"), ("DT[x]", "\"cutlass::half_t\""), ("packed", "False"), ("split", "True")];
    assert_eq!(run(text, &leaves).unwrap(), "template void run<90, cutlass::half_t, true>({});\n");
    assert_eq!(run("'k<%s, %d> %%' % (a, b + 1)", &[("a", "float"), ("b", "2")]).unwrap(), "k<float, 3> %");
    assert_eq!(run("'k<%(a)s>' % {'a': x}", &[("x", "4")]).unwrap(), "k<4>");
    let formatted_later = "T = \"template void run<{arch}>();\"\nprint(T.format(arch=3))";
    assert_eq!(run(formatted_later, &[]).unwrap(), "template void run<3>();\n");
    assert!(run("x = 3", &[]).unwrap_err().contains("formats no string"));
    assert!(run("f'{", &[]).is_err());
}

#[test]
fn the_function_that_is_named_is_the_one_that_counts() {
    let text = "def f(c):\n    return g(c)\ndef g(c):\n    return f\"<1,{c.m}>\"\ndef h(c):\n    return f\"<2,{c.m}, and longer>\"\n";
    assert_eq!(of(text, Some("f"), &[("c.m", "4")]).unwrap(), "<1,4>");
    assert_eq!(of(text, Some("h"), &[("c.m", "4")]).unwrap(), "<2,4, and longer>");
    let error = of(text, Some("nope"), &[]).unwrap_err();
    assert!(error.contains("K-SITE-FUNCTION") && error.contains("`f`, `g`, `h`"), "{error}");
    assert!(run(text, &[]).unwrap_err().contains("2 functions that format text"));
}

#[test]
fn branches_follow_their_conditions_or_ask() {
    let body = "if c.big:\n    return f\"<1,{c.n}>\"\nreturn f\"<2,{c.n}>\"";
    assert_eq!(f(body, &[("c.big", "True"), ("c.n", "4")]).unwrap(), "<1,4>");
    assert_eq!(f(body, &[("c.big", "0"), ("c.n", "4")]).unwrap(), "<2,4>");
    let error = f(body, &[("c.n", "4")]).unwrap_err();
    assert!(error.contains("--set c.big=VALUE") && error.contains("site.py:2:8"), "{error}");
    let body = "if m > 64: t = 128\nelif m > 16: t = 64\nelse: t = 16\nreturn f\"<{t}>\"";
    for (m, t) in [("65", "<128>"), ("17", "<64>"), ("16", "<16>")] {
        assert_eq!(f(body, &[("m", m)]).unwrap(), t);
    }
    assert!(f(body, &[]).unwrap_err().contains("--set m=VALUE"));
    assert!(f("return f\"<1>\"\nreturn f\"<2>\"", &[]).unwrap() == "<1>");
}

#[test]
fn loops_and_accumulated_text() {
    assert_eq!(f("s = ''\nfor i in range(3): s += f\"{i},\"\nreturn s", &[]).unwrap(), "0,1,2,");
    let body = "lines = []\nfor i, t in enumerate((64, 128)):\n    if t == m: continue\n    lines.append(f\"k<{t}>\")\nother = lines\nother.append('end')\nreturn \"\\n\".join(lines)";
    assert_eq!(f(body, &[("m", "64")]).unwrap(), "k<128>\nend");
    assert_eq!(f("while n < 100: n *= 2\nreturn f\"{n}\"", &[("n", "7")]).unwrap(), "112");
    assert_eq!(f("return ', '.join(str(i * m) for i in range(4) if i % 2)", &[("m", "3")]).unwrap(), "3, 9");
    assert!(f("while True: n = 1\nreturn f\"{n}\"", &[]).unwrap_err().contains("a loop this long"));
}

#[test]
fn what_is_assigned_before_the_text_counts() {
    assert_eq!(f("c.n = c.n * 2\nreturn f\"{c.n}\"", &[("c.n", "4")]).unwrap(), "8");
    assert_eq!(f("n = max(n, 64)\nreturn f\"{n}\"", &[("n", "4")]).unwrap(), "64");
    assert_eq!(f("m = c.m\nreturn f\"{m}\"", &[("c.m", "4")]).unwrap(), "4");
    assert_eq!(f("m = c.m\nt = m\nreturn f\"{t}\"", &[("c.m", "4"), ("m", "9")]).unwrap(), "4");
    assert_eq!(f("a, b = m, n\na, b = b, a\nreturn f\"{a} {b}\"", &[("m", "1"), ("n", "2")]).unwrap(), "2 1");
    assert_eq!(f("cfg = c.sub\nreturn f\"{cfg.m}\"", &[("c.sub.m", "3")]).unwrap(), "3");
    assert_eq!(f("cfg = c.sub\ncfg.m += 1\nreturn f\"{c.sub.m}\"", &[("c.sub.m", "3")]).unwrap(), "4");
}

#[test]
fn what_may_have_changed_is_refused() {
    let given = [("c.m", "4"), ("m", "4")];
    for (body, words) in [
        ("fix(c)\nreturn f\"{c.m}\"", "fix(c)"),
        ("c.normalize()\nreturn f\"{c.m}\"", "c.normalize()"),
        ("m = round_up(m)\nreturn f\"{m}\"", "--set 'round_up(m)=VALUE'"),
        ("if n > 4: m = 64\nreturn f\"{m}\"", "--set n=VALUE"),
        ("for x in c.list: m = x\nreturn f\"{m}\"", "K-SITE-CONSTRUCT"),
        ("try:\n    m = g()\nexcept E:\n    pass\nreturn f\"{m}\"", "this try statement"),
        ("def inner(): return f\"{m}\"\nreturn inner()", "a function within a function"),
        ("x = (m := 5)\nreturn f\"{m}\"", "K-SITE"),
        ("global m\nm = 5\nreturn f\"{m}\"", "this global statement"),
        ("yield f\"{m}\"", "`yield`"),
        ("match m:\n    case 4: return f\"a\"\nreturn f\"b\"", "this match statement"),
        ("for i in range(2): x = probe(i)\nreturn f\"{x}\"", "--set 'probe(i)=VALUE'"),
    ] {
        let error = f(body, &given).unwrap_err();
        assert!(error.contains(words), "{body}\n{error}");
    }
    let error = f(
        "s = ''\nfor i in range(2): s += f\"{c.list[i].x} {p(i)}\"\nreturn s",
        &[("c.list[i].x", "3"), ("p(i)", "1")],
    )
    .unwrap_err();
    assert!(error.contains("the value of `s` is not known"), "{error}");
    let each = [("c.list[0].x", "3"), ("c.list[1].x", "5")];
    assert_eq!(f("return ''.join(f\"{c.list[i].x} \" for i in range(2))", &each).unwrap(), "3 5 ");
}

#[test]
fn expressions_conversions_and_specifications() {
    let body =
        "return f\"{2**3} {c.k:>4} {c.k!r} {-m // 2} {m % 3} {m / 2} {c.w:{m}} {'a' if m else 'b'} {1 < m <= 7}\"";
    let leaves = [("c.k", "7"), ("m", "7"), ("c.w", "x")];
    assert_eq!(f(body, &leaves).unwrap(), "8    7 7 -4 1 3.5 x       a True");
    let body = "return \"{} {1!s} {x:03d}\".format(m, n, x=m) if False else \"{0} {1} {x:03d}\".format(m, n, x=m) + '%03d|%-4s|' % (m, n)";
    assert_eq!(f(body, &[("m", "7"), ("n", "half")]).unwrap(), "7 half 007007|half|");
    assert_eq!(
        f("d = {'a': 1, 2: 'b'}\nd['c'] = m\nreturn f\"{d['a']}{d[2]}{d.get('c', 0)}{d.get('z', 0)}\"", &[("m", "5")])
            .unwrap(),
        "1b50"
    );
    assert!(f("return f\"{m}\" + 3", &[("m", "1")]).unwrap_err().contains("`+` on text and an int"));
    assert!(f("return f\"{m // 0}\"", &[("m", "1")]).unwrap_err().contains("divides by zero"));
}

#[test]
fn modules_classes_and_writers() {
    let text = "import math\nTILE = 64\nARCH = arch()\nclass Gen:\n    def name(self, m):\n        return f\"k{m}\"\n    def make(self, out, m):\n        out.write(f\"{self.name(m)}<{math.ceil(m / TILE)}, {ARCH}, {self.dtype}>\\n\")\n        out.write('end')\n";
    let leaves = [("m", "65"), ("ARCH", "90"), ("self.dtype", "half")];
    assert_eq!(of(text, Some("make"), &leaves).unwrap(), "k65<2, 90, half>\nend");
    assert_eq!(of(text, Some("Gen::make"), &leaves).unwrap(), "k65<2, 90, half>\nend");
    let both = "def f(c, out):\n    code = f\"k<{c.m}>\"\n    out.write(code)\n    return code\n";
    assert_eq!(of(both, Some("f"), &[("c.m", "4")]).unwrap(), "k<4>");
    let two = "def f(c, a, b):\n    a.write(f\"{c.m}\")\n    b.write('x')\n";
    assert!(of(two, Some("f"), &[("c.m", "4")]).unwrap_err().contains("writes to 2 objects: a, b"));
    let none = "def f(c):\n    code = f\"{c.m}\"\n    compile(code)\n";
    assert!(of(none, Some("f"), &[("c.m", "4")]).unwrap_err().contains("returns no text"));
    assert!(of("T = 1\nT = 2\ndef f(): return f\"{T}\"\n", None, &[]).unwrap_err().contains("more than once"));
}

#[test]
fn assertions_and_raises_refuse_values() {
    let body = "assert m <= 16, 'too many'\nif n == 3: raise ValueError(n)\nreturn f\"{m}\"";
    assert_eq!(f(body, &[("m", "16"), ("n", "1")]).unwrap(), "16");
    assert!(f(body, &[("m", "17"), ("n", "1")]).unwrap_err().contains("assert m <= 16"));
    assert!(f(body, &[("m", "16"), ("n", "3")]).unwrap_err().contains("it raises"));
}

#[test]
fn every_byte_has_its_origin() {
    use crate::read::site::SegmentOrigin;
    let leaves = BTreeMap::from([("m".to_owned(), "4".to_owned())]);
    let text = "def f(m):\n    t = m * 2\n    return f\"a{{\\n{t}>\"\n";
    let emission = evaluate(&Source::new("site.py", text), Some("f"), &leaves).unwrap();
    assert_eq!(emission.text(), "a{\n8>");
    for line in &emission.lines {
        assert_eq!(line.segments.iter().map(|s| s.range.len()).sum::<usize>(), line.text.len());
    }
    let SegmentOrigin::Value { at, expr, leaves } = &emission.lines[1].segments[0].from else { panic!("a value") };
    assert_eq!((at.text().as_ref(), expr.as_str(), leaves[0].as_str()), ("t", "t", "m"));
}

/// What may be assigned within an expression, decorated, imported or kept between calls is never the value from before.
#[test]
fn what_an_expression_a_decorator_or_an_import_may_change_is_asked() {
    let n = [("n", "16")];
    for body in [
        "a = 1\nif (a := n) > 3:\n    pass\nreturn f\"<{a}>\"",
        "if (n := n * 2) > 3:\n    pass\nreturn f\"<{n}>\"",
        "a = 1\nif c.big or (a := n):\n    pass\nreturn f\"<{a}>\"",
    ] {
        assert!(f(body, &n).is_err(), "{body}: {:?}", f(body, &n));
    }
    let function = "def f(n):\n    a = h(n)\n    return f\"<{a}>\"\n";
    for before in [
        "def deco(g):\n    return lambda x: 5\n@deco\ndef h(x):\n    return x\n",
        "from builtins import max as h\n",
        "def h(x, y=[]):\n    y.append(x)\n    return len(y)\n",
    ] {
        let text = format!("{before}{function}");
        assert!(of(&text, Some("f"), &n).is_err(), "{text}");
    }
    let shadowed = "from builtins import max as min\ndef f(n):\n    a = min(1, n)\n    return f\"<{a}>\"\n";
    let refused = of(shadowed, Some("f"), &n).unwrap_err();
    assert!(refused.contains("the value of `a` is not known"), "{refused}");
    let kept = "import functools\n@functools.lru_cache(None)\ndef h(x, y=2):\n    return x * y\n";
    assert_eq!(of(&format!("{kept}{function}"), Some("f"), &n).unwrap(), "<32>");
}
