//! Descriptors from production's own fill code, as options.

use std::collections::BTreeMap;

use super::named::Named;
use crate::cli::{Failure, Session};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::KernelSignature;
use crate::read::constant::Scope;
use crate::read::fill;
use crate::read::prints::PrintedMap;
use crate::source::Source;
use crate::sys;

/// The code that fills descriptors at run time.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FillCode {
    /// The function that fills the descriptor NAME (at the kernel's call) at run time; may be repeated
    #[arg(long, value_name = "NAME=FILE:FUNCTION")]
    fill: Vec<String>,
    /// A value that the fill code takes: a number, an enumerator, an expression over the template parameters; for one descriptor
    /// with its NAME, else for all; may be repeated
    #[arg(long, value_name = "[NAME:]LEAF=VALUE")]
    fill_set: Vec<String>,
}

impl FillCode {
    /// The descriptors that the code gives, by name; problems are gathered.
    pub(super) fn maps(
        &self,
        session: &Session<'_>,
        signature: &KernelSignature,
        scope: &Scope,
        problems: &mut Diagnostics,
    ) -> Result<BTreeMap<String, PrintedMap>, Failure> {
        let mut out = BTreeMap::new();
        let asked = super::pairs("--fill", &self.fill, problems);
        for (name, place) in &asked {
            let Some(Named { file, name: Some(function) }) = Named::parse("--fill", place, true, problems) else {
                continue;
            };
            let mut sources = vec![Source::new(file.as_str(), session.system.read(&file)?)];
            sources.extend(sys::closure(session.system, &file, &[]).into_iter().skip(1));
            match fill::evaluate(&sources, &function, &self.leaves(name, asked.keys(), (signature, scope), problems)) {
                Ok(map) => {
                    out.insert(name.clone(), map);
                }
                Err(found) => problems.append(found),
            }
        }
        if asked.is_empty() && !self.fill_set.is_empty() {
            problems.push(
                Diagnostic::error("K-OPTION", "--fill-set says a value, and no --fill names code that takes it")
                    .help("add --fill NAME=FILE:FUNCTION"),
            );
        }
        Ok(out)
    }

    /// The leaves of one descriptor's code: those for all, then its own.
    fn leaves<'n>(
        &self,
        name: &str,
        names: impl Iterator<Item = &'n String> + Clone,
        (signature, scope): (&KernelSignature, &Scope),
        problems: &mut Diagnostics,
    ) -> BTreeMap<String, String> {
        let (mut shared, mut own) = (vec![], vec![]);
        for entry in &self.fill_set {
            match entry.split_once(':').filter(|(prefix, _)| names.clone().any(|known| known == prefix)) {
                Some((prefix, rest)) if prefix == name => own.push(rest.to_owned()),
                Some(_) => {}
                None => shared.push(entry.clone()),
            }
        }
        let mut leaves = super::pairs("--fill-set", &shared, problems);
        leaves.extend(super::pairs("--fill-set", &own, problems));
        for value in leaves.values_mut() {
            // An expression over the template parameters; any other name (an enumerator) stands for itself, as in the code.
            let name = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':');
            let parameter = signature.template_parameters.iter().any(|parameter| parameter.name == *value);
            if (!name || parameter)
                && let Ok(number) = scope.integer(value, &BTreeMap::new())
            {
                *value = number.to_string();
            }
        }
        leaves
    }
}
