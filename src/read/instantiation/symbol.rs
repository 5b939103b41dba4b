//! An instantiation out of a symbol: mangled, as an object file holds it, or demangled, as tools print it.

use std::sync::Arc;

use super::parse::{Select, parse_text};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Instantiation, Origin, Piece, TemplateParameter};
use crate::source::{Source, Span, Spot};

/// Reads the symbol in a text; a mangled one is demangled first, and its pieces are read from it.
///
/// # Errors
///
/// The text is no symbol of a function.
pub fn parse_symbol(source: &Arc<Source>) -> Result<Instantiation, Diagnostics> {
    let text = source.text().trim().to_owned();
    let whole = Spot::new(source, Span::new(0, source.bytes().len()));
    let mangled = text.starts_with("_Z");
    let demangled = if mangled {
        let symbol = cpp_demangle::Symbol::new(text.as_bytes()).ok().and_then(|symbol| symbol.demangle().ok());
        symbol.ok_or_else(|| {
            Diagnostic::error("K-INST-SYMBOL", "this is no mangled C++ name")
                .at(whole.clone(), "in this text")
                .help("give the whole symbol, as `cuobjdump -elf` or a profiler prints it")
        })?
    } else {
        text.clone()
    };
    // What stands behind the parameter list (`[clone …]`, `const`) is no part of the instantiation.
    let end = demangled.rfind(')').map_or(demangled.len(), |at| at + 1);
    let named = format!("template {};", &demangled[..end]);
    let read = parse_text(&Source::new(source.name(), named), &Select::default())
        .or_else(|_| parse_text(&Source::new(source.name(), demangled[..end].to_owned()), &Select::default()));
    let mut out = read.map_err(|_| {
        Diagnostic::error("K-INST-SYMBOL", "the symbol names no function with template arguments or parameters")
            .at(whole.clone(), "in this text")
    })?;
    let expr = mangled.then(|| text.clone());
    let place = whole.place();
    let retell = |piece: &mut Piece| {
        piece.origin = match &expr {
            Some(expr) => Origin::Read { at: place.clone(), expr: Some(expr.clone()) },
            None => Origin::Transcribed { at: place.clone() },
        };
    };
    retell(&mut out.kernel);
    out.template_arguments.iter_mut().for_each(retell);
    out.lines = vec![demangled];
    Ok(out)
}

/// The instantiation of `kernel` in a symbol: the symbol's own, or, where the symbol is that of a wrapper such as
/// `cutlass::device_kernel<KERNEL>`, the one among its template arguments.
pub fn of_kernel(symbol: &Instantiation, kernel: &str) -> Option<Instantiation> {
    let last = |name: &str| name.trim().rsplit("::").next().unwrap_or_default().to_owned();
    if last(&symbol.kernel.value) == last(kernel) {
        return Some(symbol.clone());
    }
    symbol.template_arguments.iter().find_map(|argument| {
        let text = Source::new("symbol", argument.value.as_bytes());
        let mut inner = parse_text(&text, &Select::default()).ok()?;
        if last(&inner.kernel.value) != last(kernel) {
            return None;
        }
        inner.kernel.origin = argument.origin.clone();
        for piece in &mut inner.template_arguments {
            piece.origin = argument.origin.clone();
        }
        inner.lines.clone_from(&symbol.lines);
        Some(inner)
    })
}

/// The template arguments in which a symbol differs from an instantiation that should have given it: index, ours, the
/// symbol's. Casts, suffixes, enumerators and qualifiers that the two spell differently are no difference where the
/// spelling cannot decide; neither is an argument that the instantiation leaves to a default of the header's `parameters`.
pub fn differences(
    ours: &[String],
    symbol: &Instantiation,
    parameters: &[TemplateParameter],
) -> Vec<(usize, String, String)> {
    let left_out = |index: usize| {
        let pack = parameters.last().is_some_and(|last| last.pack);
        index >= ours.len()
            && parameters.get(index).map_or(pack, |parameter| parameter.default.is_some() || parameter.pack)
    };
    let theirs = &symbol.template_arguments;
    let count = ours.len().max(theirs.len());
    (0..count)
        .filter(|index| !left_out(*index))
        .filter_map(|index| {
            let (a, b) =
                (ours.get(index).map_or("", String::as_str), theirs.get(index).map_or("", |p| p.value.as_str()));
            let (x, y) = (Argument::of(a), Argument::of(b));
            (!x.may_equal(&y)).then(|| (index, a.to_owned(), b.to_owned()))
        })
        .collect()
}

#[derive(Debug, PartialEq)]
enum Argument {
    Number(i128),
    /// `(Enumeration)3`: the name of the enumerator is not in a symbol.
    Enumerator,
    Name(String),
}

