//! The same reproducer again with other leaves, from what its folder keeps.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::New;
use crate::cli::{Failure, Session};
use crate::diag::{Diagnostic, Diagnostics};
use crate::exit::Exit;
use crate::model::{Checked, DescriptorSource, Reproducer};
use crate::pipeline;
use crate::store::Folder;

/// A reproducer that can be made again with other leaves.
pub struct Again<'r> {
    folder: &'r Folder,
    base: &'r Reproducer,
    /// The compile command, which every case shares.
    profile: Utf8PathBuf,
    /// Where the kernel's header is from here.
    header: Utf8PathBuf,
}

impl<'r> Again<'r> {
    /// Writes what every case shares, the compile command, into `work`, and looks whether the folder's reproducer comes out again.
    ///
    /// # Errors
    /// The header is not found from here; the reproducer holds something that the folder's copies do not give again, an edit or
    /// production's own evidence (2); file errors; a command that TOML cannot hold (a defect of krepro).
    pub fn new(
        session: &Session<'_>,
        folder: &'r Folder,
        base: &'r Reproducer,
        work: &Utf8Path,
    ) -> Result<Self, Failure> {
        let header = header(session, base)?;
        let text = toml::to_string(&serde_json::json!({ "version": 1, "compile": base.compile })).map_err(|error| {
            Failure { exit: Exit::Bug, diagnostics: Diagnostic::error("K-BUG", error.to_string()).into() }
        })?;
        let profile = work.join("profile.toml");
        session.system.write(&profile, text.as_bytes())?;
        let again = Again { folder, base, profile, header };
        if let Ok(same) = again.with(session, &BTreeMap::new())? {
            let other = differing(base, same.reproducer());
            if !other.is_empty() {
                let message = format!(
                    "{} cannot be made again with other values: {} would be lost",
                    folder.path(),
                    other.join(", ")
                );
                return Err(Failure::input(
                    Diagnostic::error("K-FOLDER", message)
                        .because("the folder keeps the site, the manifest and the command, not edits or production's own evidence")
                        .help("make each instantiation with `krepro new` and all of its options"),
                ));
            }
        }
        Ok(again)
    }

    /// The reproducer with other leaves: site, manifest and options as they were.
    ///
    /// # Errors
    /// What the readers say; a finding that refuses is given as `Err` of the inner result.
    pub fn with(
        &self,
        session: &Session<'_>,
        leaves: &BTreeMap<String, String>,
    ) -> Result<Result<Checked, String>, Failure> {
        again(session, self, leaves)
    }
}

/// Where the header lies: where `krepro new` read it, or in an include folder of the command.
fn header(session: &Session<'_>, base: &Reproducer) -> Result<Utf8PathBuf, Failure> {
    let named = Utf8PathBuf::from(&base.kernel.header);
    let name = named.file_name().unwrap_or_default();
    let folders = super::compile::include_folders(&base.compile);
    let found = std::iter::once(named.clone())
        .chain(folders.iter().map(|folder| folder.join(name)))
        .find(|path| session.system.is_file(path));
    found.ok_or_else(|| {
        let message = format!("the kernel's header {named} is not found from this folder");
        Failure::input(
            Diagnostic::error("K-FOLDER", message)
                .help("run from the folder where `krepro new` was run, or name the header by its full path there"),
        )
    })
}

/// Parts of a record whose values, provenance aside, are not those of another.
fn differing(base: &Reproducer, other: &Reproducer) -> Vec<&'static str> {
    let values = |reproducer: &Reproducer| {
        let parts = [
            ("the instantiation", serde_json::to_value(&reproducer.instantiation.lines)),
            ("the contract", serde_json::to_value(&reproducer.contract)),
            ("the descriptors", serde_json::to_value(&reproducer.descriptors)),
            ("the launch", serde_json::to_value(&reproducer.launch)),
        ];
        parts.map(|(name, value)| (name, bare(value.unwrap_or_default())))
    };
    values(base).into_iter().zip(values(other)).filter(|(one, two)| one.1 != two.1).map(|(one, _)| one.0).collect()
}

/// Facts without where they are from.
fn bare(value: Value) -> Value {
    match value {
        Value::Object(mut map) if map.contains_key("from") && map.contains_key("value") => {
            bare(map.remove("value").unwrap_or_default())
        }
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, bare(value))).collect()),
        Value::Array(list) => Value::Array(list.into_iter().map(bare).collect()),
        other => other,
    }
}

fn again(
    session: &Session<'_>,
    Again { folder, base, profile, header }: &Again<'_>,
    leaves: &BTreeMap<String, String>,
) -> Result<Result<Checked, String>, Failure> {
    let mut all: BTreeMap<String, String> =
        base.leaves.iter().map(|(name, fact)| (name.clone(), fact.value.clone())).collect();
    all.extend(leaves.clone());
    let given = given(base);
    let options = |option: &str| -> Vec<String> {
        given.iter().filter_map(|text| text.strip_prefix(option)?.strip_prefix(' ')).map(str::to_owned).collect()
    };
    let kept = |what: &str| base.inputs.iter().find(|input| input.what == what).map(|input| folder.file(&input.copy));
    let missing = |what: &str| {
        let message = format!("the folder keeps no {what}: it cannot be made again with other values");
        Failure::input(Diagnostic::error("K-FOLDER", message).help("make it with this krepro's `krepro new`"))
    };
    let new = New {
        kernel: format!("{header}:{}", base.kernel.signature.name),
        site: Some(kept("site").ok_or_else(|| missing("site"))?.into_string()),
        evidence: super::Evidence::default(),
        fill_code: super::FillCode::default(),
        set: all.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        log: None,
        profile: Some(profile.clone()),
        select: None,
        map: vec![],
        trust_log: true,
        arch: None,
        scaffold: Some(kept("manifest").ok_or_else(|| missing("manifest"))?.into_string()),
        descriptor: match base.descriptor_source {
            DescriptorSource::Production => super::Descriptor::Production,
            DescriptorSource::Type => super::Descriptor::Type,
        },
        contract: options("--contract"),
        launch: options("--launch"),
        scalar: options("--scalar"),
        annotation_macro: base.kernel.annotation_macros.clone(),
        transaction_function: vec![],
        name: Some(base.name.clone()),
        output: folder.path().to_owned(),
    };
    let mut said = Diagnostics::new();
    let (reproducer, _) = new.read(session, &mut said)?;
    Ok(match pipeline::make(reproducer) {
        Ok(made) => Ok(made.checked),
        Err(pipeline::Stop::Refused(both)) => {
            let refused = both.1.findings.iter().find(|f| f.weight == crate::model::Weight::Refuse);
            Err(refused.map_or_else(String::new, |finding| format!("{}: {}", finding.code, finding.message)))
        }
        Err(stop @ pipeline::Stop::Unrenderable(_)) => return Err(super::super::refusal(stop)),
    })
}

/// Every option that a fact of the record names as its origin.
fn given(base: &Reproducer) -> BTreeSet<String> {
    fn walk(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                if map.get("from").and_then(Value::as_str) == Some("given")
                    && let Some(by) = map.get("by").and_then(Value::as_str)
                {
                    out.insert(by.to_owned());
                }
                map.values().for_each(|value| walk(value, out));
            }
            Value::Array(list) => list.iter().for_each(|value| walk(value, out)),
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    walk(&serde_json::to_value(base).unwrap_or_default(), &mut out);
    out
}
