//! The JSON lines of an executable, between which a kernel may print anything.

use serde_json::Value;

use crate::model::Event;

/// How many foreign lines are kept, and how many bytes of each.
const KEPT: (usize, usize) = (32, 400);

/// What was found in the output of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// Events in order.
    pub events: Vec<Event>,
    /// The first lines that are no events, cut: a kernel's printf, a library's warnings.
    pub foreign: Vec<String>,
    /// How many such lines there were.
    pub foreign_count: usize,
    /// Lines that claim to be events and are malformed: (line from 1, why).
    pub malformed: Vec<(usize, String)>,
}

/// Reads all lines. Never fails: an output that was cut gives the events before the cut, and a missing `end` is for the judge to see.
pub fn json_lines(text: &str) -> Lines {
    let mut lines = Lines::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(object)) if object.contains_key("krepro") => {
                if object.get("krepro") != Some(&Value::from(1)) {
                    let version = object.get("krepro").map(Value::to_string).unwrap_or_default();
                    lines.malformed.push((index + 1, format!("version {version}; this krepro reads version 1")));
                } else {
                    match serde_json::from_value::<Event>(Value::Object(object)) {
                        Ok(event) => lines.events.push(event),
                        Err(error) => lines.malformed.push((index + 1, error.to_string())),
                    }
                }
            }
            Err(error) if line.starts_with("{\"krepro\"") => lines.malformed.push((index + 1, error.to_string())),
            _ => {
                lines.foreign_count += 1;
                if lines.foreign.len() < KEPT.0 {
                    lines.foreign.push(line.chars().take(KEPT.1).collect());
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::json_lines;
    use crate::model::{Event, RungStatus};

    #[test]
    fn a_kernels_printf_between_the_events_is_kept_and_not_judged() {
        let text = "tile 3 done\n{\"krepro\":1,\"event\":\"rung\",\"name\":\"ones\",\"status\":\"fail\",\
                    \"metrics\":{\"exact\":true,\"wrong\":3,\"max_rel\":\"inf\"}}\n{\"other\":2}\n";
        let lines = json_lines(text);
        let [Event::Rung(rung)] = lines.events.as_slice() else { panic!("{lines:?}") };
        assert_eq!((rung.name.as_str(), rung.status), ("ones", RungStatus::Fail));
        assert_eq!(rung.metrics.unwrap().max_rel.0, f64::INFINITY);
        assert_eq!((lines.foreign_count, lines.malformed.len()), (2, 0));
    }

    #[test]
    fn an_event_that_was_cut_or_is_of_another_version_is_said() {
        let lines = json_lines(
            "{\"krepro\":1,\"event\":\"ru\n{\"krepro\":2,\"event\":\"end\",\"exit\":0}\n{\"krepro\":1,\"event\":\"new\"}",
        );
        assert_eq!(lines.malformed.iter().map(|m| m.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(lines.malformed[1].1.contains("version 2"));
        assert!(lines.events.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).{0,400}") {
            let lines = json_lines(&text);
            prop_assert!(lines.foreign.len() <= lines.foreign_count);
        }
    }
}
