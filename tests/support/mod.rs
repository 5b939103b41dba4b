//! Reproducers of the examples, built by hand.

#![allow(dead_code, clippy::unwrap_used, reason = "shared by tests that use different parts")]

use std::path::{Path, PathBuf};
use std::process::Command;

use krepro::model::*;
use krepro::source::Place;
use krepro::toolchain::Toolchain;

pub fn place(file: &str) -> Place {
    Place { file: file.into(), line: 1, column: 1 }
}

fn read<T>(value: T) -> Fact<T> {
    Fact::read(value, place("site.cc"), None)
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn example(name: &str) -> PathBuf {
    root().join("examples").join(name)
}

pub fn operand(role: Role, rows: u64, columns: u64, binding: &str) -> Operand {
    Operand {
        role: read(role),
        element: read(ElementType::Bf16),
        rows: read(rows),
        columns: read(columns),
        leading_dimension: read(columns),
        major: read(Major::K),
        binding: binding.into(),
    }
}

pub fn compile(arguments: &[&str], include: &Path) -> CompileCommand {
    let include = format!("-I{}", include.display());
    let all = arguments.iter().map(|a| (*a).to_owned()).chain([include]);
    CompileCommand {
        compiler: "/usr/local/cuda/bin/nvcc".into(),
        arguments: all.map(|text| CompilerArgument { text, at: place("jit.log") }).collect(),
        changes: vec![],
        directory: None,
        sources: vec!["/tmp/engine_jit/layer_3.cu".into()],
        at: place("jit.log"),
        warnings: vec![],
    }
}

fn launch(kind: LaunchKind, threads: u64, grid: [u64; 3], shared: u64) -> Launch {
    Launch {
        kind: read(kind),
        threads: read(threads),
        grid: grid.map(read),
        cluster: [1, 1, 1].map(read),
        shared_memory: read(shared),
        launch_bounds: None,
        workspace: read(0),
        workspace_fill: read(0),
    }
}

/// `simt_linear`, batch 16, output 256, reduction 1024, with a planted defect.
pub fn simt(defect: u32) -> Reproducer {
    let (m, n, k) = (16, 256, 1024);
    let piece = |text: &str| Fact::transcribed(text.to_owned(), place("site.cc"));
    let arguments: Vec<String> = ["__nv_bfloat16", "16", "256", "1024", "32", "2"]
        .into_iter()
        .map(str::to_owned)
        .chain([defect.to_string()])
        .collect();
    Reproducer {
        version: 1,
        name: "simt_linear".into(),
        scaffold: "simt_linear".into(),
        descriptor_source: DescriptorSource::Production,
        kernel: KernelRef {
            header: "examples/simt_linear/simt_linear.cuh".into(),
            includes: vec!["\"simt_linear.cuh\"".into()],
            signature: KernelSignature {
                name: "simt::linear_kernel".into(),
                text: read(String::new()),
                template_parameters: vec![],
                parameters: vec![],
                global: true,
                launch_bounds: None,
                cluster_dims: None,
            },
            uses: vec![],
        },
        instantiation: Instantiation {
            lines: vec![
                "void *simt_linear_entry() {".into(),
                format!("  return reinterpret_cast<void *>(&simt::linear_kernel<{}>);", arguments.join(", ")),
                "}".into(),
            ],
            kernel: piece("simt::linear_kernel"),
            template_arguments: arguments.iter().map(|a| piece(a)).collect(),
            arguments: vec![],
            aliases: vec![],
            objects: vec![],
        },
        leaves: Default::default(),
        contract: Contract {
            m: read(m),
            n: read(n),
            k: read(k),
            accumulator: read(Accumulator::F32Simt),
            output: read(OutputRole::Out),
            padding_zero: read(false),
            epilogue: vec![
                read(EpilogueStep::Add { operand: Role::Bias }),
                read(EpilogueStep::Round { to: ElementType::Bf16 }),
            ],
            operands: vec![
                operand(Role::A, m, k, "input"),
                operand(Role::B, n, k, "weight"),
                operand(Role::Bias, 1, n, "bias"),
                operand(Role::Out, m, n, "output"),
            ],
            tile: Tile { m: Some(read(16)), n: Some(read(64)), k: Some(read(32)), stages: Some(read(2)) },
        },
        descriptors: vec![],
        awaited: vec![],
        launch: launch(LaunchKind::Global, 256, [n.div_ceil(64), m.div_ceil(16), 1], 0),
        harness: HarnessText {
            arguments: vec![
                "buffers.address(\"a\")".into(),
                "buffers.address(\"b\")".into(),
                "buffers.address(\"bias\")".into(),
                "buffers.address(\"out\")".into(),
                n.to_string(),
            ],
            ..HarnessText::default()
        },
        compile: compile(
            &[
                "-std=c++17",
                "-O3",
                "-DNDEBUG",
                "--use_fast_math",
                "-Xcompiler",
                "-Wall",
                "-gencode",
                "arch=compute_90a,code=sm_90a",
            ],
            &example("simt_linear"),
        ),
        toolchain: ToolchainFacts::default(),
        inputs: vec![],
    }
}

/// Renders into a folder and runs its `build.sh`; the executable's path.
pub fn build(toolchain: &Toolchain, folder: &Path, reproducer: Reproducer) -> PathBuf {
    let name = reproducer.name.clone();
    let rendered = krepro::render::render(&Checked::new(reproducer, Findings::default()).unwrap()).unwrap();
    for file in rendered.files {
        fs_err::write(folder.join(file.name), file.text).unwrap();
    }
    let output = Command::new("sh").arg(folder.join("build.sh")).env("NVCC", &toolchain.nvcc).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    folder.join("build").join(name)
}
