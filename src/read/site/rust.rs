//! Rust sites: `format!`, `write!` and their relatives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use syn::visit::{self, Visit};

use super::emission::{Emission, SegmentOrigin};
use super::expression::Expressions;
use super::format::{self, Part};
use super::leaves::Leaves;
use super::line::Pieces;
use super::text_site;
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{Source, Spot};

const FORMATTING: &[&str] = &["format", "write", "writeln", "print", "println"];

/// A formatting macro call.
struct Found {
    text: String,
    newline: bool,
    /// The literal as it is written.
    written: String,
    arguments: Vec<(String, String)>,
}

/// The formatting macros of one function, or of the whole text.
#[derive(Default)]
struct Finder {
    found: Vec<Found>,
    /// The function that was named.
    wanted: Option<String>,
    /// The functions that were met.
    functions: Vec<String>,
    /// Nesting in branches, loops and closures.
    nested: usize,
    /// Formatting macros that run only sometimes, or more than once.
    conditional: bool,
    /// Names that are bound within the functions, or assigned.
    rebound: BTreeSet<String>,
}

impl Finder {
    fn function(&mut self, name: &syn::Ident, block: &syn::Block) {
        let name = name.to_string();
        let chosen = self.wanted.as_ref().is_none_or(|wanted| *wanted == name);
        self.functions.push(name);
        if chosen {
            let wanted = self.wanted.take();
            visit::visit_block(self, block);
            self.wanted = wanted;
        }
    }
}

impl Finder {
    /// Notes what an expression assigns, or lends to be changed.
    fn assigned(&mut self, node: &syn::Expr) {
        use syn::BinOp::{
            AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign, ShlAssign, ShrAssign,
            SubAssign,
        };
        let target = match node {
            syn::Expr::Assign(assign) => &assign.left,
            syn::Expr::Binary(syn::ExprBinary {
                left,
                op:
                    AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_) | ShlAssign(_) | ShrAssign(_)
                    | BitAndAssign(_) | BitOrAssign(_) | BitXorAssign(_),
                ..
            }) => left,
            syn::Expr::Reference(syn::ExprReference { mutability: Some(_), expr, .. }) => expr,
            _ => return,
        };
        let mut at = &**target;
        while let syn::Expr::Field(syn::ExprField { base, .. }) | syn::Expr::Index(syn::ExprIndex { expr: base, .. }) =
            at
        {
            at = base;
        }
        if let (true, syn::Expr::Path(path)) = (self.wanted.is_none(), at) {
            self.rebound.extend(path.path.get_ident().map(ToString::to_string));
        }
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.function(&node.sig.ident, &node.block);
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        self.function(&node.sig.ident, &node.block);
    }

    fn visit_pat_ident(&mut self, node: &'a syn::PatIdent) {
        if self.wanted.is_none() {
            self.rebound.insert(node.ident.to_string());
        }
        visit::visit_pat_ident(self, node);
    }

    fn visit_expr(&mut self, node: &'a syn::Expr) {
        use syn::Expr::{Closure, ForLoop, If, Loop, Match, While};
        self.assigned(node);
        let nested = usize::from(matches!(node, Closure(_) | ForLoop(_) | If(_) | Loop(_) | Match(_) | While(_)));
        self.nested += nested;
        visit::visit_expr(self, node);
        self.nested -= nested;
    }

    fn visit_macro(&mut self, node: &'a syn::Macro) {
        let name = node.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if FORMATTING.contains(&name.as_str()) && self.wanted.is_none() {
            self.conditional |= self.nested > 0;
            self.found.extend(found(node, &name));
        }
        visit::visit_macro(self, node);
    }
}

fn found(node: &syn::Macro, name: &str) -> Option<Found> {
    use syn::parse::Parser;
    let list = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
    let all: Vec<syn::Expr> = list.parse2(node.tokens.clone()).ok()?.into_iter().collect();
    let rest = if name.starts_with("write") { all.get(1..)? } else { &all[..] };
    let (first, arguments) = rest.split_first()?;
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = first else { return None };
    let arguments = arguments.iter().enumerate().map(|(index, argument)| match argument {
        syn::Expr::Assign(assign) => (written(&assign.left), written(&assign.right)),
        other => (index.to_string(), written(other)),
    });
    Some(Found {
        text: text.value(),
        newline: name.ends_with("ln"),
        written: text.token().to_string(),
        arguments: arguments.collect(),
    })
}

