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
        layout: None,
        powers_of_two: false,
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
        threads: krepro::model::Block::along_x(read(threads)),
        grid: grid.map(read),
        cluster: [1, 1, 1].map(read),
        shared_memory: read(shared),
        launch_bounds: None,
        most_threads: None,
        declared_cluster: None,
        workspace: read(0),
        workspace_fill: read(0),
    }
}

/// `simt_linear`, batch 16, output 256, reduction 1024, with a planted defect.
pub fn simt(defect: u32) -> Reproducer {
    simt_of([16, 256, 1024], defect)
}

/// `simt_linear` of another shape.
pub fn simt_of([m, n, k]: [u64; 3], defect: u32) -> Reproducer {
    let piece = |text: &str| Fact::transcribed(text.to_owned(), place("site.cc"));
    let arguments: Vec<String> =
        format!("__nv_bfloat16, {m}, {n}, {k}, 32, 2, {defect}").split(", ").map(str::to_owned).collect();
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
            demands: vec![],
            unknown_names: vec![],
            annotation_macros: vec![],
            production_symbol: None,
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
            launch: vec![],
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
                operand(Role::Out, m, n, "output"),
                operand(Role::Bias, 1, n, "bias"),
            ],
            tile: Tile {
                m: Some(read(16)),
                n: Some(read(64)),
                k: Some(read(32)),
                stages: Some(read(2)),
                ..Tile::default()
            },
            split_k: None,
            groups: None,
        },
        descriptors: vec![],
        awaited: vec![],
        launch: launch(LaunchKind::Global, 256, [n.div_ceil(64), m.div_ceil(16), 1], 0),
        prologue: vec![],
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

/// `simt_linear` on another element type, compiled with other flags.
pub fn simt_typed(cpp: &str, element: ElementType, flags: &[&str]) -> Reproducer {
    let mut reproducer = simt(0);
    let argument = &mut reproducer.instantiation.template_arguments[0];
    argument.value = cpp.into();
    for operand in &mut reproducer.contract.operands {
        operand.element = read(element);
    }
    reproducer.contract.epilogue[1] = read(EpilogueStep::Round { to: element });
    reproducer.compile = compile(&[&["-arch=sm_90a"], flags].concat(), &example("simt_linear"));
    reproducer
}

/// What varies between reproducers of `linear_sm90`.
#[derive(Clone, Copy)]
pub struct Sm90 {
    pub batch: u64,
    pub output: u64,
    pub stride: u64,
    pub reduction: u64,
    pub residual: bool,
    pub defect: u32,
}

