//! What the user says about the kernel on the command line.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Diagnostic;
use crate::model::Role;

/// `--contract KEY=VALUE`, `--launch KEY=VALUE` and `--scalar NAME=VALUE`, each looked up by the rules that need them.
#[derive(Debug, Default)]
pub struct Overrides {
    /// Keys: `m`, `n`, `k`, `accumulator`, `output`, `padding_zero`, `epilogue`, `split_k.FIELD`, `group_rows` (`align`, `stride`, `index`), a role (its slot or parameter), and
    /// `ROLE.element`, `ROLE.rows`, `ROLE.columns`, `ROLE.leading_dimension`, `ROLE.major`.
    pub contract: BTreeMap<String, String>,
    /// Keys: `threads`, `grid`, `cluster`, `shared_memory`, `launch_bounds`, `workspace`, `workspace_fill`.
    pub launch: BTreeMap<String, String>,
    /// Values of scalar parameters, by name.
    pub scalar: BTreeMap<String, String>,
    used: RefCell<BTreeSet<String>>,
}

impl Overrides {
    /// The three kinds, in that order.
    pub fn new(
        contract: BTreeMap<String, String>,
        launch: BTreeMap<String, String>,
        scalar: BTreeMap<String, String>,
    ) -> Self {
        Overrides { contract, launch, scalar, used: RefCell::default() }
    }

    /// Value and origin text of a contract key.
    pub fn contract(&self, key: &str) -> Option<(&str, String)> {
        self.look(&self.contract, "--contract", key)
    }

    /// Value and origin text of a launch key.
    pub fn launch(&self, key: &str) -> Option<(&str, String)> {
        self.look(&self.launch, "--launch", key)
    }

    /// Value and origin text of a scalar parameter.
    pub fn scalar(&self, name: &str) -> Option<(&str, String)> {
        self.look(&self.scalar, "--scalar", name)
    }

    fn look<'a>(&self, map: &'a BTreeMap<String, String>, option: &str, key: &str) -> Option<(&'a str, String)> {
        let value = map.get(key)?;
        self.used.borrow_mut().insert(format!("{option} {key}"));
        Some((value, format!("{option} {key}={value}")))
    }

    /// An error for every key that nothing asked for. Where the contract did not come about, of its keys only those that no kernel
    /// asks for; where the launch's arguments did not, none of the scalars.
    pub(super) fn unused(&self, contract: bool, arguments: bool) -> Vec<Diagnostic> {
        let used = self.used.borrow();
        let asked_later = |option: &str, key: &str| match option {
            "--contract" => !contract && known(key),
            "--scalar" => !arguments,
            _ => false,
        };
        let kinds = [("--contract", &self.contract), ("--launch", &self.launch), ("--scalar", &self.scalar)];
        kinds
            .iter()
            .flat_map(|(option, map)| map.keys().map(move |key| (option, key)))
            .filter(|(option, key)| !used.contains(&format!("{option} {key}")) && !asked_later(option, key))
            .map(|(option, key)| {
                Diagnostic::error("K-OPTION", format!("{option} {key} says something that this kernel does not ask"))
                    .help(format!("remove {option} {key}=…, or correct the key; `krepro explain K-OPTION` lists them"))
            })
            .collect()
    }
}

/// Whether some kernel is asked for this key of the contract.
fn known(key: &str) -> bool {
    let role = |name: &str| Role::ALL.iter().any(|role| role.name() == name);
    match key.split_once('.') {
        Some((name, field)) => {
            role(name) && ["element", "rows", "columns", "leading_dimension", "major", "layout"].contains(&field)
        }
        None => {
            let general = ["m", "n", "k", "accumulator", "output", "padding_zero", "epilogue", "promotion"];
            role(key) || general.contains(&key)
        }
    }
}
