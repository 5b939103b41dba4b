//! S33: the toolchain against production's.

use crate::model::{Finding, Findings, Reproducer, Weight};

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let tools = &reproducer.toolchain;
    let (Some(theirs), Some(ours)) = (&tools.production_nvcc, &tools.nvcc) else {
        let missing = if tools.production_nvcc.is_none() { "production's nvcc" } else { "nvcc here" };
        out.skip("K-S33", format!("version of {missing}"));
        return;
    };
    let (Some(wanted), Some(have)) = (version(&theirs.value), version(&ours.value)) else {
        out.skip("K-S33", format!("a version in `{}`", theirs.value));
        return;
    };
    if wanted != have {
        out.push(
            Finding::new(
                "K-S33",
                Weight::Note,
                format!("production used nvcc {}.{}, and here it is {}.{}", wanted.0, wanted.1, have.0, have.1),
            )
            .of("production's nvcc", &theirs.origin)
            .of("nvcc here", &ours.origin)
            .then("another compiler makes other machine code: a fault of code generation may come or go, and headers may not fit")
            .help(format!("--nvcc of a toolkit {}.{}", wanted.0, wanted.1)),
        );
    }
}

/// `12.8` out of `/usr/local/cuda-12.8/bin/nvcc` or `13.0.88`.
fn version(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|part| {
        let mut numbers = part.split('.').map(str::parse);
        match (numbers.next()?, numbers.next()?) {
            (Ok(major), Ok(minor)) => Some((major, minor)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_version_is_found_in_a_path() {
        assert_eq!(version("/usr/local/cuda-12.8/bin/nvcc"), Some((12, 8)));
        assert_eq!(version("13.0.88"), Some((13, 0)));
        assert_eq!(version("/usr/bin/nvcc"), None);
    }
}
