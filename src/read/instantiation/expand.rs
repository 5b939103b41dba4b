//! Instantiations through a macro that a header defines.

use std::sync::Arc;

use super::angle::split;
use crate::read::cxx::lex::{Token, TokenKind, closing, tokenize};
use crate::source::{Source, Span, Spot};

/// A macro call with its text.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The call.
    pub call: Spot,
    /// The macro's body with the arguments put in; its name says where it comes from.
    pub text: Arc<Source>,
}

/// Every macro call of `call` whose macro one of the headers (or the text itself) defines, in order.
pub fn expand(call: &Arc<Source>, headers: &[Arc<Source>]) -> Vec<Expanded> {
    let bytes = call.bytes();
    let tokens: Vec<Token> = tokenize(bytes).tokens.into_iter().filter(|t| !t.directive).collect();
    let expanded = |(at, token): (usize, &Token)| {
        let called = token.kind == TokenKind::Word && tokens.get(at + 1)?.is(b'(');
        let close = called.then(|| closing(&tokens, at + 1)).flatten()?;
        let name = String::from_utf8_lossy(token.bytes(bytes)).into_owned();
        let arguments: Vec<String> =
            split(&tokens[at + 2..close]).into_iter().map(|span| call.slice(span).into_owned()).collect();
        let defining = headers.iter().chain(std::iter::once(call));
        let text = defining.into_iter().find_map(|header| substituted(header, &name, &arguments))?;
        let (line, _) = call.line_column(token.span.start);
        Some(Expanded {
            call: Spot::new(call, Span::new(token.span.start, tokens[close].span.end)),
            text: Source::new(format!("{}:{line} ({name} expanded)", call.name()), text),
        })
    };
    tokens.iter().enumerate().filter_map(expanded).collect()
}

/// The body of a function-like macro with its parameters replaced.
fn substituted(header: &Source, name: &str, arguments: &[String]) -> Option<String> {
    let bytes = header.bytes();
    let all = tokenize(bytes);
    for directive in &all.directives {
        let from = all.tokens.partition_point(|t| t.span.start < directive.start);
        let until = all.tokens.partition_point(|t| t.span.start < directive.end);
        let words = &all.tokens[from..until];
        let [_, define, macro_name, open, ..] = words else { continue };
        let adjacent = open.is(b'(') && open.span.start == macro_name.span.end;
        if define.bytes(bytes) != b"define" || macro_name.bytes(bytes) != name.as_bytes() || !adjacent {
            continue;
        }
        let close = closing(words, 3)?;
        let parameters: Vec<&[u8]> =
            words[4..close].iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.bytes(bytes)).collect();
        if parameters.len() != arguments.len() {
            continue;
        }
        return Some(body(bytes, &words[close + 1..], &parameters, arguments));
    }
    None
}

fn body(bytes: &[u8], tokens: &[Token], parameters: &[&[u8]], arguments: &[String]) -> String {
    let mut out = String::new();
    let mut end = tokens.first().map_or(0, |t| t.span.start);
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if token.is(b'#') && tokens.get(index + 1).is_some_and(|next| next.is(b'#')) {
            out.truncate(out.trim_end().len());
            index += 2;
            end = tokens.get(index).map_or(end, |t| t.span.start);
            continue;
        }
        let gap = String::from_utf8_lossy(&bytes[end..token.span.start]);
        let newline = gap.contains('\n');
        out.push_str(if newline {
            "\n"
        } else if gap.is_empty() {
            ""
        } else {
            " "
        });
        let position = parameters.iter().position(|p| *p == token.bytes(bytes));
        match position.and_then(|position| arguments.get(position)) {
            Some(argument) => out.push_str(argument),
            None => out.push_str(&String::from_utf8_lossy(token.bytes(bytes))),
        }
        end = token.span.end;
        index += 1;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::{Expanded, expand};
    use crate::read::instantiation::{Select, parse_text};
    use crate::source::Source;

    #[test]
    fn a_macro_of_the_header_gives_the_instantiation() {
        let header = Source::new(
            "gemm.h",
            "#define INSTANCE(RET, M, N, SM) \\\n  template RET run<M, N, Tile##SM>( \\\n      void *, int);\n#define OTHER(x) x\n",
        );
        let call = Source::new("gen.cu", "#include \"gemm.h\"\nnamespace a {\nINSTANCE(int, 64, (1 + 2), _1SM)\n}\n");
        let [Expanded { text, call }] = &expand(&call, std::slice::from_ref(&header))[..] else { panic!("one call") };
        assert_eq!((text.name(), call.place().line), ("gen.cu:3 (INSTANCE expanded)", 3));
        let found = parse_text(text, &Select::default()).unwrap();
        assert_eq!(found.kernel.value, "run");
        let arguments: Vec<_> = found.template_arguments.iter().map(|p| p.value.as_str()).collect();
        assert_eq!(arguments, ["64", "(1 + 2)", "Tile_1SM"]);
        assert!(expand(&Source::new("-", "UNHEARD(1)"), std::slice::from_ref(&header)).is_empty());
        assert!(expand(&Source::new("-", "INSTANCE(1)"), &[header]).is_empty());
    }
}
