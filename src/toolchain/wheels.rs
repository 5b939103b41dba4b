//! The table of pinned wheels.

use serde::Deserialize;

/// Something that is installed whole: a folder of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Folder name.
    pub name: String,
    /// What it is, for people.
    pub what: String,
    /// Installed without being asked for.
    pub always: bool,
    /// Whose licence it is under.
    pub licence: String,
    /// `NAME==VERSION` of each wheel.
    pub wheels: Vec<String>,
    /// A file that is there when the component is.
    pub check: String,
}

#[derive(Deserialize)]
struct Table {
    component: Vec<Component>,
}

/// All components, the compiler first.
pub fn components() -> Vec<Component> {
    let table: Result<Table, _> = toml::from_str(include_str!("../../build-flags/wheels.toml"));
    table.map(|t| t.component).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_wheel_is_pinned_to_one_version() {
        let components = super::components();
        assert!(components[0].always && !components[1].always);
        for wheel in components.iter().flat_map(|c| &c.wheels) {
            let (name, version) = wheel.split_once("==").unwrap();
            assert!(name.starts_with("nvidia-") && version.starts_with(|c: char| c.is_ascii_digit()), "{wheel}");
        }
    }
}
