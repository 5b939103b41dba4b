//! S09: bytes that the loads of a barrier phase deliver, against the bytes that the kernel awaits there.

use crate::model::{
    Awaited, DescriptorPair, DescriptorSource, Fact, Finding, Findings, Reproducer, Role, TensorMap, Weight,
};

const CODE: &str = "K-S09";
/// Largest transaction count of an mbarrier.
const LARGEST_COUNT: u64 = (1 << 20) - 1;

/// What one barrier phase gets.
struct Delivery<'a> {
    pairs: Vec<&'a DescriptorPair>,
}

impl Delivery<'_> {
    fn bytes(&self, source: DescriptorSource) -> u64 {
        self.pairs
            .iter()
            .fold(0, |sum, p| sum.saturating_add(p.chosen(source).box_bytes().saturating_mul(p.copies.value)))
    }

    /// The sum as a reader would check it: `2 x (64 x 16) x 2 B`.
    fn arithmetic(&self, source: DescriptorSource) -> String {
        let term = |pair: &&DescriptorPair| {
            let map = pair.chosen(source);
            let boxes: Vec<_> = told(map).map(|(_, extent)| extent.value.to_string()).collect();
            format!("{} x ({}) x {} B", pair.copies.value, boxes.join(" x "), map.element_bytes)
        };
        self.pairs.iter().map(term).collect::<Vec<_>>().join(" + ")
    }

    fn differs(&self) -> bool {
        self.pairs.iter().any(|p| p.from_type.is_some())
            && self.bytes(DescriptorSource::Type) != self.bytes(DescriptorSource::Production)
    }
}

/// Extents of the box that say something: trailing ones beyond the second do not.
fn told(map: &TensorMap) -> impl Iterator<Item = (usize, &Fact<u64>)> {
    map.box_dim.iter().enumerate().filter(|(dim, extent)| *dim < 2 || extent.value != 1)
}

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    for awaited in &reproducer.awaited {
        let find = |name: &String| reproducer.descriptors.iter().find(|pair| pair.name == *name);
        let pairs: Vec<_> = awaited.descriptors.iter().filter_map(find).collect();
        if pairs.is_empty() || pairs.len() != awaited.descriptors.len() {
            out.skip(CODE, format!("every descriptor that signals `{}`", awaited.barrier));
            continue;
        }
        compare(awaited, &Delivery { pairs }, reproducer.descriptor_source, out);
    }
    for pair in &reproducer.descriptors {
        let known = reproducer.awaited.iter().any(|awaited| awaited.descriptors.contains(&pair.name));
        // A store signals no mbarrier.
        if !known && pair.operand != Role::Out.name() {
            out.skip(CODE, format!("bytes awaited for descriptor `{}`", pair.name));
        }
    }
}

fn compare(barrier: &Awaited, delivery: &Delivery<'_>, source: DescriptorSource, out: &mut Findings) {
    let awaited = &barrier.bytes;
    let other = match source {
        DescriptorSource::Production => DescriptorSource::Type,
        DescriptorSource::Type => DescriptorSource::Production,
    };
    let delivered = delivery.bytes(source);
    if delivered != awaited.value {
        let mut finding = Finding::new(CODE, Weight::Predict, message(barrier, delivery, source))
            .of("bytes awaited", &awaited.origin);
        finding = with_boxes(finding, delivery, source).then(consequence(delivered, awaited.value, source, delivery));
        if delivery.differs() && delivery.bytes(other) == awaited.value {
            finding = finding.help(format!(
                "the descriptor {} delivers {} bytes, what is awaited: --descriptor {}",
                described(other),
                awaited.value,
                word(other)
            ));
        }
        finding = finding.help(format!("await {delivered} bytes, or {}", nearest_box(delivery, awaited.value, source)));
        out.push(finding);
    } else if delivery.differs() {
        let finding =
            Finding::new(CODE, Weight::Note, message(barrier, delivery, other)).of("bytes awaited", &awaited.origin);
        out.push(
            with_boxes(finding, delivery, other)
                .then(format!(
                    "nothing here: the reproducer takes the descriptor {}, which delivers {delivered} bytes, what is \
                     awaited; one that takes the other hangs or goes wrong, and that would be the reproducer's fault",
                    described(source)
                ))
                .help(format!("keep --descriptor {}", word(source))),
        );
    }
    if delivered > LARGEST_COUNT {
        out.push(
            Finding::new(
                "K-S09b",
                Weight::Predict,
                format!(
                    "one phase of `{}` delivers {delivered} bytes; an mbarrier counts to {LARGEST_COUNT}",
                    barrier.barrier
                ),
            )
            .of("bytes awaited", &awaited.origin)
            .then("the transaction count overflows: the phase completes early, never, or with an error")
            .help("load in smaller stages, or on several barriers"),
        );
    }
}

