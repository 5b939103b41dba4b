//! The parser's cursor and the module level.

use std::collections::HashMap;
use std::sync::Arc;

use super::lexer::{Kind, Token, lex};
use super::location::Locations;
use super::number::{Number, number};
use super::{Module, PtxError, Space};

/// A cursor over the tokens, and what the module has declared so far.
pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    words: HashMap<&'a str, Arc<str>>,
    pub(super) locations: Locations,
}

impl Module {
    /// Reads a PTX text. Instructions are not judged here: a form that cannot be executed is refused when it is reached.
    pub fn parse(text: &str) -> Result<Module, PtxError> {
        let mut parser = Parser { tokens: lex(text)?, at: 0, words: HashMap::new(), locations: Locations::default() };
        let mut module = Module::default();
        while parser.peek().kind != Kind::End {
            parser.item(&mut module)?;
        }
        module.locations = std::mem::take(&mut parser.locations.all);
        Ok(module)
    }
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> Token<'a> {
        let line = self.tokens.last().map_or(1, |t| t.line);
        self.tokens.get(self.at + count).copied().unwrap_or(Token {
            kind: Kind::End,
            text: "the end of the text",
            line,
        })
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, PtxError> {
        Err(PtxError::new(self.peek().line, message))
    }

    pub(super) fn unexpected<T>(&self, wanted: &str) -> Result<T, PtxError> {
        let text: String = self.peek().text.chars().take(60).collect();
        self.fail(format!("{wanted} expected, found `{text}`"))
    }

    /// Takes the mark if it is next.
    pub(super) fn take(&mut self, mark: u8) -> bool {
        let found = self.peek().kind == Kind::Mark(mark);
        self.at += found as usize;
        found
    }

    /// Takes the word if it is next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        let found = token.kind == Kind::Word && token.text == word;
        self.at += found as usize;
        found
    }

    pub(super) fn expect(&mut self, mark: u8) -> Result<(), PtxError> {
        if self.take(mark) { Ok(()) } else { self.unexpected(&format!("`{}`", mark as char)) }
    }

    pub(super) fn word(&mut self) -> Result<&'a str, PtxError> {
        match self.peek() {
            Token { kind: Kind::Word, text, .. } => {
                self.at += 1;
                Ok(text)
            }
            _ => self.unexpected("a name"),
        }
    }

    /// A literal with its sign applied.
    pub(super) fn literal(&mut self) -> Result<Number, PtxError> {
        // An offset may be written `+-4`.
        self.take(b'+');
        let negative = self.take(b'-');
        let token = self.peek();
        let Some(value) = (token.kind == Kind::Number).then(|| number(token.text)).flatten() else {
            return self.unexpected("a number");
        };
        self.at += 1;
        Ok(match (negative, value) {
            (false, value) => value,
            (true, Number::Integer(v)) => Number::Integer(v.wrapping_neg()),
            (true, Number::Single(v)) => Number::Single(v ^ 1 << 31),
            (true, Number::Double(v)) => Number::Double(v ^ 1 << 63),
        })
    }

    pub(super) fn integer(&mut self) -> Result<u64, PtxError> {
        match self.literal()? {
            Number::Integer(value) => Ok(value),
            _ => self.fail("an integer expected"),
        }
    }

    pub(super) fn small(&mut self) -> Result<u32, PtxError> {
        let value = self.integer()?;
        u32::try_from(value).or_else(|_| self.fail(format!("{value} is too large here")))
    }

    /// The shared copy of a word.
    pub(super) fn intern(&mut self, word: &'a str) -> Arc<str> {
        self.words.entry(word).or_insert_with(|| word.into()).clone()
    }

    /// Skips to behind the next `;`.
    pub(super) fn skip_statement(&mut self) {
        while !matches!(self.next().kind, Kind::Mark(b';') | Kind::End) {}
    }

    fn item(&mut self, module: &mut Module) -> Result<(), PtxError> {
        if self.take(b';') {
            return Ok(());
        }
        let mut external = false;
        loop {
            match self.peek().text {
                ".visible" | ".weak" | ".common" => self.at += 1,
                ".extern" => {
                    external = true;
                    self.at += 1;
                }
                _ => break,
            }
        }
        let token = self.peek();
        let word = self.word()?;
        match word {
            ".version" => module.version = self.next().text.into(),
            ".target" => {
                module.target = self.word()?.into();
                while self.take(b',') {
                    self.word()?;
                }
            }
            ".address_size" => {
                if self.integer()? != 64 {
                    return Err(PtxError::new(token.line, "only 64-bit PTX can run"));
                }
            }
            ".file" => {
                let index = self.small()?;
                match self.next() {
                    Token { kind: Kind::Quoted, text, .. } => module.files.insert(index, text.into()),
                    other => return Err(PtxError::new(other.line, "a file name in quotes expected")),
                };
                while self.take(b',') {
                    self.integer()?;
                }
            }
            ".section" => self.section()?,
            ".global" | ".const" | ".shared" => {
                let space = match word {
                    ".global" => Space::Global,
                    ".const" => Space::Constant,
                    _ => Space::Shared,
                };
                let first = self.variable(space, external)?;
                module.variables.push(first);
                self.expect(b';')?;
            }
            ".entry" | ".func" => {
                let function = self.function(word == ".entry", token.line)?;
                module.functions.push(function);
            }
            ".pragma" | ".alias" => self.skip_statement(),
            _ => {
                self.at -= 1;
                return self.unexpected("a directive");
            }
        }
        Ok(())
    }

    /// `.section .name { ... }`: debug information, not read.
    fn section(&mut self) -> Result<(), PtxError> {
        self.word()?;
        self.expect(b'{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.next().kind {
                Kind::Mark(b'{') => depth += 1,
                Kind::Mark(b'}') => depth -= 1,
                Kind::End => return self.fail("this section does not end"),
                _ => {}
            }
        }
        Ok(())
    }
}
