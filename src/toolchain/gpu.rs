//! The GPUs of this machine, as the driver's own tool tells them.

use serde::Serialize;

use crate::sys::{Request, System};

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gpu {
    /// Product name.
    pub name: String,
    /// `sm_90`, from its compute capability.
    pub arch: String,
    /// Driver version.
    pub driver: String,
}

/// What `nvidia-smi` tells; empty without it, and when it tells nothing.
pub fn list(system: &dyn System) -> Vec<Gpu> {
    let Some(tool) = system.which("nvidia-smi") else { return vec![] };
    let query = ["--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"];
    let Ok(finished) = system.run(&Request::new(tool.as_str()).arguments(query)) else { return vec![] };
    if !finished.success() {
        return vec![];
    }
    finished.text().lines().filter_map(gpu).collect()
}

fn gpu(line: &str) -> Option<Gpu> {
    let mut fields = line.split(',').map(str::trim);
    let (name, capability, driver) = (fields.next()?, fields.next()?, fields.next()?);
    let digits: String = capability.chars().filter(char::is_ascii_digit).collect();
    Some(Gpu { name: name.to_owned(), arch: format!("sm_{digits}"), driver: driver.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::list;
    use crate::sys::Fake;

    #[test]
    fn the_csv_of_the_tool_is_read() {
        let system = Fake::default().variable("PATH", "/bin").file("/bin/nvidia-smi", "").program(
            "/bin/nvidia-smi",
            0,
            "NVIDIA H200, 9.0, 580.65.06\n",
        );
        let gpus = list(&system);
        assert_eq!((gpus[0].arch.as_str(), gpus[0].driver.as_str()), ("sm_90", "580.65.06"));
        assert!(list(&Fake::default()).is_empty());
    }
}
