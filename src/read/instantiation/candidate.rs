//! Statements that name an instantiation.

use super::angle::{TemplateId, launch_closing, range, split, split_values, template_id};
use super::statement::Statement;
use crate::read::cxx::lex::{Token, TokenKind, closing};
use crate::source::Span;

/// How a statement names it, strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `using Kernel = kernel<64, 128>;`: what is launched is the type; only a kernel that is asked for by name.
    Alias,
    /// `kernel(a, b);`
    PlainCall,
    /// `kernel<64, 128>`
    Bare,
    /// `kernel<64, 128>(a, b);`
    Call,
    /// `&kernel<64, 128>`
    Address,
    /// `template … kernel<64, 128>(…);`, `template <> … kernel<64, 128>(…) { … }`
    Explicit,
    /// `kernel<64, 128><<<grid, block>>>(a, b);`
    Launch,
}

/// A statement that names an instantiation.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// How.
    pub form: Form,
    /// Kernel and template arguments.
    pub id: TemplateId,
    /// Call arguments.
    pub arguments: Vec<Span>,
    /// What stands within `<<<` and `>>>`.
    pub launch: Vec<Span>,
    /// The statement.
    pub statement: Statement,
}

const NO_KERNELS: &[&[u8]] = &[
    b"if",
    b"while",
    b"for",
    b"switch",
    b"return",
    b"sizeof",
    b"static_assert",
    b"assert",
    b"printf",
    b"static_cast",
    b"reinterpret_cast",
    b"const_cast",
    b"decltype",
    b"else",
    b"using",
    b"namespace",
    b"struct",
    b"typedef",
    b"__syncthreads",
];

/// The instantiation that a statement names, if it does.
pub fn candidate(text: &[u8], tokens: &[Token], statement: &Statement) -> Option<Candidate> {
    let tokens = &tokens[..statement.until];
    let at = statement.from;
    let make =
        |form, id, arguments| Some(Candidate { form, id, arguments, launch: vec![], statement: statement.clone() });
    let first = tokens.get(at)?;
    if first.bytes(text) == b"template" && !tokens.get(at + 1)?.is(b'<') {
        return make(Form::Explicit, explicit(tokens, at + 1)?, vec![]);
    }
    let specialises = tokens.get(at + 1).is_some_and(|t| t.is(b'<')) && tokens.get(at + 2).is_some_and(|t| t.is(b'>'));
    if first.bytes(text) == b"template" && specialises {
        return make(Form::Explicit, explicit(tokens, at + 3)?, vec![]);
    }
    if first.bytes(text) == b"using" && tokens.get(at + 2)?.is(b'=') {
        let start = (at + 3..tokens.len()).find(|index| tokens[*index].bytes(text) != b"typename")?;
        let id = template_id(tokens, start).filter(|id| id.next == tokens.len() && id.arguments.is_some())?;
        return make(Form::Alias, id, vec![]);
    }
    if let Some(id) = address(tokens, at) {
        return make(Form::Address, id, vec![]);
    }
    let id = template_id(tokens, at)?;
    if NO_KERNELS.contains(&&text[id.name.range()]) {
        return None;
    }
    let mut next = id.next;
    let launched = (next..next + 3).all(|i| tokens.get(i).is_some_and(|t| t.is(b'<')));
    let mut launch = vec![];
    if launched {
        let close = launch_closing(tokens, next)?;
        launch = split_values(tokens.get(next + 3..close.checked_sub(2)?)?);
        next = close + 1;
    }
    if next == tokens.len() {
        return id.arguments.is_some().then(|| make(Form::Bare, id, vec![])).flatten();
    }
    if !tokens[next].is(b'(') {
        return None;
    }
    let close = closing(tokens, next)?;
    if close + 1 != tokens.len() {
        return None;
    }
    let form = match (launched, id.arguments.is_some()) {
        (true, _) => Form::Launch,
        (false, true) => Form::Call,
        (false, false) => Form::PlainCall,
    };
    let arguments = split(&tokens[next + 1..close]);
    Some(Candidate { form, id, arguments, launch, statement: statement.clone() })
}

