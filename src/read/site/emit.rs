//! Calls that emit, indent or assert.

use tree_sitter::Node;

use super::emission::SegmentOrigin;
use super::interpreter::Interpreter;
use super::poison;
use crate::diag::Diagnostic;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::children;
use crate::read::cxx::problem::{Problem, Problems, Unknown};
use crate::read::cxx::value::Value;

impl Interpreter<'_> {
    /// Runs a call that stands as a statement, if it is one that matters here.
    pub fn emitted(&mut self, node: Node<'_>) -> bool {
        let Some(callee) = Callee::of(self.document, node) else { return false };
        let receiver = callee.receiver.map(|r| self.document.squeezed(r)).unwrap_or_default();
        match callee.last() {
            _ if poison::is_emission(&callee) => self.emission(node, &callee, &receiver),
            "inc_indent" if callee.receiver.is_some() => self.emitter(&receiver).indent(),
            "dec_indent" if callee.receiver.is_some() => self.emitter(&receiver).dedent(),
            "assert" if callee.receiver.is_none() && callee.arguments.len() == 1 => {
                self.assertion(callee.arguments[0]);
            }
            _ => return false,
        }
        true
    }

    /// Evaluates an assertion where it can be evaluated; one that is false is an error that quotes it.
    pub fn assertion(&mut self, condition: Node<'_>) {
        let text = self.document.squeezed(condition);
        match self.truth(condition) {
            Ok(true) => self.assertions += 1,
            Ok(false) if self.speculative == 0 => {
                let mut error =
                    Diagnostic::error("K-SITE-ASSERT", format!("the site refuses these values: assert({text})"))
                        .at(self.document.spot(condition), "false");
                for leaf in self.leaves_of(condition) {
                    error = error.because(leaf);
                }
                self.errors.push(error);
            }
            _ => {}
        }
        self.touch(condition, None);
    }

    /// The values behind an expression, in words.
    fn leaves_of(&mut self, node: Node<'_>) -> Vec<String> {
        let mut out = vec![];
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let text = self.document.squeezed(node);
            match (node.kind(), self.value(node)) {
                ("identifier" | "subscript_expression" | "call_expression" | "field_expression", Ok(value)) => {
                    let line = format!("`{text}` is {}", value.value);
                    if !out.contains(&line) {
                        out.push(line);
                    }
                }
                _ => open.extend(children(node)),
            }
        }
        out.sort();
        out
    }

    fn emission(&mut self, node: Node<'_>, callee: &Callee<'_>, receiver: &str) {
        let (format, arguments) = (callee.arguments[0], &callee.arguments[1..]);
        let mut pieces = match self.text_pieces(format) {
            Ok(pieces) => pieces,
            Err(problems) => return self.note(problems),
        };
        if pieces.placeholders() != arguments.len() {
            let (holes, given) = (pieces.placeholders(), arguments.len());
            let message = format!("{holes} placeholders `$`, but {given} arguments");
            let error = Diagnostic::error("K-SITE-PLACEHOLDER", message).at(self.document.spot(node), "in this call");
            self.errors.push(error.help("the generator itself would stop here: check the site"));
            return;
        }
        let mut failed = false;
        for argument in arguments {
            match self.printed(*argument) {
                Ok((text, origin)) => pieces.fill(&text, origin),
                Err(problems) => {
                    failed = true;
                    self.note(problems);
                }
            }
            self.touch(*argument, None);
        }
        if failed {
            return;
        }
        if callee.last() == "e_front" {
            self.emitter(receiver).front(pieces);
        } else {
            self.emitter(receiver).line(pieces);
        }
    }

    /// An argument as the emitter prints it.
    pub fn printed(&mut self, node: Node<'_>) -> Result<(String, SegmentOrigin), Problems> {
        let value = self.value(node)?;
        let expr = self.document.squeezed(node);
        let printable = match &value.value {
            Value::Symbol(_) => !value.leaves.is_empty(),
            Value::Type(_) | Value::Null => false,
            _ => true,
        };
        if !printable {
            let used = self.document.spot(node);
            return Err(vec![Problem::Unknown(Unknown { name: expr, used, assigned: None, changed: false })]);
        }
        let at = self.document.spot(node);
        let leaves = value.leaves.iter().cloned().collect();
        Ok((value.value.to_string(), SegmentOrigin::Value { at, expr, leaves }))
    }
}
