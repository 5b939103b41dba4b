//! Statements of a function's body.

use std::collections::HashMap;
use std::sync::Arc;

use super::lexer::Kind;
use super::parser::Parser;
use super::variable::type_bytes;
use super::{Body, Call, Class, Instruction, Label, Operand, Parameter, PtxError, Register, Space};

/// The most registers of a class that a function may declare.
const MOST_REGISTERS: u32 = 1 << 18;

/// What a scope declares.
#[derive(Default)]
pub(super) struct Scope {
    id: u32,
    /// Single registers.
    single: HashMap<String, Register>,
    /// `%r<n>`: prefix to the first register and their number.
    ranges: HashMap<String, (Register, u32)>,
    /// Variables by name.
    variables: HashMap<String, u32>,
}

/// The body being read.
pub(super) struct Reading {
    pub(super) body: Body,
    pub(super) scopes: Vec<Scope>,
    pub(super) parameters: HashMap<String, u32>,
    location: Option<u32>,
}

impl Reading {
    pub(super) fn register(&self, name: &str) -> Option<Register> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        let number = number.parse::<u32>().ok();
        self.scopes.iter().rev().find_map(|scope| {
            let ranged = number.and_then(|n| {
                let &(first, count) = scope.ranges.get(prefix)?;
                let step = if first.class == Class::Quad { 2 } else { 1 };
                (n < count).then(|| Register { index: first.index + n * step, ..first })
            });
            ranged.or_else(|| scope.single.get(name).copied())
        })
    }

    pub(super) fn variable(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.variables.get(name).copied())
    }

    fn scope(&self) -> u32 {
        self.scopes.last().map_or(0, |s| s.id)
    }
}

impl<'a> Parser<'a> {
    /// The body behind a head, from its `{`.
    pub(super) fn body(&mut self, returns: &[Parameter], parameters: &[Parameter]) -> Result<Body, PtxError> {
        self.expect(b'{')?;
        let names = returns.iter().chain(parameters).enumerate().map(|(i, p)| (p.name.clone(), i as u32)).collect();
        let body = Body { scopes: vec![0], ..Body::default() };
        let mut reading = Reading { body, scopes: vec![Scope::default()], parameters: names, location: None };
        while !reading.scopes.is_empty() {
            self.statement(&mut reading)?;
        }
        Ok(reading.body)
    }

    fn statement(&mut self, reading: &mut Reading) -> Result<(), PtxError> {
        let token = self.peek();
        match token.kind {
            Kind::Mark(b'{') => {
                self.next();
                let id = reading.body.scopes.len() as u32;
                reading.body.scopes.push(reading.scope());
                reading.scopes.push(Scope { id, ..Scope::default() });
            }
            Kind::Mark(b'}') => {
                self.next();
                reading.scopes.pop();
            }
            Kind::Mark(b';') => {
                self.next();
            }
            Kind::Mark(b'@') => {
                self.next();
                let negated = self.take(b'!');
                let name = self.word()?;
                match reading.register(name) {
                    Some(register) if register.class == Class::Predicate => {
                        self.instruction(reading, Some((register, negated)))?;
                    }
                    _ => return self.fail(format!("`{name}` is not a predicate register")),
                }
            }
            Kind::Word if self.ahead(1).kind == Kind::Mark(b':') => {
                let name = self.intern(token.text);
                self.next();
                self.next();
                let label = Label { scope: reading.scope(), name };
                if self.take_word(".branchtargets") {
                    let mut targets = Vec::new();
                    while !self.take(b';') {
                        let target = self.word()?;
                        targets.push(self.intern(target));
                        self.take(b',');
                    }
                    reading.body.tables.insert(label, targets);
                    return Ok(());
                }
                if matches!(self.peek().text, ".callprototype" | ".calltargets") {
                    self.skip_statement();
                    return Ok(());
                }
                reading.body.labels.insert(label, reading.body.instructions.len());
            }
            Kind::Word => match token.text {
                text if text.starts_with(".reg") => self.registers(reading)?,
                ".local" | ".shared" | ".param" => {
                    self.next();
                    let space = match token.text {
                        ".local" => Space::Local,
                        ".shared" => Space::Shared,
                        _ => Space::Parameter,
                    };
                    let variable = self.variable(space, false)?;
                    self.expect(b';')?;
                    let index = reading.body.variables.len() as u32;
                    if let Some(scope) = reading.scopes.last_mut() {
                        scope.variables.insert(variable.name.clone(), index);
                    }
                    reading.body.variables.push(variable);
                }
                ".loc" => self.location(reading)?,
                ".pragma" => self.skip_statement(),
                _ => self.instruction(reading, None)?,
            },
            _ => return self.unexpected("a statement"),
        }
        Ok(())
    }