/// `linear_sm90`, as its site and its manifest make it.
pub fn sm90(v: Sm90) -> Reproducer {
    let Sm90 { batch, output, stride, reduction, residual, defect } = v;
    let piece = |text: &str| Fact::transcribed(text.to_owned(), place("site.cc"));
    let columns = if batch <= 8 { 8 } else { 16 };
    let map = |name: &str, bits: u32, rows: u64, cols: u64, stride: u64, box_rows: u64, rest: &str| {
        format!(
            "    using {name} = sm90::tile_map<__nv_bfloat16, {bits}, {rows}, {cols}, {stride}, {box_rows}, 64{rest}>;"
        )
    };
    let object = |kind: &str, name: &str, slot: &str| {
        format!("    {kind} {name}(static_cast<CUtensorMap *>(task_desc->{slot}));")
    };
    let mut lines = vec![
        map("TMA_WEIGHT", 3, output, reduction, reduction, 64, ", 2, 4096"),
        map("TMA_INPUT", 3, batch, reduction, reduction, batch, &format!(", 2, {}", columns * 64)),
        map("TMA_OUTPUT", 0, batch, output, stride, batch, ""),
    ];
    if residual {
        lines.push(map("TMA_RESIDUAL", 0, batch, output, stride, batch, ""));
    }
    lines.push(object("TMA_WEIGHT", "tma_weight", "input_tma_desc_ptrs[1][0]"));
    lines.push(object("TMA_INPUT", "tma_input", "input_tma_desc_ptrs[0][0]"));
    lines.push(object("TMA_OUTPUT", "tma_output", "output_tma_desc_ptrs[0][0]"));
    if residual {
        lines.push(object("TMA_RESIDUAL", "tma_residual", "input_tma_desc_ptrs[2][0]"));
    }
    let residual_type = if residual { "TMA_RESIDUAL" } else { "void" };
    let head = format!("__nv_bfloat16, {batch}, {output}, {reduction}, 5, TMA_WEIGHT, TMA_INPUT, TMA_OUTPUT");
    lines.push(format!("    sm90::linear_task<{head}, {residual_type}, {defect}>("));
    lines.push("        tma_weight,".into());
    lines.push("        tma_input,".into());
    lines.push(if residual { "        tma_output,".into() } else { "        tma_output);".into() });
    if residual {
        lines.push("        &tma_residual);".into());
    }

    let descriptor =
        |name: &str, operand: &str, dims: [u64; 2], stride: u64, rows: u64, copies, swizzle| DescriptorPair {
            name: name.into(),
            operand: operand.into(),
            binding: String::new(),
            copies: read(copies),
            production: TensorMap {
                data_type: "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16".into(),
                element_bytes: 2,
                global_dim: dims.map(read).to_vec(),
                global_strides: vec![read(stride * 2)],
                box_dim: [64, rows].map(read).to_vec(),
                element_strides: vec![1, 1],
                swizzle: read(swizzle),
                l2_promotion: "CU_TENSOR_MAP_L2_PROMOTION_L2_128B".into(),
                out_of_bounds: OutOfBounds::Zeros,
            },
            from_type: None,
        };
    let mut descriptors = vec![
        descriptor("tma_weight", "b", [reduction, output], reduction, 64, 2, Swizzle::B128),
        descriptor("tma_input", "a", [reduction, batch], reduction, batch, 2, Swizzle::B128),
        descriptor("tma_output", "out", [output, batch], stride, batch, 1, Swizzle::None),
    ];
    let bind = |slot: &str, map: &str| format!("krepro_task.{slot} = buffers.map_on_device(\"{map}\");\n");
    let mut host = String::from("krepro_task_context krepro_task{};\n")
        + &bind("input_tma_desc_ptrs[0][0]", "tma_input")
        + &bind("input_tma_desc_ptrs[1][0]", "tma_weight")
        + &bind("output_tma_desc_ptrs[0][0]", "tma_output");
    let with_stride = |mut operand: Operand| {
        operand.leading_dimension = read(stride);
        operand
    };
    let mut operands = vec![
        operand(Role::A, batch, reduction, "input 0"),
        operand(Role::B, output, reduction, "input 1"),
        with_stride(operand(Role::Out, batch, output, "output 0")),
    ];
    let mut epilogue = vec![read(EpilogueStep::Round { to: ElementType::Bf16 })];
    if residual {
        descriptors.push(descriptor("tma_residual", "residual", [output, batch], stride, batch, 1, Swizzle::None));
        host += &bind("input_tma_desc_ptrs[2][0]", "tma_residual");
        operands.push(with_stride(operand(Role::Residual, batch, output, "input 2")));
        epilogue.push(read(EpilogueStep::Add { operand: Role::Residual }));
        epilogue.push(read(EpilogueStep::Round { to: ElementType::Bf16 }));
    }
    let mut reproducer = simt(0);
    reproducer.name = "linear_sm90".into();
    reproducer.scaffold = "linear_sm90".into();
    reproducer.kernel.header = "examples/linear_sm90/linear_sm90.cuh".into();
    reproducer.kernel.includes = vec!["\"linear_sm90.cuh\"".into()];
    reproducer.kernel.signature.name = "sm90::linear_task".into();
    reproducer.instantiation.lines = lines;
    reproducer.instantiation.kernel = piece("sm90::linear_task");
    reproducer.instantiation.template_arguments =
        head.split(", ").chain([residual_type]).map(piece).chain([piece(&defect.to_string())]).collect();
    reproducer.contract.m = read(batch);
    reproducer.contract.n = read(output);
    reproducer.contract.k = read(reduction);
    reproducer.contract.accumulator = read(Accumulator::F32TensorCore);
    reproducer.contract.epilogue = epilogue;
    reproducer.contract.operands = operands;
    reproducer.contract.tile = Tile {
        m: Some(read(columns)),
        n: Some(read(64)),
        k: Some(read(128)),
        stages: Some(read(5)),
        ..Tile::default()
    };
    reproducer.descriptors = descriptors;
    reproducer.launch = launch(LaunchKind::Wrapped, 256, [1, 1, 1], 160 * 1024);
    reproducer.launch.launch_bounds = Some(read("256, 1".to_owned()));
    reproducer.harness = HarnessText {
        emitted: krepro::model::Emitted::Statements,
        declarations: "struct krepro_task_context {\n  void *input_tma_desc_ptrs[4][1];\n  void *output_tma_desc_ptrs[1][1];\n};\n"
            .into(),
        parameters: "const __grid_constant__ krepro_task_context krepro_task".into(),
        prologue: "krepro_task_context const *task_desc = &krepro_task;".into(),
        host,
        arguments: vec!["krepro_task".into()],
    };
    reproducer.compile = compile(
        &[
            "-O3",
            "-std=c++17",
            "-rdc=false",
            "-use_fast_math",
            "--expt-relaxed-constexpr",
            "-DENGINE_TARGET=90",
            "-gencode=arch=compute_90a,code=sm_90a",
        ],
        &example("linear_sm90"),
    );
    reproducer
}

/// Renders into a folder and runs its `build.sh`; the executable's path.
pub fn build(toolchain: &Toolchain, folder: &Path, reproducer: Reproducer) -> PathBuf {
    let name = reproducer.name.clone();
    write(folder, reproducer);
    let output = Command::new("sh").arg(folder.join("build.sh")).env("NVCC", &toolchain.nvcc).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    folder.join("build").join(name)
}

/// Renders into a folder.
pub fn write(folder: &Path, reproducer: Reproducer) {
    let rendered = krepro::render::render(&Checked::new(reproducer, Findings::default()).unwrap()).unwrap();
    for file in rendered.files {
        fs_err::write(folder.join(file.name), file.text).unwrap();
    }
}
