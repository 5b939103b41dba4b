//! Printed descriptors.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::Line;
use crate::model::{Fact, Swizzle};
use crate::source::Source;

/// A descriptor as production printed it. Dimension 0 is the contiguous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedMap {
    /// Its first line, from 1.
    pub line: usize,
    /// Extents in elements.
    pub global_dim: Vec<Fact<u64>>,
    /// Strides of dimensions 1 and up, in bytes.
    pub global_strides: Vec<Fact<u64>>,
    /// Box in elements.
    pub box_dim: Vec<Fact<u64>>,
    /// Bytes of an element, where it is printed.
    pub element_bytes: Option<u64>,
    /// Swizzle, where it is printed.
    pub swizzle: Option<Fact<Swizzle>>,
    /// `CUtensorMapDataType` enumerator, where it is printed.
    pub data_type: Option<String>,
    /// `CUtensorMapL2promotion` enumerator, where it is known.
    pub l2_promotion: Option<String>,
}

/// `Making TMA desc: global memory: K M, shared memory: 64 128, outer stride: K, swizzle: 128 (base: 0), elem size: 2`, and the
/// same with three extents and two strides. The strides count elements, the swizzle bytes.
static ONE_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"TMA desc: global memory: ([\d ]+), shared memory: ([\d ]+), outer stride: ([\d ]+), swizzle: (\d+).*?elem size: (\d+)",
    )
    .ok()
});

