//! Linking separately compiled units (`nvcc -rdc=true`): their PTX modules become one.

use crate::ptx::Module;

/// One module with everything of `units`. Names are shared between units, as a device linker shares them: where one unit
/// declares and another defines, lookups by name find the definition; where several define (templates, inline
/// functions), the first is taken.
pub(super) fn link(units: Vec<Module>) -> Module {
    let mut units = units.into_iter();
    let mut whole = units.next().unwrap_or_default();
    for unit in units {
        add(&mut whole, unit);
    }
    whole
}

fn add(whole: &mut Module, mut unit: Module) {
    // Source files and locations are numbered by unit.
    let first_file = whole.files.keys().next_back().map_or(0, |last| last + 1);
    let first_location = whole.locations.len() as u32;
    for location in &mut unit.locations {
        location.file += first_file;
        location.inlined_at = location.inlined_at.map(|at| at + first_location);
    }
    let bodies = unit.functions.iter_mut().filter_map(|function| function.body.as_mut());
    for instruction in bodies.flat_map(|body| &mut body.instructions) {
        instruction.location = instruction.location.map(|at| at + first_location);
    }
    whole.files.extend(unit.files.into_iter().map(|(number, file)| (number + first_file, file)));
    whole.locations.append(&mut unit.locations);
    for variable in unit.variables {
        let known = whole.variables.iter_mut().find(|known| known.name == variable.name);
        match known {
            Some(known) if known.external && !variable.external => *known = variable,
            Some(_) => {}
            None => whole.variables.push(variable),
        }
    }
    for function in unit.functions {
        let known = whole.functions.iter_mut().find(|known| known.name == function.name);
        match known {
            Some(known) if known.body.is_none() && function.body.is_some() => *known = function,
            Some(_) => {}
            None => whole.functions.push(function),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .func (.param .b32 r) twice (.param .b32 x);\n\
        .extern .global .align 4 .b32 shared_count;\n.visible .entry k(.param .u64 p) {\n.loc 1 7 3\n ret;\n}\n.file 1 \"a.cu\"\n";
    const CALLEE: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .global .align 4 .b32 shared_count = 5;\n\
        .visible .func (.param .b32 r) twice (.param .b32 x) {\n.loc 1 3 1\n ret;\n}\n.file 1 \"b.cu\"\n";

    fn linked() -> Module {
        link([CALLER, CALLEE].map(|text| Module::parse(text).unwrap()).to_vec())
    }

    #[test]
    fn declarations_meet_their_definitions() {
        let module = linked();
        assert!(module.function("twice").unwrap().body.is_some());
        let variable = module.variable("shared_count").unwrap();
        assert!(!variable.external);
        assert_eq!(variable.initial, [5, 0, 0, 0]);
        assert_eq!((module.functions.len(), module.variables.len()), (2, 1));
    }

    #[test]
    fn source_places_stay_with_their_unit() {
        let module = linked();
        let place = |name: &str| {
            let body = module.function(name).unwrap().body.as_ref().unwrap();
            module.places(body.instructions[0].location)[0].to_string()
        };
        assert_eq!((place("k"), place("twice")), ("a.cu:7".into(), "b.cu:3".into()));
    }
}
