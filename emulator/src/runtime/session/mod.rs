//! One process's view of the device: its modules, memory and errors. Each message is one call of the executable.
//!
//! Work is done when its message is answered. As on a GPU, an error of a launch is told by a later call: the first one
//! that waits for the device gets it, and every call after that, until the device is reset.

mod device;
mod launch;
mod memory;
mod modules;
mod trace;

use super::errors;
use super::operations::Operation;
use super::wire::{Answer, Request};
use super::{LaunchSummary, Report, ReportKind, shim};
use crate::exec::{OTHER, Options, Watch};
use crate::gpu::SimulatedGpu;
use crate::memory::Memory;
use modules::{Kernel, Module, Variable};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::Mutex;
pub(super) use trace::Trace;

/// What sessions leave behind for the outcome.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Processes that reported themselves.
    pub(super) sessions: usize,
    pub(super) launches: Vec<LaunchSummary>,
    pub(super) reports: Vec<Report>,
    pub(super) trace: Option<Trace>,
}

/// What a call gives besides its status.
#[derive(Debug, Default)]
struct Reply {
    results: Vec<u64>,
    blob: Vec<u8>,
}

impl Reply {
    fn of<const N: usize>(results: [u64; N]) -> Self {
        Reply { results: results.to_vec(), blob: Vec::new() }
    }

    fn bytes(blob: Vec<u8>) -> Self {
        Reply { results: Vec::new(), blob }
    }
}

/// Why a call fails.
#[derive(Debug)]
struct Failure {
    /// A `cudaError_t`.
    status: i32,
    /// What the outcome tells besides.
    report: Option<Report>,
}

impl Failure {
    fn plain(status: i32) -> Self {
        Failure { status, report: None }
    }

    fn reported(status: i32, kind: ReportKind, text: String) -> Self {
        Failure { status, report: Some(Report { kind, kernel: String::new(), text }) }
    }

    fn of_kernel(mut self, kernel: &str) -> Self {
        if let Some(report) = &mut self.report {
            report.kernel = kernel.to_owned();
        }
        self
    }
}

/// One process's device.
pub(super) struct Session<'r> {
    gpu: SimulatedGpu,
    options: Options,
    /// What a fill of shared memory left.
    shared_left: Option<u32>,
    log: &'r Mutex<Log>,
    memory: Memory,
    modules: Vec<Option<Module>>,
    kernels: Vec<Kernel>,
    /// Host addresses of `__global__` functions: module and name.
    functions: HashMap<u64, (usize, String)>,
    /// Host addresses of `__device__` and `__constant__` variables.
    variables: HashMap<u64, Variable>,
    /// Error of a launch that no call has told yet.
    pending: i32,
    /// Error that the device is stuck in.
    sticky: i32,
    /// What kernels printed and the executable has not been given yet.
    text: Vec<u8>,
}

impl<'r> Session<'r> {
    pub(super) fn new(gpu: &SimulatedGpu, options: &Options, log: &'r Mutex<Log>) -> Self {
        Session {
            memory: fresh(gpu, options),
            gpu: gpu.clone(),
            options: options.clone(),
            shared_left: None,
            log,
            modules: Vec::new(),
            kernels: Vec::new(),
            functions: HashMap::new(),
            variables: HashMap::new(),
            pending: 0,
            sticky: 0,
            text: Vec::new(),
        }
    }

    /// Answers messages until the other side is gone.
    ///
    /// # Errors
    ///
    /// The stream's errors.
    pub(super) fn serve(mut self, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
        while let Some(request) = Request::read(&mut from)? {
            self.answer(&request).write(&mut to)?;
        }
        Ok(())
    }

    /// Answers one message.
    fn answer(&mut self, request: &Request) -> Answer {
        let Some(operation) = Operation::from_number(request.operation) else {
            return Answer { status: errors::INVALID_VALUE, ..Answer::default() };
        };
        if !asks_only(operation) && self.sticky == 0 {
            self.sticky = std::mem::take(&mut self.pending);
        }
        let result = match self.sticky {
            stuck if stuck != 0 && !asks_only(operation) && operation != Operation::Reset => Err(Failure::plain(stuck)),
            _ => self.perform(operation, request),
        };
        let mut answer = Answer { sticky: self.sticky, ..Answer::default() };
        match result {
            Ok(reply) => (answer.results, answer.blob) = (reply.results, reply.blob),
            Err(failure) => {
                answer.status = failure.status;
                self.log(|log| log.reports.extend(failure.report));
            }
        }
        if waits(operation) {
            answer.text = std::mem::take(&mut self.text);
        }
        answer
    }

