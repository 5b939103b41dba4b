//! The condition of a preprocessor `#if`.

use std::collections::HashMap;

use super::lex::{Token, TokenKind, tokenize};

/// Deeper nesting of macros than this is taken as 0.
const DEEPEST: usize = 16;

/// A condition over object-like macros; an unknown name is 0, as the standard says.
pub struct Condition<'a> {
    words: Vec<String>,
    at: usize,
    macros: &'a HashMap<String, String>,
    depth: usize,
}

impl<'a> Condition<'a> {
    /// The condition made of `tokens`.
    pub fn new(text: &[u8], tokens: &[Token], macros: &'a HashMap<String, String>) -> Self {
        Condition { words: join(text, tokens), at: 0, macros, depth: 0 }
    }

    /// Whether it is not 0.
    pub fn holds(&mut self) -> bool {
        self.binary(0) != 0
    }

    fn peek(&self) -> &str {
        self.words.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.at += 1;
        self.words.get(self.at - 1).cloned().unwrap_or_default()
    }

    fn binary(&mut self, least: u8) -> i64 {
        let mut left = self.unary();
        loop {
            let operator = self.peek().to_owned();
            let Some(level) = precedence(&operator).filter(|level| *level >= least) else { return left };
            self.at += 1;
            let right = self.binary(level + 1);
            left = match operator.as_str() {
                "||" | "or" => i64::from(left != 0 || right != 0),
                "&&" | "and" => i64::from(left != 0 && right != 0),
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right).unwrap_or(0),
                "%" => left.checked_rem(right).unwrap_or(0),
                "&" => left & right,
                _ => left | right,
            };
        }
    }

    fn unary(&mut self) -> i64 {
        self.depth += 1;
        let value = if self.depth > 200 { 0 } else { self.operand() };
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> i64 {
        let word = self.take();
        match word.as_str() {
            "!" | "not" => i64::from(self.unary() == 0),
            "-" => self.unary().wrapping_neg(),
            "+" => self.unary(),
            "(" => {
                let value = self.binary(0);
                if self.peek() == ")" {
                    self.at += 1;
                }
                value
            }
            "defined" => {
                let parenthesis = self.peek() == "(";
                self.at += usize::from(parenthesis);
                let name = self.take();
                self.at += usize::from(parenthesis);
                i64::from(self.macros.contains_key(&name))
            }
            "__has_include" => {
                self.skip_call();
                1
            }
            "true" => 1,
            _ => number(&word).unwrap_or_else(|| self.expand(&word)),
        }
    }

    fn expand(&mut self, name: &str) -> i64 {
        let value = self.macros.get(name).cloned();
        if self.peek() == "(" {
            self.skip_call();
        }
        let Some(value) = value.filter(|_| self.depth < DEEPEST) else { return 0 };
        let tokens = tokenize(value.as_bytes());
        let mut inner = Condition {
            words: join(value.as_bytes(), &tokens.tokens),
            at: 0,
            macros: self.macros,
            depth: self.depth + 1,
        };
        inner.binary(0)
    }

    fn skip_call(&mut self) {
        let mut depth = 0usize;
        while self.at < self.words.len() {
            match self.take().as_str() {
                "(" => depth += 1,
                ")" if depth <= 1 => return,
                ")" => depth -= 1,
                _ => {}
            }
        }
    }
}

fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" | "or" => 1,
        "&&" | "and" => 2,
        "|" => 3,
        "&" => 4,
        "==" | "!=" => 5,
        "<" | ">" | "<=" | ">=" => 6,
        "+" | "-" => 7,
        "*" | "/" | "%" => 8,
        _ => return None,
    })
}

fn number(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// The tokens as texts, with operators of two bytes joined.
fn join(text: &[u8], tokens: &[Token]) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    let mut joined_to = 0;
    for token in tokens {
        let part = String::from_utf8_lossy(token.bytes(text)).into_owned();
        if let (TokenKind::Punct(_), Some(last)) = (token.kind, out.last_mut())
            && token.span.start == joined_to
            && ["||", "&&", "==", "!=", "<=", ">="].contains(&format!("{last}{part}").as_str())
        {
            last.push_str(&part);
        } else {
            out.push(part);
        }
        joined_to = token.span.end;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::Condition;
    use crate::read::cxx::lex::tokenize;

    fn holds(text: &str) -> bool {
        let macros = HashMap::from([("A".to_owned(), "B + 1".to_owned()), ("B".to_owned(), "0x10".to_owned())]);
        Condition::new(text.as_bytes(), &tokenize(text.as_bytes()).tokens, &macros).holds()
    }

    #[test]
    fn operators_macros_and_unknown_names() {
        assert!(holds("A == 17 && !defined(C) || 0"));
        assert!(holds("(A - B) * 2 >= 2 and not C"));
        assert!(!holds("F(1, (2)) > 0"));
        assert!(holds("__has_include(<x.h>)"));
        assert!(!holds("1 / 0"));
        assert!(!holds(""));
    }

    #[test]
    fn deep_nesting_ends() {
        assert!(!holds(&"(".repeat(100_000)));
    }
}
