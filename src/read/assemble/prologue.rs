//! Launches before the kernel's, from the manifest.

use super::Facts;
use super::operand::by_value;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Block, Contract, Destination, Fact, Major, Operand, Origin, Prepares, Prologue, PrologueSource};
use crate::read::manifest::{Expression, KernelRule, PrologueRule};
use crate::source::Spot;

/// Those of the rule that this instantiation has.
pub(super) fn prologues(
    rule: Option<&KernelRule>,
    contract: &Contract,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Vec<Prologue> {
    let mut present = vec![];
    for one in rule.iter().flat_map(|rule| &rule.prologue) {
        match terms.holds(one.when.as_ref()) {
            Ok(true) => present.push(one),
            Ok(false) => {}
            Err(problem) => problems.push(problem),
        }
    }
    let mut list = vec![];
    for (index, one) in present.iter().enumerate() {
        let reader = Reader { rule: one, present: &present, index, contract, facts, terms };
        match reader.prologue() {
            Ok(prologue) => list.push(prologue),
            Err(found) => problems.append(found),
        }
    }
    list
}

struct Reader<'r> {
    rule: &'r PrologueRule,
    present: &'r [&'r PrologueRule],
    index: usize,
    contract: &'r Contract,
    facts: &'r Facts<'r>,
    terms: &'r Terms<'r>,
}