pub(super) fn maps(source: &Arc<Source>, lines: &[Line<'_>]) -> Vec<PrintedMap> {
    let mut out = vec![];
    let mut open = Block::default();
    for line in lines {
        if let Some(map) = one_line(source, line) {
            out.extend(std::mem::take(&mut open).map());
            out.push(map);
            continue;
        }
        let Some((field, rest)) = field(line.text) else { continue };
        // The format is the first field that is printed, the swizzle the last.
        if open.has(field) || (field == Field::Format && open.whole()) {
            out.extend(std::mem::take(&mut open).map());
        }
        open.take(source, line, field, rest);
    }
    out.extend(open.map());
    out
}

fn one_line(source: &Arc<Source>, line: &Line<'_>) -> Option<PrintedMap> {
    if !line.text.contains("TMA desc: global memory") {
        return None;
    }
    let found = ONE_LINE.as_ref()?.captures(line.text)?;
    let list = |index: usize| found.get(index).map(|text| numbers(source, line, text.start(), text.as_str()));
    let element: u64 = found.get(5)?.as_str().parse().ok()?;
    let swizzle = found.get(4)?;
    let bytes: u64 = swizzle.as_str().parse().ok()?;
    let at = line.spot(source, swizzle.start(), swizzle.end()).place();
    Some(PrintedMap {
        line: line.number,
        global_dim: list(1)?,
        global_strides: list(3)?.into_iter().map(|stride| stride.map(|count| count.saturating_mul(element))).collect(),
        box_dim: list(2)?,
        element_bytes: Some(element),
        swizzle: Some(Fact::read(of_bytes(bytes), at, Some(format!("swizzle: {bytes}")))),
        data_type: None,
        l2_promotion: None,
    })
}

fn of_bytes(bytes: u64) -> Swizzle {
    match bytes {
        32 => Swizzle::B32,
        64 => Swizzle::B64,
        128 => Swizzle::B128,
        _ => Swizzle::None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Dim,
    Strides,
    Box,
    Swizzle,
    Format,
}

/// What the fields are called by CuTe, and by frameworks that print the arguments of `cuTensorMapEncodeTiled`.
const FIELDS: [(&str, Field); 13] = [
    ("globalDim", Field::Dim),
    ("gmem_prob_shape", Field::Dim),
    ("gmem_dims", Field::Dim),
    ("globalStrides", Field::Strides),
    ("gmem_prob_stride", Field::Strides),
    ("gmem_strides", Field::Strides),
    ("boxDim", Field::Box),
    ("smem_box_shape", Field::Box),
    ("smem_dims", Field::Box),
    ("swizzle", Field::Swizzle),
    ("tma_swizzle", Field::Swizzle),
    ("format", Field::Format),
    ("tma_format", Field::Format),
];

fn field(text: &str) -> Option<(Field, usize)> {
    let start = text.len() - text.trim_start().len();
    let word = text[start..].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?;
    let (_, field) = FIELDS.iter().find(|(name, _)| *name == word)?;
    Some((*field, start + word.len()))
}

/// The fields of one descriptor, printed line by line.
#[derive(Default)]
struct Block {
    line: Option<usize>,
    dim: Vec<Fact<u64>>,
    strides: Vec<Fact<u64>>,
    boxes: Vec<Fact<u64>>,
    swizzle: Option<Fact<u64>>,
    format: Option<u64>,
}

impl Block {
    fn whole(&self) -> bool {
        !self.dim.is_empty() && !self.boxes.is_empty()
    }

    fn has(&self, field: Field) -> bool {
        match field {
            Field::Dim => !self.dim.is_empty(),
            Field::Strides => !self.strides.is_empty(),
            Field::Box => !self.boxes.is_empty(),
            Field::Swizzle => self.swizzle.is_some(),
            Field::Format => self.format.is_some(),
        }
    }

    fn take(&mut self, source: &Arc<Source>, line: &Line<'_>, field: Field, from: usize) {
        let found = numbers(source, line, from, &line.text[from..]);
        self.line.get_or_insert(line.number);
        match field {
            Field::Dim => self.dim = found,
            Field::Strides => self.strides = found,
            Field::Box => self.boxes = found,
            Field::Swizzle => self.swizzle = found.into_iter().next(),
            Field::Format => self.format = found.first().map(|fact| fact.value),
        }
    }

    fn map(self) -> Option<PrintedMap> {
        let rank = self.dim.len();
        if rank == 0 || self.boxes.len() != rank {
            return None;
        }
        // Some print the contiguous stride first, which the driver does not take.
        let mut strides = self.strides;
        let contiguous = if strides.len() == rank { Some(strides.remove(0).value) } else { None };
        let kind = self.format.and_then(|number| DATA_TYPES.get(usize::try_from(number).ok()?));
        Some(PrintedMap {
            line: self.line?,
            global_dim: self.dim,
            global_strides: strides,
            box_dim: self.boxes,
            element_bytes: kind.map(|(_, bytes)| *bytes).or(contiguous.filter(|bytes| (1..=8).contains(bytes))),
            swizzle: self
                .swizzle
                .map(|fact| fact.map(|number| of_bytes(if number == 0 { 0 } else { 16 << number.min(4) }))),
            data_type: kind.map(|(name, _)| format!("CU_TENSOR_MAP_DATA_TYPE_{name}")),
            l2_promotion: None,
        })
    }
}

/// `CUtensorMapDataType` by number, with the bytes of an element (cuda.h 13.0).
const DATA_TYPES: [(&str, u64); 15] = [
    ("UINT8", 1),
    ("UINT16", 2),
    ("UINT32", 4),
    ("INT32", 4),
    ("UINT64", 8),
    ("INT64", 8),
    ("FLOAT16", 2),
    ("FLOAT32", 4),
    ("FLOAT64", 8),
    ("BFLOAT16", 2),
    ("FLOAT32_FTZ", 4),
    ("TFLOAT32", 4),
    ("TFLOAT32_FTZ", 4),
    ("16U4_ALIGN8B", 1),
    ("16U4_ALIGN16B", 1),
];

/// Bytes of an element of a `CUtensorMapDataType`, by its enumerator.
pub fn element_bytes(enumerator: &str) -> Option<u64> {
    let name = enumerator.strip_prefix("CU_TENSOR_MAP_DATA_TYPE_")?;
    DATA_TYPES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// The decimal numbers of a text that begins at `from` in the line.
fn numbers(source: &Arc<Source>, line: &Line<'_>, from: usize, text: &str) -> Vec<Fact<u64>> {
    let mut out = vec![];
    let mut at = 0;
    for part in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if let Ok(value) = part.parse() {
            let start = from + at;
            out.push(Fact::transcribed(value, line.spot(source, start, start + part.len()).place()));
        }
        at += part.len() + text[at + part.len()..].chars().next().map_or(0, char::len_utf8);
    }
    out
}
