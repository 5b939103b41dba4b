//! The instantiation: printed by a site, pasted, behind a macro, in a debug output, or out of a symbol.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::named::Named;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Fact, Instantiation, TemplateParameter};
use crate::read::instantiation::{self, Select, symbol};
use crate::read::prints::Prints;
use crate::read::site;
use crate::source::{Source, Spot};

/// An instantiation, and what it was read from.
pub(super) struct Printed {
    /// The instantiation.
    pub(super) found: Instantiation,
    /// The part of the source that prints or holds it.
    pub(super) extent: Spot,
    /// Names of the leaves that were used.
    pub(super) used: Vec<String>,
    /// Whether the text stands there as it was printed.
    pub(super) pasted: bool,
}

/// Where an instantiation is looked for.
pub(super) struct Search<'s> {
    /// The site's text and the name of its function.
    pub(super) site: Option<(Arc<Source>, Named)>,
    /// What production printed.
    pub(super) prints: &'s Prints,
    /// Production's symbol, mangled or not.
    pub(super) symbol: Option<&'s Arc<Source>>,
    /// What is meant, where a text holds several.
    pub(super) select: Select,
    /// Values that the user gave.
    pub(super) given: &'s BTreeMap<String, String>,
    /// Values from a task graph and from prints.
    pub(super) offered: &'s BTreeMap<String, String>,
    /// Macros that the compile command defines.
    pub(super) defines: &'s [(String, Option<String>)],
    /// The headers of the kernel, for macros.
    pub(super) headers: &'s [Arc<Source>],
}

impl Search<'_> {
    /// The instantiation of the first source that there is: the site, a printed text, the symbol.
    pub(super) fn printed(&self, said: &mut Diagnostics) -> Result<Printed, Diagnostics> {
        if let Some((source, named)) = &self.site {
            let language = site::Language::of(source);
            if language == site::Language::Cpp && named.name.is_none() && !site::emits(source) {
                return self.text(source);
            }
            let emission = site::read_with(source, named.name.as_deref(), self.given, self.offered, self.defines)
                .map_err(|found| self.with_prints(found))?;
            said.append(emission.warnings.clone());
            // The task that is meant chose the site's leaves; it tells nothing about what the site prints.
            let select = Select { variant: None, ..self.select.clone() };
            let found = instantiation::parse(&emission, &select)?;
            let used = emission.leaves.iter().map(|leaf| leaf.name.clone()).collect();
            return Ok(Printed { found, extent: emission.extent, used, pasted: false });
        }
        if !self.prints.code.is_empty() {
            return self.generated();
        }
        let Some(source) = self.symbol else {
            let wrong = "nothing that was given holds an instantiation";
            return Err(Diagnostic::error("K-INST-KERNEL", wrong)
                .because("the debug output prints no generated code")
                .help("give --site FILE[:FUNCTION], or --symbol SYMBOL")
                .into());
        };
        let found = symbol::parse_symbol(source)?;
        let wanted = self.select.kernel.as_deref().unwrap_or_default();
        let found = symbol::of_kernel(&found, wanted).unwrap_or(found);
        Ok(Printed { found, extent: whole(source), used: vec![], pasted: false })
    }

    /// What is kept of a text: the block that was chosen, else all of it.
    fn extent(&self, source: &Arc<Source>, block: Spot) -> Spot {
        if self.select.line.is_some() || self.select.variant.is_some() { block } else { whole(source) }
    }

    /// A pasted text; where it names the kernel only behind a macro, that macro's body.
    fn text(&self, source: &Arc<Source>) -> Result<Printed, Diagnostics> {
        let problems = match instantiation::parse_block(source, &self.select) {
            Ok((found, block)) => {
                return Ok(Printed { found, extent: self.extent(source, block), used: vec![], pasted: true });
            }
            Err(problems) => problems,
        };
        let meant = |call: &Spot| {
            let (first, last) =
                (source.line_column(call.span.start).0, source.line_column(call.span.end.saturating_sub(1)).0);
            self.select.line.is_none_or(|line| (first..=last).contains(&line))
        };
        let select = Select { kernel: self.select.kernel.clone(), ..Select::default() };
        let expanded = instantiation::expand(source, self.headers).into_iter().filter(|one| meant(&one.call));
        let found: Vec<(Instantiation, Spot)> =
            expanded.filter_map(|one| Some((instantiation::parse_text(&one.text, &select).ok()?, one.call))).collect();
        let differ = |(other, _): &(Instantiation, Spot)| other.lines != found[0].0.lines;
        match &found[..] {
            [] => Err(problems),
            [(first, call), ..] if !found.iter().any(differ) => {
                Ok(Printed { found: first.clone(), extent: call.clone(), used: vec![], pasted: false })
            }
            _ => {
                let message = format!("the text holds {} instantiations behind macros", found.len());
                let mut error = Diagnostic::error("K-INST-CHOICE", message);
                for (_, call) in found.iter().take(8) {
                    error = error.at(call.clone(), "");
                }
                Err(error.help("name the line of the one that is meant: --line LINE").into())
            }
        }
    }

    /// The kernel in the generated texts of a debug output.
    fn generated(&self) -> Result<Printed, Diagnostics> {
        let mut found: Vec<Printed> = vec![];
        let mut problems = Diagnostics::new();
        for code in &self.prints.code {
            match instantiation::parse_block(code, &self.select) {
                Ok((one, block)) => {
                    let extent = self.extent(code, block);
                    let known = found.iter().any(|other| {
                        let values = |i: &Instantiation| {
                            i.template_arguments.iter().map(|a| a.value.clone()).collect::<Vec<_>>()
                        };
                        values(&other.found) == values(&one)
                    });
                    if !known {
                        found.push(Printed { found: one, extent, used: vec![], pasted: true });
                    }
                }
                Err(more) => problems.append(more),
            }
        }
        match found.len() {
            0 => Err(problems),
            1 => found.pop().ok_or(problems),
            count => {
                let mut error = Diagnostic::error("K-INST-CHOICE", format!("the output holds {count} instantiations"));
                for one in found.iter().take(8) {
                    error = error.at(one.extent.clone(), "");
                }
                Err(error.help("name a line of the one that is meant: --line LINE").into())
            }
        }
    }

    /// Errors about unknown leaves, with the values that the output prints for them where it prints several.
    fn with_prints(&self, found: Diagnostics) -> Diagnostics {
        let several = |name: &str| self.prints.values.get(name).filter(|values| values.len() > 1);
        found
            .iter()
            .cloned()
            .map(|problem| {
                let name = problem.message.split('`').nth(1).unwrap_or_default().to_owned();
                match several(&name).filter(|_| problem.code == "K-SITE-LEAF") {
                    Some(values) => {
                        problem.because(format!("the output prints several values of it: {}", listed(values)))
                    }
                    None => problem,
                }
            })
            .collect()
    }
}

