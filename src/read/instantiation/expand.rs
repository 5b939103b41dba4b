//! Instantiations through a macro that a header defines.

use std::sync::Arc;

use super::angle::split;
use crate::read::cxx::lex::{Token, TokenKind, closing, tokenize};
use crate::source::Source;

/// The text of the first macro call of `call` whose macro one of the headers defines, with the arguments put in; none
/// when there is no such call. The result's name says where it comes from.
pub fn expand(call: &Arc<Source>, headers: &[Arc<Source>]) -> Option<Arc<Source>> {
    let bytes = call.bytes();
    let tokens: Vec<Token> = tokenize(bytes).tokens.into_iter().filter(|t| !t.directive).collect();
    tokens.iter().enumerate().find_map(|(at, token)| {
        let called = token.kind == TokenKind::Word && tokens.get(at + 1)?.is(b'(');
        let close = called.then(|| closing(&tokens, at + 1)).flatten()?;
        let name = String::from_utf8_lossy(token.bytes(bytes)).into_owned();
        let arguments: Vec<String> =
            split(&tokens[at + 2..close]).into_iter().map(|span| call.slice(span).into_owned()).collect();
        let text = headers.iter().find_map(|header| substituted(header, &name, &arguments))?;
        Some(Source::new(format!("{} ({name} expanded)", call.name()), text))
    })
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
    use super::expand;
    use crate::read::instantiation::{Select, parse_text};
    use crate::source::Source;

    #[test]
    fn a_macro_of_the_header_gives_the_instantiation() {
        let header = Source::new(
            "gemm.h",
            "#define INSTANCE(RET, M, N, SM) \\\n  template RET run<M, N, Tile##SM>( \\\n      void *, int);\n#define OTHER(x) x\n",
        );
        let call = Source::new("gen.cu", "#include \"gemm.h\"\nnamespace a {\nINSTANCE(int, 64, (1 + 2), _1SM)\n}\n");
        let text = expand(&call, std::slice::from_ref(&header)).unwrap();
        assert_eq!(text.name(), "gen.cu (INSTANCE expanded)");
        let found = parse_text(&text, &Select::default()).unwrap();
        assert_eq!(found.kernel.value, "run");
        let arguments: Vec<_> = found.template_arguments.iter().map(|p| p.value.as_str()).collect();
        assert_eq!(arguments, ["64", "(1 + 2)", "Tile_1SM"]);
        assert!(expand(&Source::new("-", "UNHEARD(1)"), std::slice::from_ref(&header)).is_none());
        assert!(expand(&Source::new("-", "INSTANCE(1)"), &[header]).is_none());
    }
}