    fn perform(&mut self, operation: Operation, request: &Request) -> Result<Reply, Failure> {
        let string = |text: &str| Ok(Reply::bytes(text.as_bytes().to_vec()));
        let code = request.argument(0) as i32;
        match operation {
            Operation::Hello => self.hello(request),
            Operation::Missing => self.missing(request),
            Operation::Refused => {
                Err(Failure::reported(errors::NOT_SUPPORTED, ReportKind::Unsupported, request.text()))
            }
            Operation::Load => self.load(request),
            Operation::AddUnit => self.add_unit(request),
            Operation::Unload => self.unload(request),
            Operation::RegisterFunction => self.register_function(request),
            Operation::RegisterVariable => self.register_variable(request),
            Operation::KernelByHost => self.kernel_by_host(request),
            Operation::KernelByName => self.kernel_by_name(request),
            Operation::KernelCount => self.kernel_count(request),
            Operation::KernelName => self.kernel_name(request),
            Operation::Global => self.global(request),
            Operation::Symbol => self.symbol(request),
            Operation::FunctionAttribute => self.function_attribute(request),
            Operation::SetFunctionAttribute => self.set_function_attribute(request),
            Operation::Launch => self.launch(request),
            Operation::Synchronize => Ok(Reply::default()),
            Operation::Reset => self.reset(),
            Operation::Allocate => self.allocate(request),
            Operation::Free => self.free(request),
            Operation::Write => self.write(request),
            Operation::Read => self.read(request),
            Operation::Copy => self.copy(request),
            Operation::Fill => self.fill(request),
            Operation::Address => Ok(self.address(request)),
            Operation::MemoryInfo => {
                let (free, total) = self.memory.available();
                Ok(Reply::of([free, total]))
            }
            Operation::DeviceAttribute => self.device_attribute(request),
            Operation::DeviceProperties => Ok(Reply::bytes(self.gpu.properties(request.argument(0)))),
            Operation::DeviceName => string(&self.gpu.name),
            Operation::ErrorName => string(&errors::runtime_name(code)),
            Operation::DriverErrorName => string(&errors::driver_name(code)),
            Operation::ErrorText => string(errors::text(code)),
            Operation::EncodeTensorMap => self.encode_tensor_map(request),
            Operation::ReplaceTensorMapAddress => self.replace_tensor_map_address(request),
            Operation::Occupancy => self.occupancy(request),
            Operation::ClusterOccupancy => self.cluster_occupancy(request),
        }
    }

    fn hello(&mut self, request: &Request) -> Result<Reply, Failure> {
        if request.text() != shim::identity() {
            let text = "the program loaded a CUDA library that another version of krepro built".to_owned();
            return Err(Failure::reported(errors::NOT_SUPPORTED, ReportKind::Refused, text));
        }
        self.log(|log| log.sessions += 1);
        Ok(Reply::default())
    }

    fn missing(&mut self, request: &Request) -> Result<Reply, Failure> {
        let text = format!("the program called {}, which the CPU backend does not have", request.text());
        Err(Failure::reported(errors::NOT_SUPPORTED, ReportKind::MissingFunction, text))
    }

    /// Frees all memory and forgets errors; modules are placed anew at their next use.
    fn reset(&mut self) -> Result<Reply, Failure> {
        self.memory = fresh(&self.gpu, &self.options);
        self.modules.iter_mut().flatten().for_each(Module::forget);
        (self.pending, self.sticky) = (0, 0);
        Ok(Reply::default())
    }

    fn log(&self, change: impl FnOnce(&mut Log)) {
        change(&mut self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    }
}

/// Empty memory, with a twin where launches are compared with themselves.
fn fresh(gpu: &SimulatedGpu, options: &Options) -> Memory {
    match options.watch {
        Watch::Off => Memory::new(gpu.memory),
        _ => Memory::with_twin(gpu.memory, OTHER),
    }
}

/// Whether a call neither touches the device nor learns of its errors.
fn asks_only(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Hello
            | Operation::Missing
            | Operation::Refused
            | Operation::RegisterFunction
            | Operation::RegisterVariable
            | Operation::Address
            | Operation::DeviceAttribute
            | Operation::DeviceProperties
            | Operation::DeviceName
            | Operation::ErrorName
            | Operation::DriverErrorName
            | Operation::ErrorText
    )
}

/// Whether a call waits for the device, which is when kernels' output is delivered.
fn waits(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Synchronize
            | Operation::Read
            | Operation::Write
            | Operation::Copy
            | Operation::Fill
            | Operation::Free
    )
}
