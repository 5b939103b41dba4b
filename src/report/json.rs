//! The answer for programs.

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::model::Answer;

/// One object: `krepro` (version 1), `report` (`answer`), `title`, `exit`, and the members of [`Answer`].
pub fn json(answer: &Answer) -> Value {
    let mut object = json!({
        "krepro": 1,
        "report": "answer",
        "title": answer.outcome.title(),
        "exit": Exit::from(&answer.outcome) as u8,
    });
    if let (Some(object), Ok(Value::Object(members))) = (object.as_object_mut(), serde_json::to_value(answer)) {
        object.extend(members);
    }
    object
}