fn message(barrier: &Awaited, delivery: &Delivery<'_>, source: DescriptorSource) -> String {
    let names: Vec<_> = delivery.pairs.iter().map(|pair| format!("`{}`", pair.name)).collect();
    format!(
        "{} {} delivers {} bytes a phase to `{}` ({}), and the kernel awaits {}",
        names.join(" + "),
        described(source),
        delivery.bytes(source),
        barrier.barrier,
        delivery.arithmetic(source),
        barrier.bytes.value
    )
}

fn described(source: DescriptorSource) -> &'static str {
    match source {
        DescriptorSource::Production => "as production fills it at run time",
        DescriptorSource::Type => "as the emitted type builds it",
    }
}

fn word(source: DescriptorSource) -> &'static str {
    match source {
        DescriptorSource::Production => "production",
        DescriptorSource::Type => "type",
    }
}

fn with_boxes(mut finding: Finding, delivery: &Delivery<'_>, source: DescriptorSource) -> Finding {
    for pair in &delivery.pairs {
        for (dim, extent) in told(pair.chosen(source)) {
            finding = finding.of(format!("{} boxDim[{dim}] = {}", pair.name, extent.value), &extent.origin);
        }
        finding = finding.of(format!("{} copies = {}", pair.name, pair.copies.value), &pair.copies.origin);
    }
    finding
}

fn consequence(delivered: u64, awaited: u64, source: DescriptorSource, delivery: &Delivery<'_>) -> String {
    let mut text = if delivered < awaited {
        format!(
            "always hangs: {} bytes of the phase never arrive, so the consumer waits at its mbarrier for ever",
            awaited - delivered
        )
    } else {
        format!(
            "{} bytes more than awaited arrive: usually hangs in the first phase, but one or two phases may pass, with \
             tiles read before they are complete (measured on an H200: nondeterministic, so a run that passes does not \
             refute it). A box that overhangs the tensor counts in full",
            delivered - awaited
        )
    };
    if source == DescriptorSource::Type && delivery.differs() {
        text.push_str(
            "; the descriptor of the emitted type is not production's here, so this says something about the reproducer, \
             not about the kernel",
        );
    }
    text
}

/// The outer box of a single descriptor that would deliver what is awaited, or how many bytes are missing.
fn nearest_box(delivery: &Delivery<'_>, awaited: u64, source: DescriptorSource) -> String {
    if let [pair] = delivery.pairs.as_slice() {
        let map = pair.chosen(source);
        if let Some(outer) = map.box_dim.last().map(|extent| extent.value)
            && map.box_dim.len() > 1
            && outer > 0
        {
            let row = map.box_bytes() / outer * pair.copies.value;
            if row > 0 && awaited.is_multiple_of(row) && (1..=256).contains(&(awaited / row)) {
                let dim = map.box_dim.len() - 1;
                return format!("make boxDim[{dim}] {} instead of {outer}", awaited / row);
            }
        }
    }
    "clamp box and bytes by the same rule".to_owned()
}