impl Argument {
    fn of(text: &str) -> Self {
        let text = text.trim();
        if let Some((of, number)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            let builtin = crate::read::cxx::integer::IntegerType::of(of).is_some() || matches!(of, "bool" | "char");
            return match (builtin, number.trim().parse()) {
                (true, Ok(value)) => Argument::Number(value),
                _ => Argument::Enumerator,
            };
        }
        match text {
            "true" => return Argument::Number(1),
            "false" => return Argument::Number(0),
            _ => {}
        }
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
        match digits.parse() {
            Ok(value) => Argument::Number(value),
            Err(_) => Argument::Name(text.split_whitespace().collect()),
        }
    }

    fn may_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Argument::Number(a), Argument::Number(b)) => a == b,
            (Argument::Enumerator, Argument::Name(_)) | (Argument::Name(_), Argument::Enumerator) => true,
            (Argument::Enumerator, Argument::Enumerator) => true,
            (Argument::Name(a), Argument::Name(b)) => {
                let last = |name: &str| name.split('<').next().and_then(|n| n.rsplit("::").next()).map(str::to_owned);
                last(a) == last(b) || a.is_empty() == b.is_empty()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{TemplateParameter, TemplateParameterKind};

    use super::{differences, parse_symbol};
    use crate::source::Source;

    fn values(text: &str) -> (String, Vec<String>) {
        let out = parse_symbol(&Source::new("-", text)).unwrap();
        (out.kernel.value, out.template_arguments.into_iter().map(|p| p.value).collect())
    }

    #[test]
    fn mangled_and_demangled_symbols_give_their_template_arguments() {
        let (kernel, arguments) = values("_ZN2ns4gemmILi64EfLb1EEEvPKfi\n");
        assert_eq!(kernel, "ns::gemm");
        assert_eq!(arguments, ["64", "float", "true"]);
        let (kernel, arguments) = values(
            "void ns::gemm<(ns::Major)0, (unsigned int)128, ns::box<(int)1, float> >(CUtensorMap_st, int) [clone .x]",
        );
        assert_eq!(kernel, "ns::gemm");
        assert_eq!(arguments, ["(ns::Major)0", "(unsigned int)128", "ns::box<(int)1, float>"]);
        assert_eq!(values("_Z6kernelPfi").0, "kernel");
        assert!(parse_symbol(&Source::new("-", "_Znonsense")).is_err());
        assert!(parse_symbol(&Source::new("-", "")).is_err());
    }

    #[test]
    fn a_wrapper_s_symbol_holds_its_kernel() {
        let text = "void cutlass::device_kernel<house::Gemm<house::Shape<(int)0, (int)0>, house::Main<float>, void> >(house::Params)";
        let symbol = parse_symbol(&Source::new("-", text)).unwrap();
        let inner = super::of_kernel(&symbol, "Gemm").unwrap();
        assert_eq!(inner.kernel.value, "house::Gemm");
        let arguments: Vec<_> = inner.template_arguments.iter().map(|a| a.value.as_str()).collect();
        assert_eq!(arguments, ["house::Shape<(int)0, (int)0>", "house::Main<float>", "void"]);
        assert_eq!(super::of_kernel(&symbol, "device_kernel").unwrap().template_arguments.len(), 1);
        assert!(super::of_kernel(&symbol, "Other").is_none());
    }

    #[test]
    fn differences_are_told_only_where_the_spelling_decides() {
        let symbol =
            parse_symbol(&Source::new("-", "void k<(Major)0, (unsigned int)128, (bool)1, cutlass::bfloat16_t>(int)"))
                .unwrap();
        let ours = |list: [&str; 4]| list.map(str::to_owned).to_vec();
        assert_eq!(differences(&ours(["Major::K", "128", "true", "cutlass::bfloat16_t"]), &symbol, &[]), []);
        let told = differences(&ours(["Major::K", "64u", "true", "bfloat16_t"]), &symbol, &[]);
        assert_eq!(told, [(1, "64u".to_owned(), "(unsigned int)128".to_owned())]);
        assert_eq!(differences(&ours(["Major::K", "128", "false", "bf"])[..3], &symbol, &[]).len(), 2);
        let last = |default: Option<&str>| TemplateParameter {
            kind: TemplateParameterKind::Type,
            declared: "typename".into(),
            name: "T".into(),
            default: default.map(str::to_owned),
            pack: false,
        };
        let three = &ours(["Major::K", "128", "true", ""])[..3];
        let parameters = |default| [last(None), last(None), last(None), last(default)];
        assert_eq!(differences(three, &symbol, &parameters(Some("float"))), []);
        assert_eq!(differences(three, &symbol, &parameters(None)).len(), 1);
    }
}
