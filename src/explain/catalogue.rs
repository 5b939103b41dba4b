//! The table of messages.

use regex::Regex;
use serde::{Deserialize, Serialize};

/// Which program prints a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// The driver program `nvcc`.
    Nvcc,
    /// cudafe++ or the host compiler.
    Compiler,
    /// The assembler.
    Ptxas,
    /// The device linker.
    Nvlink,
    /// The host linker.
    Linker,
    /// A program: the CUDA run time, CUTLASS, the kernel.
    Any,
}

/// One entry as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    tool: Tool,
    pattern: String,
    context: Option<String>,
    cause: String,
    remedy: Vec<String>,
    #[serde(default)]
    rules: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    message: Vec<Entry>,
}

/// A message that can be explained.
#[derive(Debug)]
pub struct Message {
    /// Stable name.
    pub id: String,
    /// Who prints it.
    pub tool: Tool,
    /// Its stable part.
    pub pattern: Regex,
    /// What one of the lines around it must hold.
    pub context: Option<Regex>,
    /// Why it is printed; `$group` of the pattern is filled in.
    pub cause: String,
    /// What to do; `$group` likewise.
    pub remedy: Vec<String>,
    /// Rules of `krepro check` that see it before the build.
    pub rules: Vec<String>,
}

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Not the TOML expected.
    #[error("the table of messages: {0}")]
    Toml(#[from] toml::de::Error),
    /// A pattern that is no regular expression.
    #[error("the pattern of message `{id}`: {error}")]
    Pattern {
        /// The entry.
        id: String,
        /// What is wrong.
        error: Box<regex::Error>,
    },
}

/// All messages, in the order in which they are tried.
#[derive(Debug)]
pub struct Catalogue {
    messages: Vec<Message>,
}

impl Catalogue {
    /// The table that comes with krepro.
    ///
    /// # Errors
    /// When the table is damaged, which a test excludes.
    pub fn builtin() -> Result<Self, CatalogueError> {
        Self::parse(include_str!("../../build-flags/messages.toml"))
    }

    /// From the text of a table.
    ///
    /// # Errors
    /// When it is no table of messages, or a pattern is wrong.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let file: File = toml::from_str(text)?;
        let compile = |id: &str, pattern: &str| {
            Regex::new(pattern).map_err(|error| CatalogueError::Pattern { id: id.to_owned(), error: Box::new(error) })
        };
        let messages = file.message.into_iter().map(|entry| {
            Ok(Message {
                pattern: compile(&entry.id, &entry.pattern)?,
                context: entry.context.as_deref().map(|context| compile(&entry.id, context)).transpose()?,
                id: entry.id,
                tool: entry.tool,
                cause: entry.cause,
                remedy: entry.remedy,
                rules: entry.rules,
            })
        });
        Ok(Catalogue { messages: messages.collect::<Result<_, CatalogueError>>()? })
    }

    /// All of them.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The first entry of the tool whose pattern fits, and whose context, if it has one, fits one of `around`.
    pub fn find(&self, tool: Tool, text: &str, around: &[&str]) -> Option<&Message> {
        self.messages.iter().find(|message| {
            message.tool == tool
                && message.pattern.is_match(text)
                && message
                    .context
                    .as_ref()
                    .is_none_or(|context| context.is_match(text) || around.iter().any(|line| context.is_match(line)))
        })
    }
}

impl Message {
    /// A text of this entry with the groups of the match filled in; a group that took no part gives nothing.
    pub fn fill(&self, template: &str, text: &str) -> String {
        let mut out = String::new();
        match self.pattern.captures(text) {
            Some(captures) => captures.expand(template, &mut out),
            None => out.push_str(template),
        }
        out
    }
}
