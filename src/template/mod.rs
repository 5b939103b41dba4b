//! Templates: Tera with delimiters that neither C++, PTX nor shell uses, and with every value quoted.
//!
//! A value without a filter may hold only letters, digits and `_ . : - ,`; anything else is an error, so text from a log or a
//! header cannot become code by accident. The filters say what a value becomes: `cpp_string`, `shell`, `comment`, and
//! `verbatim` for what is code by its nature (the instantiation, a scaffold's C++).

mod quote;

use std::io;

use tera::{Context, Delimiters, Kwargs, State, Tera, Value};

pub use quote::{comment, cpp_string, shell};

const HARNESS: &str = include_str!("../../templates/harness.cu");
const KERNEL: &str = include_str!("../../templates/kernel.cu");
const PROBLEM: &str = include_str!("../../templates/problem.cu");
const BATCH: &str = include_str!("../../templates/batch.cu");
const BUILD: &str = include_str!("../../templates/build.sh");

/// The templates of `templates/`.
pub struct Templates(Tera);

impl Templates {
    /// Parses them.
    ///
    /// # Errors
    /// A template that Tera cannot parse.
    pub fn new() -> Result<Self, tera::Error> {
        let mut tera = Tera::new();
        tera.set_delimiters(Delimiters {
            block_start: "<$".into(),
            block_end: "$>".into(),
            variable_start: "<@".into(),
            variable_end: "@>".into(),
            comment_start: "<#".into(),
            comment_end: "#>".into(),
        })?;
        tera.autoescape_on([".cu", ".sh"]);
        tera.set_escape_fn(plain_only);
        tera.register_filter("cpp_string", |text: &str, _: Kwargs, _: &State| Value::safe_string(&cpp_string(text)));
        tera.register_filter("shell", |text: &str, _: Kwargs, _: &State| Value::safe_string(&shell(text)));
        tera.register_filter("comment", |text: &str, _: Kwargs, _: &State| Value::safe_string(&comment(text)));
        tera.register_filter("verbatim", |text: &str, _: Kwargs, _: &State| Value::safe_string(text));
        tera.add_raw_templates([
            ("kernel.cu", KERNEL),
            ("problem.cu", PROBLEM),
            ("harness.cu", HARNESS),
            ("batch.cu", BATCH),
            ("build.sh", BUILD),
        ])?;
        Ok(Templates(tera))
    }

    /// Fills one in.
    ///
    /// # Errors
    /// A value that the template wants and the context lacks, or an unfiltered one that is not plain.
    pub fn fill(&self, name: &str, context: &Context) -> Result<String, tera::Error> {
        self.0.render(name, context)
    }
}

/// Writes plain words and refuses everything else.
fn plain_only(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-,".contains(c)) {
        return out.write_all(text.as_bytes());
    }
    Err(io::Error::other(format!("a template puts {text:?} into code without a filter")))
}

#[cfg(test)]
mod tests {
    use super::{Templates, plain_only};

    #[test]
    fn the_templates_parse() {
        assert!(Templates::new().is_ok());
    }

    #[test]
    fn unfiltered_text_is_never_code() {
        let mut out = Vec::new();
        assert!(plain_only("a_b.cu", &mut out).is_ok());
        for bad in ["a b", "a;b", "$(x)", "a\"", "a\n"] {
            assert!(plain_only(bad, &mut out).is_err(), "{bad:?}");
        }
        assert_eq!(out, b"a_b.cu");
    }
}
