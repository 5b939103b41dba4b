//! Questions about the simulated device, error texts and tensor maps.

use super::{Failure, Reply, Session};
use crate::runtime::ReportKind;
use crate::runtime::errors;
use crate::runtime::wire::Request;
use crate::tensor_map::{ElementType, Interleave, L2Promotion, OobFill, SIZE, Swizzle, TensorMap};

impl Session<'_> {
    pub(super) fn device_attribute(&self, request: &Request) -> Result<Reply, Failure> {
        let value = self.gpu.attribute(request.small(0)).ok_or_else(|| {
            Failure::reported(
                errors::INVALID_VALUE,
                ReportKind::Refused,
                format!("device attribute {} is not one that the simulated GPU has", request.argument(0)),
            )
        })?;
        Ok(Reply::of([value as u32 as u64]))
    }

    pub(super) fn encode_tensor_map(&self, request: &Request) -> Result<Reply, Failure> {
        let refused = |why: String| {
            Failure::reported(errors::INVALID_VALUE, ReportKind::Refused, format!("cuTensorMapEncodeTiled: {why}"))
        };
        let map = tensor_map(request).ok_or_else(|| refused("an enumeration's value is out of range".into()))?;
        let problems: Vec<String> = map.check().into_iter().map(|problem| problem.0).collect();
        match problems.is_empty() {
            true => Ok(Reply::bytes(map.encode().to_vec())),
            false => Err(refused(problems.join("; "))),
        }
    }

    pub(super) fn replace_tensor_map_address(&self, request: &Request) -> Result<Reply, Failure> {
        let refused = |why: String| {
            Failure::reported(errors::INVALID_VALUE, ReportKind::Refused, format!("cuTensorMapReplaceAddress: {why}"))
        };
        let bytes: [u8; SIZE] =
            request.blob.as_slice().try_into().map_err(|_| Failure::plain(errors::INVALID_VALUE))?;
        let map = TensorMap::decode(&bytes).map_err(|error| refused(error.to_string()))?;
        let moved = TensorMap { address: request.argument(0), ..map };
        let problems: Vec<String> = moved.check().into_iter().map(|problem| problem.0).collect();
        match problems.is_empty() {
            true => Ok(Reply::bytes(moved.encode().to_vec())),
            false => Err(refused(problems.join("; "))),
        }
    }
}

/// The descriptor of a request; `None` when an enumeration's value is out of range.
fn tensor_map(request: &Request) -> Option<TensorMap> {
    let words: Vec<u64> = request
        .blob
        .chunks_exact(8)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect();
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let small = |at: usize| u32::try_from(word(at)).unwrap_or(u32::MAX);
    Some(TensorMap {
        element: ElementType::from_driver(request.small(0))?,
        rank: u8::try_from(request.argument(1)).ok()?,
        address: request.argument(2),
        dims: std::array::from_fn(word),
        strides: std::array::from_fn(|d| word(5 + d)),
        box_dims: std::array::from_fn(|d| small(9 + d)),
        element_strides: std::array::from_fn(|d| small(14 + d)),
        interleave: Interleave::from_driver(request.small(3))?,
        swizzle: Swizzle::from_driver(request.small(4))?,
        l2_promotion: L2Promotion::from_driver(request.small(5))?,
        fill: OobFill::from_driver(request.small(6))?,
    })
}
