//! Jinja templates beside what jinja2 makes of them (recorded by `record.py` in their folder).

use std::collections::BTreeMap;
use std::path::Path;

use krepro::diag::draw;
use krepro::read::site::read;
use krepro::source::Source;

#[test]
fn templates_render_byte_for_byte_as_jinja2_renders_them() {
    let folder = super::fixture("jinja");
    let mut wrong = vec![];
    let mut count = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "jinja") {
            count += 1;
            wrong.extend(differences(&path));
        }
    }
    assert!(count >= 4, "{count} templates");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines in which a template's rendering is not the recorded one.
fn differences(path: &Path) -> Vec<String> {
    let text = fs_err::read_to_string(path).unwrap();
    let is_given = |line: &&str| line.starts_with("#@ ");
    let leaves: BTreeMap<_, _> = text
        .lines()
        .filter(is_given)
        .map(|line| line[3..].split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let template: String = text.split_inclusive('\n').filter(|line| !is_given(line)).collect();
    let expected = fs_err::read_to_string(path.with_extension("expected")).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    match read(&Source::new(name.as_str(), template), None, &leaves) {
        Ok(emission) if emission.text() == expected => vec![],
        Ok(emission) => {
            let text = emission.text();
            let (ours, theirs) = (text.split('\n'), expected.split('\n'));
            let mut out: Vec<String> = ours
                .zip(theirs)
                .filter(|(ours, theirs)| ours != theirs)
                .map(|(ours, theirs)| format!("{name}\n  krepro: {ours:?}\n  jinja2: {theirs:?}"))
                .collect();
            out.push(format!("{name}: {} bytes, not {}", text.len(), expected.len()));
            out
        }
        Err(errors) => vec![errors.iter().map(|d| draw(d, false) + "\n").collect()],
    }
}