    /// `.loc file line column [, function_name label[+n], inlined_at file line column]`
    fn location(&mut self, reading: &mut Reading) -> Result<(), PtxError> {
        self.next();
        let at = (self.small()?, self.small()?, self.small()?);
        let mut call = None;
        while self.take(b',') {
            match self.word()? {
                "function_name" => {
                    self.word()?;
                    if self.take(b'+') {
                        self.integer()?;
                    }
                }
                "inlined_at" => call = Some((self.small()?, self.small()?, self.small()?)),
                other => return self.fail(format!("unknown part `{other}` of .loc")),
            }
        }
        // Line 0 marks code that no line stands for: what came before says more.
        if at.1 != 0 {
            reading.location = Some(self.locations.add(at, call));
        }
        Ok(())
    }

    /// `.reg .type name, name<count>, ...;`, also written `.reg.type`.
    fn registers(&mut self, reading: &mut Reading) -> Result<(), PtxError> {
        let name = match self.word()? {
            ".reg" => self.word()?,
            joined => &joined[".reg".len()..],
        };
        let (class, bits) = match type_bytes(name) {
            None if name == ".pred" => (Class::Predicate, 1),
            Some(16) => (Class::Quad, 128),
            Some(8) => (Class::Double, 64),
            Some(bytes) => (Class::Word, bytes as u8 * 8),
            None => return self.fail(format!("unknown register type `{name}`")),
        };
        let slot = class.slot();
        let step = if class == Class::Quad { 2 } else { 1 };
        loop {
            let name = self.word()?.to_string();
            let range = if self.take(b'<') {
                let count = self.small()?;
                self.expect(b'>')?;
                Some(count)
            } else {
                None
            };
            let first = reading.body.registers[slot];
            let end = range.unwrap_or(1).checked_mul(step).and_then(|n| first.checked_add(n));
            match end {
                Some(end) if end <= MOST_REGISTERS => reading.body.registers[slot] = end,
                _ => return self.fail(format!("more than {MOST_REGISTERS} registers")),
            }
            if let Some(scope) = reading.scopes.last_mut() {
                let register = Register { class, index: first, bits };
                match range {
                    Some(count) => {
                        scope.ranges.insert(name, (register, count));
                    }
                    None => {
                        scope.single.insert(name, register);
                    }
                }
            }
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b';')
    }

    fn instruction(&mut self, reading: &mut Reading, guard: Option<(Register, bool)>) -> Result<(), PtxError> {
        let line = self.peek().line;
        let word = self.word()?;
        let opcode: Arc<str> = self.intern(word);
        let (mut operands, mut call) = (Vec::new(), None);
        if word == "call" || word.starts_with("call.") {
            call = Some(Box::new(self.call(reading)?));
        } else {
            while !self.take(b';') {
                operands.push(self.operand(reading, 0)?);
                if !self.take(b',') && self.peek().kind != Kind::Mark(b';') {
                    return self.unexpected("`,` or `;`");
                }
            }
        }
        let (scope, location) = (reading.scope(), reading.location);
        reading.body.instructions.push(Instruction { guard, opcode, operands, call, line, scope, location });
        Ok(())
    }

    /// `[(returns),] target [, (arguments)] [, prototype];`
    fn call(&mut self, reading: &Reading) -> Result<Call, PtxError> {
        let mut returns = Vec::new();
        if self.peek().kind == Kind::Mark(b'(') {
            returns = self.names(reading)?;
            self.expect(b',')?;
        }
        let target = self.operand(reading, 0)?;
        let mut arguments = Vec::new();
        if self.take(b',') && self.peek().kind == Kind::Mark(b'(') {
            arguments = self.names(reading)?;
            self.take(b',');
        }
        if self.peek().kind == Kind::Word {
            self.word()?;
        }
        self.expect(b';')?;
        Ok(Call { returns, target, arguments })
    }

    fn names(&mut self, reading: &Reading) -> Result<Vec<Operand>, PtxError> {
        let mut names = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            names.push(self.operand(reading, 0)?);
            if !self.take(b',') && self.peek().kind != Kind::Mark(b')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(names)
    }
}

impl Class {
    /// Which register file holds the class: 0 predicates, 1 words, 2 doubles and quads.
    pub fn slot(self) -> usize {
        match self {
            Class::Predicate => 0,
            Class::Word => 1,
            Class::Double | Class::Quad => 2,
        }
    }
}
