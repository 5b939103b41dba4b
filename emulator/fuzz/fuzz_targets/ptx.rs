//! Any text as PTX: it parses or not, loads or not, and its kernels run for a while or fail. Nothing panics, and nothing is reached
//! but what was allocated.

#![no_main]

use std::sync::Arc;

use krepro_emulator::exec::{Launch, Options, Program, launch};
use krepro_emulator::memory::Memory;
use krepro_emulator::ptx::Module;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse(text) else { return };
    let kernels: Vec<(String, u64)> =
        module.kernels().map(|kernel| (kernel.name.clone(), kernel.parameter_bytes())).collect();
    let memory = Memory::new(1 << 16);
    let buffer = memory.allocate(256, 256).unwrap();
    let Ok(program) = Program::load(Arc::new(module), &memory) else { return };
    for (kernel, bytes) in kernels.into_iter().filter(|(_, bytes)| *bytes <= 4096) {
        let parameters: Vec<u8> = buffer.to_le_bytes().into_iter().cycle().take(bytes as usize).collect();
        for schedule in [None, Some(bytes)] {
            let what = Launch {
                kernel: kernel.clone(),
                grid: [1; 3],
                block: [40, 1, 1],
                cluster: [1; 3],
                dynamic_shared: 1024,
                parameters: parameters.clone(),
            };
            let options =
                Options { threads: 1, step_limit: 2000, idle_limit: 2000, schedule, trace: true, ..Options::default() };
            let _ = launch(&program, &memory, &what, &options).map_err(|failure| failure.to_string());
        }
    }
});