/// The name before the parameter list of an explicit instantiation.
fn explicit(tokens: &[Token], from: usize) -> Option<TemplateId> {
    let mut index = from;
    while index < tokens.len() {
        match template_id(tokens, index) {
            Some(id) if tokens.get(id.next).is_some_and(|t| t.is(b'(')) => {
                if closing(tokens, id.next).is_some_and(|close| close + 1 == tokens.len()) {
                    return Some(id);
                }
                index = closing(tokens, id.next)? + 1;
            }
            Some(id) if id.next == tokens.len() => return Some(id),
            Some(id) => index = id.next,
            None => index += 1,
        }
    }
    None
}

/// The name behind the first `&name<…>`.
fn address(tokens: &[Token], from: usize) -> Option<TemplateId> {
    for index in from..tokens.len() {
        let unary = index == from
            || !matches!(
                tokens[index - 1].kind,
                TokenKind::Word | TokenKind::Number | TokenKind::Punct(b')' | b']' | b'&' | b'>')
            );
        if tokens[index].is(b'&') && unary {
            let id = template_id(tokens, index + 1)?;
            return id.arguments.is_some().then_some(id);
        }
    }
    None
}

/// What a statement declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The name.
    pub name: Span,
    /// For an alias, the type; for an object, its type and what follows its name.
    pub text: Vec<Span>,
    /// The type.
    pub of: Option<TemplateId>,
    /// Whether it is an alias.
    pub alias: bool,
}

/// The alias or the object that a statement declares, if it does.
pub fn declared(text: &[u8], tokens: &[Token], statement: &Statement) -> Option<Declared> {
    let tokens = &tokens[..statement.until];
    let mut at = statement.from;
    let word = |index: usize| tokens.get(index).filter(|t| t.kind == TokenKind::Word).map(|t| t.bytes(text));
    if word(at) == Some(b"using") {
        let name = tokens.get(at + 1).filter(|t| t.kind == TokenKind::Word)?;
        tokens.get(at + 2).filter(|t| t.is(b'='))?;
        return alias(text, tokens, name.span, at + 3, tokens.len());
    }
    if word(at) == Some(b"typedef") {
        let name = tokens.last().filter(|t| t.kind == TokenKind::Word)?;
        return alias(text, tokens, name.span, at + 1, tokens.len() - 1);
    }
    while matches!(word(at), Some(b"const" | b"constexpr" | b"static" | b"inline" | b"volatile")) {
        at += 1;
    }
    let of = template_id(tokens, at)?;
    if matches!(&text[of.name.range()], b"return" | b"using" | b"namespace" | b"template" | b"goto" | b"else") {
        return None;
    }
    let mut next = of.next;
    while tokens.get(next).is_some_and(|t| t.is(b'*') || t.is(b'&')) || word(next) == Some(b"const") {
        next += 1;
    }
    let name = tokens.get(next).filter(|t| t.kind == TokenKind::Word)?;
    let rest = &tokens[next + 1..];
    if !rest.first().is_some_and(|t| matches!(t.kind, TokenKind::Punct(b'(' | b'=' | b'{'))) {
        return None;
    }
    let of_text = range(&tokens[at..next])?;
    Some(Declared {
        name: name.span,
        text: [Some(of_text), range(rest)].into_iter().flatten().collect(),
        of: Some(of),
        alias: false,
    })
}

fn alias(text: &[u8], tokens: &[Token], name: Span, from: usize, until: usize) -> Option<Declared> {
    let mut start = from;
    while tokens.get(start).is_some_and(|t| t.bytes(text) == b"typename") {
        start += 1;
    }
    // `Template<…>`, or a member of it.
    let of =
        template_id(tokens, start).filter(|id| id.next == until || tokens.get(id.next).is_some_and(|t| t.is(b':')));
    Some(Declared { name, text: vec![range(tokens.get(from..until)?)?], of, alias: true })
}
