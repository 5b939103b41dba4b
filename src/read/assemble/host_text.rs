//! What the host half of a printed unit says of launch and descriptors, by the patterns of the manifest.

use std::collections::BTreeMap;

use regex::Regex;

use super::Facts;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Fact, OutOfBounds, Swizzle, TensorMap};
use crate::source::{Place, Spot};

/// The text with its patterns.
pub(super) struct HostText<'a> {
    facts: &'a Facts<'a>,
    terms: &'a Terms<'a>,
    text: String,
}

impl<'a> HostText<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, terms: &'a Terms<'a>) -> Self {
        HostText { facts, terms, text: facts.instantiation.lines.join("\n") }
    }

    /// The launch's `grid`, `block` and `shared_memory`, as the pattern's groups of these names give them.
    pub(super) fn launch(&self) -> Result<BTreeMap<&'static str, Vec<Fact<u64>>>, Diagnostics> {
        let mut out = BTreeMap::new();
        let Some(pattern) = &self.facts.manifest.host_text.launch else { return Ok(out) };
        let last = self.facts.instantiation.kernel.value.rsplit("::").next().unwrap_or_default();
        let regex = self.regex(pattern, last)?;
        let Some(found) = regex.captures(&self.text) else { return Ok(out) };
        for group in ["grid", "block", "shared_memory", "cluster"] {
            if let Some(text) = found.name(group) {
                out.insert(group, self.list(text.as_str(), text.start())?);
            }
        }
        Ok(out)
    }

    /// The descriptor that a variable of this name is filled as.
    pub(super) fn descriptor(&self, name: &str) -> Result<Option<TensorMap>, Diagnostics> {
        let patterns = &self.facts.manifest.host_text.descriptor;
        let mut fields: BTreeMap<&str, Vec<Fact<u64>>> = BTreeMap::new();
        for (field, pattern) in patterns {
            let regex = self.regex(pattern, name)?;
            let Some(text) = regex.captures(&self.text).and_then(|found| found.get(1)) else { return Ok(None) };
            fields.insert(field, self.list(text.as_str(), text.start())?);
        }
        let take = |field: &str| fields.get(field).cloned().unwrap_or_default();
        let one = |field: &str| take(field).first().map_or(0, |fact| fact.value);
        if fields.is_empty() {
            return Ok(None);
        }
        let (data_type, element_bytes) = data_type(one("data_type"));
        let swizzle = take("swizzle").into_iter().next().unwrap_or_else(|| Fact::assumed(0, "no swizzle is named"));
        let mut strides = take("global_strides");
        // The stride of dimension 0 is the element's size, and no argument of the driver's call.
        if strides.len() == take("global_dim").len() && !strides.is_empty() {
            strides.remove(0);
        }
        Ok(Some(TensorMap {
            data_type: data_type.to_owned(),
            element_bytes,
            global_dim: take("global_dim"),
            global_strides: strides,
            box_dim: take("box_dim"),
            element_strides: take("element_strides").iter().map(|fact| fact.value).collect(),
            swizzle: swizzle.map(|code| match code {
                1 => Swizzle::B32,
                2 => Swizzle::B64,
                3 => Swizzle::B128,
                _ => Swizzle::None,
            }),
            l2_promotion: l2_promotion(one("l2_promotion")).to_owned(),
            out_of_bounds: if one("out_of_bounds") == 1 { OutOfBounds::Nan } else { OutOfBounds::Zeros },
        }))
    }

    fn regex(&self, pattern: &toml::Spanned<String>, name: &str) -> Result<Regex, Diagnostics> {
        Regex::new(&pattern.get_ref().replace("{name}", &regex::escape(name))).map_err(|error| {
            let spot = Spot::new(self.facts.manifest_source, pattern.span());
            Diagnostic::error("K-MANIFEST", format!("no regular expression: {error}")).at(spot, "").into()
        })
    }

    /// Constant expressions with commas, that begin at byte `at` of the text.
    fn list(&self, text: &str, at: usize) -> Result<Vec<Fact<u64>>, Diagnostics> {
        let place = self.place(at);
        let value = |part: &str| -> Result<Fact<u64>, Diagnostic> {
            let fact = self.terms.given(part.trim(), format!("the host half at {place}"))?;
            Ok(Fact::read(fact.value, place.clone(), part.trim().to_owned()))
        };
        text.split(',').map(|part| value(part).map_err(Diagnostics::from)).collect()
    }

    fn place(&self, at: usize) -> Place {
        let before = &self.text[..at];
        let file = self.facts.instantiation.kernel.origin.place().map(|place| place.file.clone()).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place { file, line: before.matches('\n').count() + 1, column }
    }
}

/// `CUtensorMapDataType` (cuda.h 13.0) by its number, with the bytes of an element.
fn data_type(code: u64) -> (&'static str, u64) {
    const TYPES: [(&str, u64); 13] = [
        ("CU_TENSOR_MAP_DATA_TYPE_UINT8", 1),
        ("CU_TENSOR_MAP_DATA_TYPE_UINT16", 2),
        ("CU_TENSOR_MAP_DATA_TYPE_UINT32", 4),
        ("CU_TENSOR_MAP_DATA_TYPE_INT32", 4),
        ("CU_TENSOR_MAP_DATA_TYPE_UINT64", 8),
        ("CU_TENSOR_MAP_DATA_TYPE_INT64", 8),
        ("CU_TENSOR_MAP_DATA_TYPE_FLOAT16", 2),
        ("CU_TENSOR_MAP_DATA_TYPE_FLOAT32", 4),
        ("CU_TENSOR_MAP_DATA_TYPE_FLOAT64", 8),
        ("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 2),
        ("CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ", 4),
        ("CU_TENSOR_MAP_DATA_TYPE_TFLOAT32", 4),
        ("CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ", 4),
    ];
    usize::try_from(code).ok().and_then(|index| TYPES.get(index).copied()).unwrap_or(TYPES[0])
}

/// `CUtensorMapL2promotion` by its number.
fn l2_promotion(code: u64) -> &'static str {
    match code {
        1 => "CU_TENSOR_MAP_L2_PROMOTION_L2_64B",
        2 => "CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
        3 => "CU_TENSOR_MAP_L2_PROMOTION_L2_256B",
        _ => "CU_TENSOR_MAP_L2_PROMOTION_NONE",
    }
}

/// The C++ type of a descriptor's elements; none for bytes, which hold any narrow type.
pub(super) fn cxx_element(map: &TensorMap) -> &'static str {
    match map.data_type.as_str() {
        "CU_TENSOR_MAP_DATA_TYPE_FLOAT16" => "half_t",
        "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16" => "bfloat16_t",
        "CU_TENSOR_MAP_DATA_TYPE_FLOAT32" => "float",
        "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32" => "tfloat32_t",
        "CU_TENSOR_MAP_DATA_TYPE_INT32" => "int32_t",
        _ => "",
    }
}
