//! A command sorted into the fields that people ask about.

use serde::Serialize;

use super::anchor::Family;
use super::argument::Argument;
use super::found::Found;
use super::table::{OptionTable, Phase};

/// A command sorted into the fields that people ask about; values as nvcc received them, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fields {
    /// `-I`.
    pub includes: Vec<String>,
    /// `-isystem`.
    pub system_includes: Vec<String>,
    /// `-D`.
    pub defines: Vec<String>,
    /// What nvcc makes of `-D`, split at its commas.
    pub effective_defines: Vec<String>,
    /// `-U`.
    pub undefines: Vec<String>,
    /// `-include`.
    pub pre_includes: Vec<String>,
    /// `-std`, the last one.
    pub std: Option<String>,
    /// `-gencode` as `arch=…,code=…`, `-arch` and `-code` as options; several code names in square brackets.
    pub gencode: Vec<String>,
    /// Everything else, as `flag=value` however it was written.
    pub other: Vec<String>,
    /// Those of the others that can change the numbers a kernel gives.
    pub numerics: Vec<String>,
}

impl Fields {
    /// Of one command.
    pub fn of(found: &Found) -> Self {
        let mut out = Fields::default();
        for argument in &found.arguments {
            match found.family {
                Family::Nvcc | Family::Nvrtc => {}
                Family::Clang if OptionTable::nvcc().foreign_architecture(argument.flag()) => {
                    out.gencode.push(format!("clang:{}", argument.flag()));
                    continue;
                }
                Family::Hipcc if OptionTable::nvcc().foreign_architecture(argument.flag()) => {
                    out.gencode.push(format!("hip:{}", argument.flag()));
                    continue;
                }
                Family::Clang | Family::Hipcc => {}
            }
            out.add(argument);
        }
        out
    }

    fn add(&mut self, argument: &Argument) {
        let value = argument.value_or_empty().to_owned();
        if argument.value().is_some() {
            if argument.is("-I") {
                return self.includes.push(value);
            } else if argument.is("-isystem") {
                return self.system_includes.push(value);
            } else if argument.is("-D") {
                self.effective_defines.extend(split_list(&value));
                return self.defines.push(value);
            } else if argument.is("-U") {
                return self.undefines.push(value);
            } else if argument.is("-include") {
                return self.pre_includes.push(value);
            } else if argument.is("-std") {
                self.std = Some(value);
                return;
            } else if argument.is("-gencode") {
                return self.gencode.push(normal_gencode(&value));
            } else if argument.is("-arch") {
                return self.gencode.push(format!("-arch={value}"));
            } else if argument.is("-code") {
                return self.gencode.push(format!("-code={value}"));
            } else if argument.is("-o") {
                return;
            }
        }
        match argument.spec() {
            None if !argument.flag().starts_with('-') => {}
            None => self.other.push(argument.written()),
            Some(spec) => {
                let written = argument.written();
                if spec.numerics || (spec.phase == Phase::Device && argument.is("-Xptxas") && has_level(&value)) {
                    self.numerics.push(written.clone());
                }
                self.other.push(written);
            }
        }
    }
}

/// Whether `-Xptxas` sets an optimisation level.
fn has_level(value: &str) -> bool {
    split_list(value).iter().any(|item| item.starts_with("-O") || item.starts_with("--opt-level"))
}

/// `arch=X,code=Y` with several code names in square brackets and a single one without.
pub fn normal_gencode(value: &str) -> String {
    let Some((before, rest)) = value.split_once("code=") else {
        return value.to_owned();
    };
    let closing: &[char] = &[']', '"', '\''];
    let (codes, after) = match rest.chars().next() {
        Some('[' | '"' | '\'') => rest[1..].split_once(closing).unwrap_or((&rest[1..], "")),
        _ => rest.split_once(',').map_or((rest, ""), |(code, after)| (code, after)),
    };
    let after = after.trim_start_matches(',');
    let arch = before.trim_end_matches(',');
    let arch = if arch.is_empty() { after } else { arch };
    if codes.contains(',') { format!("{arch},code=[{codes}]") } else { format!("{arch},code={codes}") }
}

/// Splits a list value as nvcc does: at commas outside double quotes; `\,` is a comma.
pub fn split_list(value: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quoted = false;
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let last = out.len() - 1;
        match character {
            '\\' if characters.peek() == Some(&',') => {
                characters.next();
                out[last].push(',');
            }
            ',' if !quoted => out.push(String::new()),
            _ => {
                quoted ^= character == '"';
                out[last].push(character);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{normal_gencode, split_list};

    #[test]
    fn every_spelling_of_gencode_has_one_form() {
        for text in [
            "arch=compute_90,code=[sm_90,compute_90]",
            "arch=compute_90,code=\"sm_90,compute_90\"",
            "code=[sm_90,compute_90],arch=compute_90",
        ] {
            assert_eq!(normal_gencode(text), "arch=compute_90,code=[sm_90,compute_90]");
        }
        assert_eq!(normal_gencode("arch=compute_90a,code=[sm_90a]"), "arch=compute_90a,code=sm_90a");
        assert_eq!(normal_gencode("code=sm_90a,arch=compute_90a"), "arch=compute_90a,code=sm_90a");
    }

    #[test]
    fn lists_split_at_bare_commas() {
        assert_eq!(split_list("T=Foo<1,2>"), ["T=Foo<1", "2>"]);
        assert_eq!(split_list("A=1\\,2,\"B,C\""), ["A=1,2", "\"B,C\""]);
    }
}
