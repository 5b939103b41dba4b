//! Kernel and function heads.

use super::lexer::Kind;
use super::parser::Parser;
use super::{Directives, Function, PtxError};

impl<'a> Parser<'a> {
    /// What follows `.entry` or `.func`.
    pub(super) fn function(&mut self, entry: bool, line: u32) -> Result<Function, PtxError> {
        let mut returns = Vec::new();
        if self.peek().kind == Kind::Mark(b'(') {
            returns = self.parameters()?;
        }
        let name = self.word()?.to_string();
        let mut parameters = Vec::new();
        if self.peek().kind == Kind::Mark(b'(') {
            parameters = self.parameters()?;
        }
        let mut directives = Directives::default();
        while self.peek().kind == Kind::Word {
            let word = self.word()?;
            match word {
                ".reqntid" => directives.required_block = Some(self.shape()?),
                ".maxntid" => directives.maximum_block = Some(self.shape()?),
                ".minnctapersm" => directives.minimum_ctas = Some(self.small()?),
                ".maxnreg" => directives.maximum_registers = Some(self.small()?),
                ".reqnctapercluster" => directives.required_cluster = Some(self.shape()?),
                ".explicitcluster" => directives.explicit_cluster = true,
                ".maxclusterrank" => directives.maximum_cluster_rank = Some(self.small()?),
                ".noreturn" | ".unified" => {}
                ".blocksareclusters" => {
                    return self.fail("`.blocksareclusters` launches are not supported");
                }
                ".abi_preserve" | ".abi_preserve_control" | ".minnreg" => {
                    self.small()?;
                }
                ".pragma" => {
                    self.next();
                    self.take(b';');
                }
                _ => return self.fail(format!("unknown directive `{word}`")),
            }
        }
        let body = if self.take(b';') { None } else { Some(self.body(&returns, &parameters)?) };
        Ok(Function { name, entry, line, returns, parameters, directives, body })
    }

    /// One to three numbers; missing ones are 1.
    fn shape(&mut self) -> Result<[u32; 3], PtxError> {
        let mut shape = [self.small()?, 1, 1];
        for value in &mut shape[1..] {
            if self.take(b',') {
                *value = self.small()?;
            }
        }
        Ok(shape)
    }
}
