//! C++ tokens with their byte ranges, enough for masking and for splitting statements.

use crate::source::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or keyword.
    Word,
    /// A number.
    Number,
    /// A string or character literal, prefix included.
    Text,
    /// One byte of punctuation.
    Punct(u8),
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
    /// Whether it stands in a preprocessor directive.
    pub directive: bool,
}

impl Token {
    /// Its bytes.
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.span.range()]
    }

    /// Whether it is this punctuation.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }
}

/// A text cut into tokens.
#[derive(Debug, Default)]
pub struct Tokens {
    /// In order.
    pub tokens: Vec<Token>,
    /// Comments, in order.
    pub comments: Vec<Span>,
    /// Preprocessor directives, continuation lines included, in order.
    pub directives: Vec<Span>,
}

/// Cuts a text into tokens; an unterminated literal or comment ends with its line or with the text.
pub fn tokenize(text: &[u8]) -> Tokens {
    Lexer { text, at: 0, out: Tokens::default(), line_begins: true, directive: None }.run()
}

/// The index of the token that closes the bracket at `open`, of the kinds `( [ {`; none when it is never closed.
pub fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    out: Tokens,
    line_begins: bool,
    directive: Option<usize>,
}

impl Lexer<'_> {
    fn run(mut self) -> Tokens {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => self.newline(),
                b'/' if self.text[self.at..].starts_with(b"//") => {
                    let end = self.line_end(self.at);
                    self.comment(end);
                }
                b'/' if self.text[self.at..].starts_with(b"/*") => {
                    let rest = &self.text[self.at + 2..];
                    let length = rest.windows(2).position(|w| w == b"*/").map_or(rest.len(), |p| p + 2);
                    self.comment(self.at + 2 + length);
                }
                b'#' if self.line_begins => {
                    self.directive = Some(self.at);
                    self.push(TokenKind::Punct(b'#'), self.at + 1);
                }
                b'"' => {
                    let end = self.quoted(self.at, b'"');
                    self.push(TokenKind::Text, end);
                }
                b'\'' => {
                    let end = self.quoted(self.at, b'\'');
                    self.push(TokenKind::Text, end);
                }
                b'0'..=b'9' => self.number(),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => self.word(),
                b'\\' | b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                other => self.push(TokenKind::Punct(other), self.at + 1),
            }
        }
        self.end_directive();
        self.out
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        let token = Token { kind, span: Span::new(self.at, end), directive: self.directive.is_some() };
        self.out.tokens.push(token);
        self.line_begins = false;
        self.at = end;
    }

    fn comment(&mut self, end: usize) {
        self.out.comments.push(Span::new(self.at, end));
        self.at = end;
    }

    fn newline(&mut self) {
        let line = &self.text[..self.at];
        let continued = line.ends_with(b"\\") || line.ends_with(b"\\\r");
        if !continued {
            self.end_directive();
            self.line_begins = true;
        }
        self.at += 1;
    }

    fn end_directive(&mut self) {
        if let Some(start) = self.directive.take() {
            self.out.directives.push(Span::new(start, self.at));
        }
    }

    /// The end of the line that `from` is in, its newline excluded, continuation lines included.
    fn line_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(length) = memchr::memchr(b'\n', &self.text[at..]) {
            let end = at + length;
            if !(self.text[..end].ends_with(b"\\") || self.text[..end].ends_with(b"\\\r")) {
                return end;
            }
            at = end + 1;
        }
        self.text.len()
    }

    fn quoted(&self, open: usize, quote: u8) -> usize {
        let mut at = open + 1;
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'\\' => at += 2,
                b'\n' => return at,
                _ if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.text.len()
    }

    fn number(&mut self) {
        let mut end = self.at + 1;
        while let Some(&byte) = self.text.get(end) {
            let exponent = matches!(byte, b'+' | b'-') && matches!(self.text[end - 1], b'e' | b'E' | b'p' | b'P');
            let hexadecimal = self.text[self.at..].starts_with(b"0x") || self.text[self.at..].starts_with(b"0X");
            let exponent = exponent && !(hexadecimal && matches!(self.text[end - 1], b'e' | b'E'));
            let separator = byte == b'\'' && self.text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || separator || exponent) {
                break;
            }
            end += 1;
        }
        self.push(TokenKind::Number, end);
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let length =
            rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80)).unwrap_or(rest.len());
        let (word, end) = (&rest[..length], self.at + length);
        match self.text.get(end) {
            Some(b'"') if matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => {
                let end = self.raw_end(end);
                self.push(TokenKind::Text, end);
            }
            Some(quote @ (b'"' | b'\'')) if matches!(word, b"L" | b"u" | b"U" | b"u8") => {
                let end = self.quoted(end, *quote);
                self.push(TokenKind::Text, end);
            }
            _ => self.push(TokenKind::Word, end),
        }
    }

    /// The end of the raw string whose quote is at `quote`.
    fn raw_end(&self, quote: usize) -> usize {
        let rest = &self.text[quote + 1..];
        let Some(open) = rest.iter().take(17).position(|b| *b == b'(') else {
            return self.quoted(quote, b'"');
        };
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..open]);
        close.push(b'"');
        memchr::memmem::find(rest, &close).map_or(self.text.len(), |p| quote + 1 + p + close.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, closing, tokenize};

    fn texts(text: &str) -> Vec<&str> {
        tokenize(text.as_bytes()).tokens.iter().map(|t| &text[t.span.range()]).collect()
    }

    #[test]
    fn comments_vanish_and_literals_stay_whole() {
        let text = r#"e("a // b", /* x */ 1'000u, 'c', R"x(d ")" e)x") // end"#;
        assert_eq!(texts(text), ["e", "(", r#""a // b""#, ",", "1'000u", ",", "'c'", ",", r#"R"x(d ")" e)x""#, ")"]);
        assert_eq!(tokenize(text.as_bytes()).comments.len(), 2);
    }

    #[test]
    fn a_directive_reaches_over_its_continuation_lines() {
        let text = "#if A \\\n and B\nint x; # y\n";
        let tokens = tokenize(text.as_bytes());
        assert_eq!(tokens.directives.len(), 1);
        assert_eq!(tokens.directives[0].range(), 0..14);
        let outside: Vec<_> = tokens.tokens.iter().filter(|t| !t.directive).collect();
        assert_eq!(outside.len(), 5);
    }

    #[test]
    fn exponents_belong_to_their_number_but_a_hex_digit_e_does_not_take_a_sign() {
        assert_eq!(texts("1e-5 0x1p-3f 0xE-1"), ["1e-5", "0x1p-3f", "0xE", "-", "1"]);
    }

    #[test]
    fn unterminated_text_ends_with_its_line() {
        assert_eq!(texts("\"abc\nx /* y"), ["\"abc", "x"]);
        assert_eq!(texts("R\"(abc"), ["R\"(abc"]);
    }

    #[test]
    fn the_closing_bracket_is_found_over_others() {
        let tokens = tokenize(b"f(a[1], {2}) ;").tokens;
        let open = tokens.iter().position(|t| t.kind == TokenKind::Punct(b'(')).unwrap();
        assert!(tokens[closing(&tokens, open).unwrap()].is(b')'));
        assert_eq!(closing(&tokenize(b"(a").tokens, 0), None);
    }
}
