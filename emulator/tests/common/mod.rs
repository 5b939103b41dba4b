//! What the tests share: compiling kernels with nvcc and running them.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use krepro_emulator::exec::{Failure, Launch, Options, Program, Report, launch};
use krepro_emulator::memory::Memory;
use krepro_emulator::ptx::Module;
use krepro_emulator::tensor_map::{ElementType, Interleave, L2Promotion, OobFill, Swizzle, TensorMap};

/// nvcc from `NVCC` or the path.
fn nvcc() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("NVCC") {
        return Some(path.into());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join("nvcc")).find(|path| path.is_file())
}

/// PTX of `kernels/NAME.cu`; `None`, said aloud, without nvcc.
pub fn compile(name: &str, arch: &str) -> Option<String> {
    let Some(nvcc) = nvcc() else {
        eprintln!("SKIPPED: no nvcc (set NVCC), so kernels/{name}.cu is not run");
        return None;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(format!("{name}.cu"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_{arch}_{}.ptx", std::process::id()));
    let run = Command::new(nvcc)
        .args(["-O3", "-lineinfo", "-std=c++17", "-ptx", "-arch", arch, "-o"])
        .arg(&out)
        .arg(&source)
        .output()
        .expect("nvcc starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(std::fs::read_to_string(&out).expect("nvcc wrote its output"))
}

/// A device with one program.
pub struct Device {
    pub memory: Memory,
    pub program: Program,
    pub options: Options,
}

/// A parameter: bytes and alignment.
pub struct Parameter(Vec<u8>);

impl From<u64> for Parameter {
    fn from(value: u64) -> Self {
        Parameter(value.to_le_bytes().into())
    }
}

impl From<i32> for Parameter {
    fn from(value: i32) -> Self {
        Parameter(value.to_le_bytes().into())
    }
}

impl From<f32> for Parameter {
    fn from(value: f32) -> Self {
        Parameter(value.to_le_bytes().into())
    }
}

impl From<Vec<u8>> for Parameter {
    fn from(value: Vec<u8>) -> Self {
        Parameter(value)
    }
}

impl Device {
    pub fn new(ptx: &str) -> Device {
        let memory = Memory::new(1 << 32);
        let module = Module::parse(ptx).unwrap_or_else(|e| panic!("{e}"));
        let program = Program::load(Arc::new(module), &memory).unwrap_or_else(|e| panic!("{e}"));
        Device { memory, program, options: Options::default() }
    }

    /// A new buffer with these values.
    pub fn upload<T: Copy>(&self, values: &[T], bytes: impl Fn(T) -> Vec<u8>) -> u64 {
        let all: Vec<u8> = values.iter().flat_map(|&v| bytes(v)).collect();
        let address = self.memory.allocate(all.len() as u64, 256).expect("room");
        self.memory.write(address, &all).expect("in bounds");
        address
    }

    pub fn floats(&self, values: &[f32]) -> u64 {
        self.upload(values, |v| v.to_le_bytes().into())
    }

    pub fn words(&self, values: &[u32]) -> u64 {
        self.upload(values, |v| v.to_le_bytes().into())
    }

    pub fn halves(&self, values: &[u16]) -> u64 {
        self.upload(values, |v| v.to_le_bytes().into())
    }

    pub fn zeros(&self, bytes: u64) -> u64 {
        self.memory.allocate(bytes, 256).expect("room")
    }

    fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.memory.read(address, &mut bytes).expect("in bounds");
        bytes
    }

    pub fn read_words(&self, address: u64, count: usize) -> Vec<u32> {
        self.bytes(address, 4 * count).chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
    }

    pub fn read_halves(&self, address: u64, count: usize) -> Vec<u16> {
        self.bytes(address, 2 * count).chunks(2).map(|c| u16::from_le_bytes(c.try_into().unwrap())).collect()
    }

    pub fn read_floats(&self, address: u64, count: usize) -> Vec<f32> {
        self.read_words(address, count).into_iter().map(f32::from_bits).collect()
    }

    pub fn read_doubles(&self, address: u64, count: usize) -> Vec<u64> {
        self.bytes(address, 8 * count).chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect()
    }

    pub fn launch(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        parameters: Vec<Parameter>,
    ) -> Result<Report, Box<Failure>> {
        self.launch_with(kernel, grid, block, [1, 1, 1], 0, parameters)
    }

    pub fn launch_with(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        cluster: [u32; 3],
        dynamic_shared: u32,
        parameters: Vec<Parameter>,
    ) -> Result<Report, Box<Failure>> {
        let layout = &self.program.module().function(kernel).expect("the kernel exists").parameters;
        assert_eq!(layout.len(), parameters.len());
        let mut block_of = vec![0; layout.iter().map(|p| p.offset + p.bytes).max().unwrap_or(0) as usize];
        for (place, Parameter(bytes)) in layout.iter().zip(parameters) {
            assert_eq!(place.bytes, bytes.len() as u64, "{}", place.name);
            block_of[place.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let what = Launch { kernel: kernel.into(), grid, block, cluster, dynamic_shared, parameters: block_of };
        launch(&self.program, &self.memory, &what, &self.options)
    }
}

/// Numbers that look random and are the same on every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// In [-1, 1).
    pub fn unit(&mut self) -> f32 {
        self.next() as i32 as f32 / 2_147_483_648.0
    }
}

/// A tensor map of a dense tensor.
pub fn map(element: ElementType, address: u64, dims: &[u64], boxes: &[u32], swizzle: Swizzle) -> TensorMap {
    let mut map = TensorMap {
        element,
        rank: dims.len() as u8,
        address,
        dims: [1; 5],
        strides: [0; 4],
        box_dims: [1; 5],
        element_strides: [1; 5],
        interleave: Interleave::None,
        swizzle,
        l2_promotion: L2Promotion::None,
        fill: OobFill::Zero,
    };
    let mut stride = u64::from(element.bits()) / 8;
    for (d, &extent) in dims.iter().enumerate() {
        map.dims[d] = extent;
        map.box_dims[d] = boxes[d];
        stride *= extent;
        if d < 4 {
            map.strides[d] = stride;
        }
    }
    assert_eq!(map.check(), []);
    map
}
