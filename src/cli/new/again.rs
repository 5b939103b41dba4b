//! The same reproducer again with other leaves, from what its folder keeps.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use serde_json::Value;

use super::New;
use crate::cli::{Failure, Session};
use crate::diag::{Diagnostic, Diagnostics};
use crate::exit::Exit;
use crate::model::{Checked, DescriptorSource, Reproducer};
use crate::pipeline;
use crate::store::Folder;

/// Writes what every case of a sweep shares, the compile command, into `work`, and gives back its path.
///
/// # Errors
/// File errors; a command that TOML cannot hold (a defect of krepro).
pub fn profile(session: &Session<'_>, base: &Reproducer, work: &Utf8Path) -> Result<camino::Utf8PathBuf, Failure> {
    let text = toml::to_string(&serde_json::json!({ "version": 1, "compile": base.compile })).map_err(|error| {
        Failure { exit: Exit::Bug, diagnostics: Diagnostic::error("K-BUG", error.to_string()).into() }
    })?;
    let path = work.join("profile.toml");
    session.system.write(&path, text.as_bytes())?;
    Ok(path)
}

/// The reproducer of `folder` with other leaves: site, manifest and options as they were.
///
/// # Errors
/// What the readers say; a finding that refuses is given as `Err` of the inner result.
pub fn again(
    session: &Session<'_>,
    folder: &Folder,
    base: &Reproducer,
    profile: &Utf8Path,
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
        kernel: format!("{}:{}", base.kernel.header, base.kernel.signature.name),
        site: Some(kept("site").ok_or_else(|| missing("site"))?.into_string()),
        evidence: super::Evidence::default(),
        fill_code: super::FillCode::default(),
        set: all.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        log: None,
        profile: Some(profile.to_owned()),
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
        annotation_macro: vec![],
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