impl Reader<'_> {
    fn name(&self) -> &str {
        self.rule.name.get_ref()
    }

    fn spot(&self, text: &toml::Spanned<String>) -> Spot {
        self.terms.spot(text)
    }

    fn question(&self, question: &str, help: &str) -> Diagnostic {
        Diagnostic::error("K-QUESTION", format!("{question} `{}`, which is launched before the kernel?", self.name()))
            .at(self.spot(&self.rule.name), "this launch")
            .help(help)
    }

    fn prologue(&self) -> Result<Prologue, Diagnostics> {
        let rule = self.rule;
        let mut problems = Diagnostics::new();
        let at = self.spot(&rule.name);
        let origin = Origin::Read {
            at: at.place(),
            expr: Some(format!("prologue {} of {}", self.name(), self.facts.manifest.name)),
        };
        let mut keep = |problem: Diagnostic| problems.push(problem);
        if self.present.iter().filter(|one| one.name.get_ref() == self.name()).count() > 1 {
            keep(
                Diagnostic::error("K-MANIFEST", format!("two launches are named `{}`", self.name()))
                    .at(at, "one of them"),
            );
        }
        let does = rule.does.or_else(|| {
            keep(self.question(
                "what does the launch make:",
                "does = \"copy\" (the same elements in another type or layout) or does = \"quantise\" (blocks over their largest \
                 magnitude, and the scales)",
            ));
            None
        });
        let writes = self.destination(rule.writes.as_ref(), "what does it write,", "writes", &mut keep);
        let scales = match does {
            Some(Prepares::Quantise) => {
                self.destination(rule.scales.as_ref(), "where does it write the scales,", "scales", &mut keep)
            }
            _ => None,
        };
        let one = || Fact { value: 1, origin: Origin::Assumed { why: "production's host code decides it".into() } };
        let mut three = |list: &[Expression; 3]| {
            let [x, y, z] = list.each_ref().map(|text| self.terms.quantity(text).map_err(&mut keep).ok());
            Some([x?, y?, z?])
        };
        let grid = match &rule.grid {
            Some(list) => three(list),
            None if rule.host => Some([one(), one(), one()]),
            None => None,
        };
        let block = match (&rule.block, &rule.threads) {
            (Some(list), _) => three(list).map(|extents| Block { extents }),
            (None, Some(text)) => self.terms.quantity(text).map_err(&mut keep).ok().map(Block::along_x),
            (None, None) if rule.host => Some(Block::along_x(one())),
            (None, None) => None,
        };
        if rule.grid.is_none() && grid.is_none() {
            let help = "grid = [\"X\", \"Y\", \"Z\"], or host = true for a host function";
            keep(self.question("how many blocks has", help));
        }
        if rule.block.is_none() && rule.threads.is_none() && block.is_none() {
            let help = "threads = \"EXPRESSION\", or block = [\"X\", \"Y\", \"Z\"]";
            keep(self.question("how many threads has a block of", help));
        }
        let shared_memory = match &rule.shared_memory {
            Some(text) => self.terms.quantity(text).map_err(&mut keep).ok(),
            None => Some(Fact { value: 0, origin: origin.clone() }),
        };
        let arguments = self.arguments(&mut keep);
        let entry = self.entry().map_err(&mut keep).ok();
        let operand = writes.as_ref().and_then(|writes| self.operand(writes));
        let source = operand.map(|operand| self.source(operand, &origin)).transpose().map_err(&mut keep).ok().flatten();
        let (Some(does), Some(writes), Some(grid)) = (does, writes, grid) else {
            return Err(problems);
        };
        let (Some(threads), Some(shared_memory), Some(arguments), Some(entry), Some(source)) =
            (block, shared_memory, arguments, entry, source)
        else {
            return Err(problems);
        };
        if problems.has_errors() {
            return Err(problems);
        }
        let fact = |value: Destination| Fact { value, origin: origin.clone() };
        Ok(Prologue {
            name: self.name().to_owned(),
            entry,
            host: rule.host,
            does: Fact { value: does, origin: origin.clone() },
            source,
            writes: fact(writes),
            scales: scales.map(fact),
            zeroed: rule.zeroed,
            grid,
            threads,
            shared_memory,
            arguments,
        })
    }

    /// A role of the kernel, or the source of a later launch.
    fn destination(
        &self,
        text: Option<&toml::Spanned<String>>,
        question: &str,
        field: &str,
        keep: &mut impl FnMut(Diagnostic),
    ) -> Option<Destination> {
        let Some(text) = text else {
            keep(self.question(question, &format!("{field} = \"ROLE\", one of {}", self.known())));
            return None;
        };
        let parsed = text.get_ref().parse::<Destination>().ok();
        if let Some(destination) =
            parsed.filter(|destination| self.operand(destination).is_some_and(|operand| !by_value(operand, self.facts)))
        {
            return Some(destination);
        }
        keep(
            Diagnostic::error(
                "K-MANIFEST",
                format!("`{}` writes `{}`, which is nothing that it can", self.name(), text.get_ref()),
            )
            .at(self.spot(text), "here")
            .help(format!("write one of {}", self.known())),
        );
        None
    }

    /// What may be written.
    fn known(&self) -> String {
        let writable = self.contract.operands.iter().filter(|operand| !by_value(operand, self.facts));
        let inputs = writable.map(|operand| operand.role.value).filter(|role| *role != crate::model::Role::Out);
        let roles = inputs.map(|role| role.name().to_owned());
        let later = self.present.iter().skip(self.index + 1).map(|one| format!("{}.source", one.name.get_ref()));
        roles.chain(later).collect::<Vec<_>>().join(", ")
    }

    /// The operand of the kernel that a destination becomes.
    fn operand(&self, destination: &Destination) -> Option<&Operand> {
        let mut next = destination.clone();
        let mut after = self.index;
        loop {
            match next {
                Destination::Role(crate::model::Role::Out) => return None,
                Destination::Role(role) => return self.contract.operand(role),
                Destination::Source(name) => {
                    let found =
                        self.present.iter().enumerate().skip(after + 1).find(|(_, one)| *one.name.get_ref() == name);
                    let (index, one) = found?;
                    after = index;
                    next = one.writes.as_ref()?.get_ref().parse().ok()?;
                }
            }
        }
    }

    fn source(&self, operand: &Operand, origin: &Origin) -> Result<PrologueSource, Diagnostic> {
        let rule = &self.rule.source;
        let major = rule.major.unwrap_or(Major::K);
        let dense = if major == Major::K { &operand.columns } else { &operand.rows };
        Ok(PrologueSource {
            element: match rule.element {
                Some(value) => Fact { value, origin: origin.clone() },
                None => Fact::assumed(
                    operand.element.value,
                    "nothing says the type of its source: taken as that of what it becomes",
                ),
            },
            leading_dimension: match &rule.leading_dimension {
                Some(text) => self.terms.quantity(text)?,
                None => dense.clone(),
            },
            major: Fact { value: major, origin: origin.clone() },
            layout: rule.layout.map(|value| Fact { value, origin: origin.clone() }),
        })
    }

    fn arguments(&self, keep: &mut impl FnMut(Diagnostic)) -> Option<Vec<String>> {
        let Some(list) = &self.rule.arguments else {
            keep(self.question(
                "what is passed to",
                "arguments = [\"source\", \"target\", …]: source, target, scales, a role, NAME.source, workspace, or an expression",
            ));
            return None;
        };
        let mut arguments = vec![];
        for text in list {
            match self.argument(text) {
                Ok(argument) => arguments.push(argument),
                Err(problem) => keep(problem),
            }
        }
        (arguments.len() == list.len()).then_some(arguments)
    }

    fn argument(&self, text: &Expression) -> Result<String, Diagnostic> {
        let address = |name: &str| Ok(format!("buffers.address(\"{name}\")"));
        let written = |text: Option<&toml::Spanned<String>>| text.map(|text| text.get_ref().clone());
        match text.get_ref().as_str() {
            "source" => address(&format!("{}.source", self.name())),
            "target" => address(&written(self.rule.writes.as_ref()).unwrap_or_default()),
            "scales" if self.rule.scales.is_some() => address(&written(self.rule.scales.as_ref()).unwrap_or_default()),
            "workspace" => Ok("buffers.workspace()".to_owned()),
            word if self.contract.operands.iter().any(|o| o.role.value.name() == word) => address(word),
            word if self.present.iter().any(|one| format!("{}.source", one.name.get_ref()) == word) => address(word),
            _ => self.terms.quantity(text).map(|fact| fact.value.to_string()),
        }
    }

    /// The function's text with every `{=EXPRESSION}` evaluated.
    fn entry(&self) -> Result<Fact<String>, Diagnostic> {
        let spot = self.spot(&self.rule.entry);
        let mut out = String::new();
        let mut rest = self.rule.entry.get_ref().as_str();
        while let Some((before, after)) = rest.split_once("{=") {
            let Some((expression, tail)) = after.split_once('}') else {
                return Err(Diagnostic::error("K-MANIFEST", "a `{=` without its `}`").at(spot, "in this name"));
            };
            let by = format!("prologue {}", self.name());
            let value =
                self.terms.given(expression.trim(), by).map_err(|problem| problem.at(spot.clone(), "in this name"))?;
            out = out + before + &value.value.to_string();
            rest = tail;
        }
        Ok(Fact::read(out + rest, spot.place(), None))
    }
}