/// An expression's tokens without blanks between them and punctuation.
fn written(node: &impl quote::ToTokens) -> String {
    crate::read::cxx::document::squeeze(&node.to_token_stream().to_string())
        .replace(" . ", ".")
        .replace(". ", ".")
        .replace(" .", ".")
}

/// Evaluates the formatting macros of a pasted Rust text, in order, under the given leaves.
///
/// # Errors
///
/// The text is no Rust, or formats nothing; leaves are unknown (all at once).
pub fn evaluate(
    source: &Arc<Source>,
    function: Option<&str>,
    leaves: &BTreeMap<String, String>,
) -> Result<Emission, Diagnostics> {
    let text = source.text().into_owned();
    let wanted = function.map(|name| name.rsplit("::").next().unwrap_or_default().to_owned());
    let mut finder = Finder { wanted, ..Finder::default() };
    match (syn::parse_file(&text), syn::parse_str::<syn::Block>(&format!("{{{text}}}"))) {
        (Ok(file), _) => finder.visit_file(&file),
        (Err(_), Ok(block)) => finder.visit_block(&block),
        (Err(error), Err(_)) => {
            return Err(Diagnostic::error("K-SITE-TEMPLATE", format!("this is no Rust: {error}"))
                .at(first_line(source, &text), "begins here")
                .into());
        }
    }
    if let Some(wanted) = function.filter(|_| !finder.functions.iter().any(|f| Some(f) == finder.wanted.as_ref())) {
        let all: Vec<_> = finder.functions.iter().map(|name| (name.clone(), first_line(source, &text))).collect();
        return Err(super::report::missing(source, wanted, &all).into());
    }
    if finder.conditional {
        return Err(Diagnostic::error(
            "K-SITE-CONSTRUCT",
            "a text that is formatted in a branch or a loop is not evaluated",
        )
        .at(first_line(source, &text), "in this site")
        .help("paste the text that the generator printed, and give that as the site")
        .into());
    }
    if finder.found.is_empty() {
        return Err(Diagnostic::error("K-SITE-EMPTY", "the text formats no string")
            .at(first_line(source, &text), "begins here")
            .help("paste a `format!(…)` or a `write!(…)`")
            .into());
    }
    let mut expressions = Expressions::new(source, Leaves::new(leaves));
    let mut pieces = Pieces::default();
    let mut from = 0;
    for found in &finder.found {
        from = text[from..].find(&found.written).map_or(from, |at| from + at);
        let at = Spot::new(source, from..from + found.written.len().min(text.len() - from));
        let body = Pieces(vec![(found.text.clone(), SegmentOrigin::Literal { at })]);
        let printed = fill(&mut expressions, found, &body, &mut pieces);
        // Bindings are not evaluated: what was given may be the value on entry.
        for name in finder.rebound.iter().filter(|name| printed.iter().any(|expr| names(expr, name))) {
            let given = leaves.keys().find(|given| names(given, name));
            let at = Spot::new(source, bound_at(&text, name));
            expressions.leaves.stale.extend(given.map(|given| (given.clone(), at)));
        }
        if found.newline {
            pieces.0.push(("\n".to_owned(), body.0[0].1.clone()));
        }
    }
    text_site::finish(source, expressions, pieces)
}

