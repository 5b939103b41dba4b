//! Template argument lists and argument lists in tokens.

use crate::read::cxx::lex::{Token, TokenKind, closing};
use crate::source::Span;

/// The index of the `>` that closes the template argument list opened at `open`; none when `<` is a comparison.
pub fn angle_closing(tokens: &[Token], open: usize) -> Option<usize> {
    if !tokens.get(open)?.is(b'<') || shifts(tokens, open) {
        return None;
    }
    let mut depth = 0usize;
    let mut index = open;
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Punct(b'<') if shifts(tokens, index) => index += 1,
            TokenKind::Punct(b'<') => depth += 1,
            TokenKind::Punct(b'>') => {
                let arrow = index > 0 && tokens[index - 1].is(b'-') && tokens[index - 1].span.end == token.span.start;
                if !arrow {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(index);
                    }
                }
            }
            TokenKind::Punct(b'(' | b'[' | b'{') => index = closing(tokens, index)?,
            TokenKind::Punct(b')' | b']' | b'}' | b';') => return None,
            _ => {}
        }
        index += 1;
    }
    None
}

/// Whether `<<` stands at `index`, its two bytes side by side: no template argument list begins so.
fn shifts(tokens: &[Token], index: usize) -> bool {
    let side = |a: &Token, b: &Token| b.is(b'<') && a.span.end == b.span.start;
    tokens.get(index..index + 2).is_some_and(|pair| pair[0].is(b'<') && side(&pair[0], &pair[1]))
}

/// The index of the last `>` of the `>>>` that ends the launch opened at `open`: its bytes stand side by side, and all that
/// follows are the call's arguments.
pub fn launch_closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut index = open + 3;
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Punct(b'>') => {
                let three = tokens.get(index..index + 3).filter(|three| three.iter().all(|t| t.is(b'>')));
                let joined = three.is_some_and(|three| three.windows(2).all(|t| t[0].span.end == t[1].span.start));
                let behind = tokens.get(index + 3);
                let called = behind.is_some_and(|t| t.is(b'(')) && closing(tokens, index + 3) == Some(tokens.len() - 1);
                if joined && (behind.is_none() || called) {
                    return Some(index + 2);
                }
            }
            TokenKind::Punct(b'(' | b'[' | b'{') => index = closing(tokens, index)?,
            TokenKind::Punct(b')' | b']' | b'}' | b';') => return None,
            _ => {}
        }
        index += 1;
    }
    None
}

/// A possibly qualified name with its template arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateId {
    /// The name's bytes, without template arguments.
    pub name: Span,
    /// The arguments; none when there is no list.
    pub arguments: Option<Vec<Span>>,
    /// The index of the first token after it.
    pub next: usize,
}

/// The name that begins at token `at`.
pub fn template_id(tokens: &[Token], at: usize) -> Option<TemplateId> {
    let mut index = at;
    let mut end = at;
    let colons = |index: usize| matches!((tokens.get(index), tokens.get(index + 1)), (Some(a), Some(b)) if a.is(b':') && b.is(b':'));
    if colons(index) {
        index += 2;
    }
    loop {
        if tokens.get(index).is_none_or(|t| t.kind != TokenKind::Word) {
            break;
        }
        index += 1;
        end = index;
        if !colons(index) {
            break;
        }
        index += 2;
    }
    if end == at {
        return None;
    }
    let name = Span::new(tokens[at].span.start, tokens[end - 1].span.end);
    let launch = |i: usize| (i..i + 3).all(|i| tokens.get(i).is_some_and(|t| t.is(b'<')));
    let listed = tokens.get(end).is_some_and(|t| t.is(b'<')) && !launch(end);
    match angle_closing(tokens, end).filter(|_| listed) {
        Some(close) => Some(TemplateId { name, arguments: Some(split(&tokens[end + 1..close])), next: close + 1 }),
        None => Some(TemplateId { name, arguments: None, next: end }),
    }
}

/// The elements between commas outside all brackets, from their first to their last token.
pub fn split(tokens: &[Token]) -> Vec<Span> {
    split_where(tokens, |_| true)
}

/// The same of values: `a < b, c > d` are two of them.
pub fn split_values(tokens: &[Token]) -> Vec<Span> {
    // What follows a template argument list is no operand.
    split_where(tokens, |next| {
        next.is_none_or(|token| matches!(token.kind, TokenKind::Punct(b'(' | b'{' | b':' | b',' | b')')))
    })
}

fn split_where(tokens: &[Token], closes: impl Fn(Option<&Token>) -> bool) -> Vec<Span> {
    let mut out = vec![];
    let mut from = 0;
    let mut index = 0;
    while index <= tokens.len() {
        match tokens.get(index) {
            Some(token) if token.is(b',') => {
                out.extend(range(&tokens[from..index]));
                from = index + 1;
            }
            Some(token) if matches!(token.kind, TokenKind::Punct(b'(' | b'[' | b'{')) => {
                index = closing(tokens, index).unwrap_or(index);
            }
            Some(token) if token.is(b'<') && index > 0 && tokens[index - 1].kind == TokenKind::Word => {
                let close = angle_closing(tokens, index).filter(|close| closes(tokens.get(close + 1)));
                index = close.unwrap_or(index + usize::from(shifts(tokens, index)));
            }
            Some(_) => {}
            None => out.extend(range(&tokens[from..])),
        }
        index += 1;
    }
    out
}

/// From the first to the last token.
pub fn range(tokens: &[Token]) -> Option<Span> {
    Some(Span::new(tokens.first()?.span.start, tokens.last()?.span.end))
}

#[cfg(test)]
mod tests {
    use super::{split, template_id};
    use crate::read::cxx::lex::tokenize;

    fn id(text: &str) -> (String, Option<Vec<String>>) {
        let tokens = tokenize(text.as_bytes()).tokens;
        let id = template_id(&tokens, 0).unwrap();
        let slice = |s: &crate::source::Span| text[s.range()].to_owned();
        (slice(&id.name), id.arguments.map(|a| a.iter().map(slice).collect()))
    }

    #[test]
    fn names_and_nested_lists() {
        let (name, arguments) = id("a::b::k<T, tma<3, x<y>>, (N > 2), decltype(f(a, b)), p->q>(x)");
        assert_eq!(name, "a::b::k");
        assert_eq!(arguments.unwrap(), ["T", "tma<3, x<y>>", "(N > 2)", "decltype(f(a, b))", "p->q"]);
        assert_eq!(id("k<<<1, 2>>>(x)"), ("k".to_owned(), None));
        assert_eq!(id("a < b; c > d"), ("a".to_owned(), None));
        assert_eq!(id("k<>()").1, Some(vec![]));
        assert_eq!(id("k<1 << 3, T>(x)").1.unwrap(), ["1 << 3", "T"]);
        assert_eq!(id("a << b, c > d").1, None);
    }

    #[test]
    fn elements_leave_comments_out() {
        let text = "a /* x, y */, static_cast<F<A, B> *>(p[1, 2]), // z\n false/*r*/";
        let tokens = tokenize(text.as_bytes()).tokens;
        let parts: Vec<_> = split(&tokens).iter().map(|s| &text[s.range()]).collect();
        assert_eq!(parts, ["a", "static_cast<F<A, B> *>(p[1, 2])", "false"]);
    }
}