fn listed(values: &[Fact<String>]) -> String {
    let one = |fact: &Fact<String>| format!("{} ({})", fact.value, fact.origin.detail());
    values.iter().take(6).map(one).collect::<Vec<_>>().join(", ")
}

fn whole(source: &Arc<Source>) -> Spot {
    Spot::new(source, 0..source.bytes().len())
}

/// Production's symbol of the kernel, whose header declares `parameters`: the one that was given, else one that was printed; it must be the instantiation's.
///
/// # Errors
/// Production's symbol has other template arguments than the instantiation.
pub(super) fn production_symbol(
    given: Option<&Arc<Source>>,
    prints: &Prints,
    found: &Instantiation,
    parameters: &[TemplateParameter],
) -> Result<Option<Fact<String>>, Diagnostics> {
    let ours: Vec<String> = found.template_arguments.iter().map(|piece| piece.value.clone()).collect();
    let name = |text: &str| text.rsplit("::").next().unwrap_or_default().to_owned();
    let mut candidates: Vec<(Fact<String>, Instantiation)> = vec![];
    if let Some(source) = given {
        let text = source.text().trim().to_owned();
        let parsed = symbol::parse_symbol(source)?;
        let parsed = symbol::of_kernel(&parsed, &found.kernel.value).unwrap_or(parsed);
        candidates.push((Fact::given(text, "--symbol"), parsed));
    } else {
        for fact in &prints.symbols {
            let parsed = symbol::parse_symbol(&Source::new("symbol", fact.value.as_bytes()));
            if let Some(parsed) = parsed.ok().and_then(|parsed| symbol::of_kernel(&parsed, &found.kernel.value)) {
                candidates.push((fact.clone(), parsed));
            }
        }
    }
    if let Some((fact, _)) = candidates.iter().find(|(_, parsed)| {
        name(&parsed.kernel.value) == name(&found.kernel.value)
            && symbol::differences(&ours, parsed, parameters).is_empty()
    }) {
        return Ok(Some(fact.clone()));
    }
    let Some((fact, parsed)) = candidates.first() else { return Ok(None) };
    let mut error = Diagnostic::error(
        "K-SYMBOL-DIFFERS",
        format!("production's symbol is no instantiation that was read: it names `{}`", parsed.lines.join(" ")),
    )
    .because(format!("the symbol comes from {}", fact.origin.detail()));
    if name(&parsed.kernel.value) != name(&found.kernel.value) {
        error = error.because(format!("the kernel that was read is `{}`", found.kernel.value));
    }
    for (index, ours, theirs) in symbol::differences(&ours, parsed, parameters) {
        let origin = found.template_arguments.get(index).map(|piece| piece.origin.detail()).unwrap_or_default();
        error = error.because(format!("template argument {index} is `{theirs}` there and `{ours}` here ({origin})"));
    }
    Err(error.help("correct the leaves or the line, or leave the symbol out if it is another kernel's").into())
}
