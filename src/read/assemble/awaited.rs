//! What the kernel awaits on its barriers, with the descriptors under their names at the call.

use crate::model::{Awaited, Fact, Instantiation, KernelSignature};
use crate::read::constant::ExpectedBytes;

/// The barriers whose bytes are known. A copy goes through a kernel parameter; the descriptor is what the call passes for it.
pub fn awaited(expected: &[ExpectedBytes], signature: &KernelSignature, instantiation: &Instantiation) -> Vec<Awaited> {
    let passed = |parameter: &str| -> String {
        let index = signature.parameters.iter().position(|p| p.name == parameter);
        let argument = index.and_then(|index| instantiation.arguments.get(index));
        let text = argument.map_or(parameter, |piece| piece.value.trim().trim_start_matches(['&', '*']));
        if instantiation.objects.iter().any(|object| object.name == text) { text } else { parameter }.to_owned()
    };
    expected
        .iter()
        .filter_map(|entry| {
            let mut descriptors: Vec<String> = entry.copies.iter().map(|copy| passed(&copy.object)).collect();
            descriptors.sort();
            descriptors.dedup();
            Some(Awaited {
                barrier: entry.barrier.clone(),
                bytes: Fact::read(*entry.value.as_ref().ok()?, entry.at.clone(), entry.bytes.clone()),
                descriptors,
            })
        })
        .collect()
}
