//! Which image a GPU would have been given.

use super::{Image, Kind, NoPtx};
use crate::arch::{Arch, Suffix};

/// The PTX image for `gpu`: the highest architecture that runs there, and of one architecture the most specific target.
///
/// Specific first because `-arch=sm_90a` also embeds a generic `compute_90` image whose feature guards are off.
///
/// # Errors
///
/// [`NoPtx`] says what to add to the nvcc command.
pub fn choose<'i, 'a>(images: &'i [Image<'a>], gpu: Arch) -> Result<&'i Image<'a>, NoPtx> {
    let ptx = || images.iter().filter(|image| image.kind == Kind::Ptx);
    if let Some(best) = ptx().filter(|image| image.arch.runs_on(gpu)).max_by_key(|image| image.arch) {
        return Ok(best);
    }
    if images.is_empty() {
        return Err(NoPtx::Empty);
    }
    let compute = compute_for(images, gpu);
    if ptx().next().is_some() {
        let held = list(ptx().map(|image| image.arch.compute()));
        return Err(NoPtx::OtherGpu { gpu: sm_like(&compute), held, compute });
    }
    let held = list(images.iter().map(|image| image.arch.to_string()));
    Err(NoPtx::MachineCodeOnly { held, sm: sm_like(&compute), compute })
}

/// The architecture of the newest PTX image (else of the newest machine code): the GPU that an executable asks for.
pub fn newest_ptx(images: &[Image<'_>]) -> Option<Arch> {
    let newest = |kind| images.iter().filter(|image| image.kind == kind).map(|image| image.arch).max();
    newest(Kind::Ptx).or_else(|| newest(Kind::Elf))
}

/// The virtual architecture to ask for: that of the machine code already built for this GPU, else the GPU's own.
fn compute_for(images: &[Image<'_>], gpu: Arch) -> String {
    let same = images.iter().filter(|image| image.kind == Kind::Elf && image.arch.runs_on(gpu));
    let arch = same.map(|image| image.arch).max().unwrap_or(gpu);
    let exact = Arch { suffix: Suffix::Exact, ..arch };
    if arch.suffix == Suffix::None && gpu.suffix != Suffix::None && arch.number == gpu.number {
        return exact.compute();
    }
    arch.compute()
}

fn sm_like(compute: &str) -> String {
    compute.replacen("compute_", "sm_", 1)
}

fn list(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    names.dedup();
    names.join(", ")
}