/// Whether an expression mentions a name.
fn names(expression: &str, name: &str) -> bool {
    expression.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Where a text binds a name, or mentions it first.
fn bound_at(text: &str, name: &str) -> std::ops::Range<usize> {
    let at = [format!("let {name}"), format!("let mut {name}"), format!("{name} ="), name.to_owned()]
        .iter()
        .find_map(|pattern| text.find(pattern.as_str()).map(|at| at..at + pattern.len()));
    at.unwrap_or(0..0)
}

fn first_line(source: &Arc<Source>, text: &str) -> Spot {
    Spot::new(source, 0..text.find('\n').unwrap_or(text.len()))
}

/// Appends the text of one macro; gives the expressions that it prints.
fn fill(expressions: &mut Expressions, found: &Found, body: &Pieces, out: &mut Pieces) -> Vec<String> {
    let parts = match format::parse(&found.text) {
        Ok(parts) => parts,
        Err(what) => {
            expressions.refuse(body, &what);
            return vec![];
        }
    };
    let mut printed = vec![];
    let mut next = 0;
    for part in parts {
        match part {
            Part::Literal(range) => out.0.extend(body.slice(range).0),
            Part::Field(field) => {
                let name = if field.name.is_empty() { next.to_string() } else { field.name.clone() };
                next += usize::from(field.name.is_empty());
                let expr = found.arguments.iter().find(|(key, _)| *key == name).map_or(name, |(_, expr)| expr.clone());
                printed.push(expr.clone());
                if let Some((value, origin)) = expressions.leaf(&expr, body) {
                    match format::print(&value, &field.spec) {
                        Some(text) => out.0.push((text, origin)),
                        None => expressions.refuse(body, &format!("the format `{{:{}}}` of such a value", field.spec)),
                    }
                }
            }
        }
    }
    printed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::evaluate;
    use crate::diag::draw;
    use crate::source::Source;

    fn run(text: &str, leaves: &[(&str, &str)]) -> Result<String, String> {
        let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        evaluate(&Source::new("site.rs", text), None, &leaves)
            .map(|e| e.text())
            .map_err(|e| e.iter().map(|d| draw(d, false) + "\n").collect())
    }

    #[test]
    fn captured_named_and_positional_arguments() {
        let text = "fn make(dtype: &str) -> String {\n    format!(\"extern \\\"C\\\" void k({dtype} *p) {{ n = {n_outputs} + {}; }}\", self.rows * 2, n_outputs = out.len())\n}";
        let leaves = [("dtype", "half"), ("self.rows", "4"), ("out.len()", "7")];
        assert_eq!(run(text, &leaves).unwrap(), "extern \"C\" void k(half *p) { n = 7 + 8; }");
        let error = run(text, &leaves[..1]).unwrap_err();
        assert!(error.contains("--set self.rows=VALUE") && error.contains("--set 'out.len()=VALUE'"), "{error}");
    }

    #[test]
    fn a_named_function_is_the_one_and_branches_are_refused() {
        let text = "fn f() -> String { format!(\"<1,{}>\", m) }\nfn h() -> String { format!(\"<2,{}>\", m) }";
        let leaves = BTreeMap::from([("m".to_owned(), "4".to_owned())]);
        let of = |text: &str, name| evaluate(&Source::new("site.rs", text), Some(name), &leaves).map(|e| e.text());
        assert_eq!(of(text, "f").unwrap(), "<1,4>");
        assert_eq!(of(text, "h").unwrap(), "<2,4>");
        assert!(of(text, "nope").is_err());
        assert!(of("fn f() -> String { if b { format!(\"a\") } else { format!(\"b\") } }", "f").is_err());
    }

    #[test]
    fn writes_follow_one_another() {
        let text = "writeln!(out, \"using T = {};\", t)?;\nwrite!(out, \"k<T, {0}, {0}>();\", n)?;";
        assert_eq!(run(text, &[("t", "float"), ("n", "3")]).unwrap(), "using T = float;\nk<T, 3, 3>();");
        assert!(run("fn (", &[]).unwrap_err().contains("no Rust"));
        assert!(run("let x = 3;", &[]).unwrap_err().contains("formats no string"));
    }

    #[test]
    fn names_that_are_bound_or_assigned_before_they_are_printed_are_told() {
        let warned = |text: &str| {
            let leaves = BTreeMap::from([("n".to_owned(), "16".to_owned())]);
            let emission = evaluate(&Source::new("site.rs", text), None, &leaves).unwrap();
            emission.warnings.iter().any(|d| d.code == "K-SITE-STALE")
        };
        assert!(warned("fn f(n: i32) -> String { let n = n * 2; format!(\"<{n}>\") }"));
        assert!(warned("fn f(mut n: i32) -> String { n += 1; format!(\"<{}>\", n + 1) }"));
        assert!(warned("fn f(mut n: i32) -> String { grow(&mut n); format!(\"<{n}>\") }"));
        assert!(!warned("fn f(n: i32) -> String { let m = n * 2; use_it(m); format!(\"<{n}>\") }"));
    }
}
