//! Launches: the driver's checks, then the interpreter, then the error that a later call tells.

use super::modules::Kernel;
use super::{Failure, Reply, Session};
use crate::exec::{self, Cause, Launch, OTHER, Options, Program, Watch};
use crate::runtime::wire::Request;
use crate::runtime::{LaunchSummary, Report, ReportKind, errors};
use std::sync::Arc;
use std::time::Instant;

const COOPERATIVE: u64 = 1;

/// The kernel by which a harness overwrites shared memory, and where the word stands among its parameters: it is not interpreted, what it
/// would leave is what later launches find.
const FILL_SHARED: (&str, std::ops::Range<usize>) = ("krepro_fill_shared", 4..8);

impl Session<'_> {
    fn kernel_at(&self, handle: u64) -> Result<&Kernel, Failure> {
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        index.and_then(|index| self.kernels.get(index)).ok_or_else(|| Failure::plain(errors::INVALID_HANDLE))
    }

    pub(super) fn launch(&mut self, request: &Request) -> Result<Reply, Failure> {
        let kernel = self.kernel_at(request.argument(0))?;
        if kernel.name == FILL_SHARED.0 {
            let word = request.blob.get(FILL_SHARED.1).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
            self.shared_left = word;
            return Ok(Reply::default());
        }
        let shape = |first: usize| std::array::from_fn(|axis| request.small(first + axis));
        let mut launch = Launch {
            kernel: kernel.name.clone(),
            grid: shape(1),
            block: shape(4),
            cluster: shape(7),
            dynamic_shared: request.small(10),
            parameters: request.blob.clone(),
        };
        let directives = &kernel.function()?.directives;
        if launch.cluster == [0; 3] {
            launch.cluster = directives.required_cluster.unwrap_or([1; 3]);
        }
        let cooperative = request.argument(11) & COOPERATIVE != 0;
        self.check(kernel, &launch, cooperative).map_err(|failure| failure.of_kernel(&kernel.name))?;
        let module = kernel.module;
        let program = self.program(module).map_err(|failure| failure.of_kernel(&launch.kernel))?;
        let start = Instant::now();
        let result = exec::launch(&program, &self.memory, &launch, &self.found());
        let result = result.map(|report| self.compared(&program, &launch, report));
        self.finish(launch, start, result);
        Ok(Reply::default())
    }

    /// The options of a launch, with what shared memory holds before it.
    fn found(&self) -> Options {
        Options { shared_poison: self.options.shared_poison.or(self.shared_left), ..self.options.clone() }
    }

    /// The same launch with other bytes in memory that nobody initialised, where that is asked for: what differs.
    fn compared(&self, program: &Program, launch: &Launch, mut report: exec::Report) -> exec::Report {
        let Some(twin) = self.memory.twin() else { return report };
        let found = self.found();
        let options = Options {
            watch: Watch::Compare(Arc::new(std::mem::take(&mut report.journal))),
            shared_poison: Some(if found.shared_poison == Some(OTHER) { !OTHER } else { OTHER }),
            other_poison: Some(OTHER),
            trace: false,
            ..found
        };
        report.uninitialised = match exec::launch(program, twin, launch, &options) {
            Ok(second) => second.uninitialised,
            Err(failure) => {
                vec![format!("with other bytes in memory that nobody initialised the launch fails: {failure}")]
            }
        };
        report
    }

    /// Records what a launch did; its error waits for the next call.
    fn finish(&mut self, launch: Launch, start: Instant, result: Result<exec::Report, Box<exec::Failure>>) {
        let took = start.elapsed();
        let (status, instructions, report, trace, findings) = match result {
            Ok(report) => {
                self.text.extend_from_slice(report.output.as_bytes());
                let races = report.findings.into_iter().map(|text| (ReportKind::Race, text));
                let unset = report.uninitialised.into_iter().map(|text| (ReportKind::Uninitialised, text));
                (errors::SUCCESS, report.instructions, None, report.trace, races.chain(unset).collect())
            }
            Err(failure) => {
                self.text.extend_from_slice(failure.output.as_bytes());
                let (status, kind) = verdict(&failure.cause);
                let report = Report { kind, kernel: launch.kernel.clone(), text: failure.to_string() };
                let races: Vec<_> = failure.findings.into_iter().map(|text| (ReportKind::Race, text)).collect();
                (status, 0, Some(report), failure.trace, races)
            }
        };
        if self.pending == 0 {
            self.pending = status;
        }
        let Launch { kernel, grid, block, cluster, dynamic_shared, .. } = launch;
        self.log(|log| {
            if let Some(file) = &mut log.trace {
                file.add(log.launches.len(), &kernel, &trace);
            }
            // Every launch finds the same again.
            for (kind, text) in findings {
                let found = Report { kind, kernel: kernel.clone(), text };
                if !log.reports.contains(&found) {
                    log.reports.push(found);
                }
            }
            log.launches.push(LaunchSummary {
                kernel,
                grid,
                block,
                cluster,
                dynamic_shared: dynamic_shared.into(),
                warp_instructions: instructions,
                took,
                status,
            });
            log.reports.extend(report);
        });
    }

    /// What the driver refuses before anything runs.
    fn check(&self, kernel: &Kernel, launch: &Launch, cooperative: bool) -> Result<(), Failure> {
        let refuse = |status, text| Err(Failure::reported(status, ReportKind::Refused, text));
        let function = kernel.function()?;
        if launch.parameters.len() as u64 != function.parameter_bytes() {
            let (given, taken) = (launch.parameters.len(), function.parameter_bytes());
            return refuse(
                errors::INVALID_VALUE,
                format!("{given} bytes of parameters given, the kernel takes {taken}"),
            );
        }
        let [grid, block, cluster] = [launch.grid, launch.block, launch.cluster];
        for (what, shape, limits) in [("grid", grid, self.gpu.grid_limits()), ("block", block, self.gpu.block_limits())]
        {
            if !(0..3).all(|axis| (1..=limits[axis]).contains(&shape[axis])) {
                let text = format!("{what} {} is not within 1 and {}", of(shape), of(limits));
                return refuse(errors::INVALID_CONFIGURATION, text);
            }
        }
        let threads = volume(block);
        let most = u64::from(self.gpu.threads_per_block());
        if threads > most {
            let text = format!("block {} has {threads} threads, more than {most}", of(block));
            return refuse(errors::INVALID_CONFIGURATION, text);
        }
        let directives = &function.directives;
        if let Some(required) = directives.required_block.filter(|&required| required != block) {
            let text = format!("block {} given, the kernel requires {}", of(block), of(required));
            return refuse(errors::INVALID_VALUE, text);
        }
        if let Some(bound) = directives.maximum_block.map(volume).filter(|&bound| threads > bound) {
            let text = format!("block {} has {threads} threads, the kernel's launch bounds allow {bound}", of(block));
            return refuse(errors::INVALID_VALUE, text);
        }
        if u64::from(launch.dynamic_shared) > kernel.dynamic_shared {
            let text = format!(
                "{} bytes of dynamic shared memory, {} are allowed: set cudaFuncAttributeMaxDynamicSharedMemorySize on \
                 exactly this kernel first (at most {} here)",
                launch.dynamic_shared,
                kernel.dynamic_shared,
                u64::from(self.gpu.shared_per_block().1).saturating_sub(kernel.static_shared()?)
            );
            return refuse(errors::INVALID_VALUE, text);
        }
        self.check_cluster(kernel, grid, cluster, directives.required_cluster)?;
        let resident = self.resident_blocks(kernel, threads, launch.dynamic_shared.into())?;
        if cooperative && volume(grid) > resident {
            let text = format!("cooperative launch of {} blocks, {resident} fit on the device at once", volume(grid));
            return refuse(errors::COOPERATIVE_TOO_LARGE, text);
        }
        Ok(())
    }

    fn check_cluster(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        cluster: [u32; 3],
        required: Option<[u32; 3]>,
    ) -> Result<(), Failure> {
        let refuse = |text| Err(Failure::reported(errors::INVALID_CLUSTER_SIZE, ReportKind::Refused, text));
        if let Some(required) = required.filter(|&required| required != cluster) {
            return refuse(format!("cluster {} given, the kernel requires {}", of(cluster), of(required)));
        }
        if !(0..3).all(|axis| cluster[axis] > 0 && grid[axis].is_multiple_of(cluster[axis])) {
            return refuse(format!("grid {} is no multiple of cluster {}", of(grid), of(cluster)));
        }
        let (portable, most) = self.gpu.cluster_limits();
        let limit = if kernel.non_portable_cluster { most } else { portable };
        if volume(cluster) > u64::from(limit) {
            let hint = match kernel.non_portable_cluster || most <= portable {
                true => String::new(),
                false => format!(" (up to {most} with cudaFuncAttributeNonPortableClusterSizeAllowed)"),
            };
            return refuse(format!("cluster {} has {} blocks, more than {limit}{hint}", of(cluster), volume(cluster)));
        }
        Ok(())
    }

    /// Blocks that the whole device holds at once.
    fn resident_blocks(&self, kernel: &Kernel, threads: u64, dynamic_shared: u64) -> Result<u64, Failure> {
        let shared = kernel.static_shared()? + dynamic_shared;
        let each = self.gpu.blocks_per_multiprocessor(threads.min(u64::from(u32::MAX)) as u32, shared);
        Ok(u64::from(each) * u64::from(self.gpu.multiprocessors()))
    }

    pub(super) fn occupancy(&mut self, request: &Request) -> Result<Reply, Failure> {
        let kernel = self.kernel_at(request.argument(0))?;
        let shared = kernel.static_shared()?.saturating_add(request.argument(2));
        Ok(Reply::of([self.gpu.blocks_per_multiprocessor(request.small(1), shared).into()]))
    }

    pub(super) fn cluster_occupancy(&mut self, request: &Request) -> Result<Reply, Failure> {
        let kernel = self.kernel_at(request.argument(0))?;
        let (portable, most) = self.gpu.cluster_limits();
        let largest = if kernel.non_portable_cluster { most } else { portable };
        let resident = self.resident_blocks(kernel, request.argument(1), request.argument(2).min(MOST_SHARED))?;
        Ok(Reply::of([largest.into(), resident / request.argument(3).max(1)]))
    }

    pub(super) fn function_attribute(&mut self, request: &Request) -> Result<Reply, Failure> {
        let kernel = self.kernel_at(request.argument(0))?;
        let directives = &kernel.function()?.directives;
        let bound = directives.required_block.or(directives.maximum_block).map(volume);
        let cluster = |axis: usize| directives.required_cluster.map_or(0, |shape| u64::from(shape[axis]));
        let arch = u64::from(self.gpu.arch.number);
        let value = match request.argument(1) {
            0 => bound.unwrap_or(self.gpu.threads_per_block().into()),
            1 => kernel.static_shared()?,
            4 => NO_REGISTERS,
            5 | 6 => arch,
            8 => kernel.dynamic_shared,
            10 => directives.explicit_cluster.into(),
            axis @ 11..=13 => cluster(axis as usize - 11),
            14 => kernel.non_portable_cluster.into(),
            2 | 3 | 7 | 9 | 15 => 0,
            _ => return Err(Failure::plain(errors::INVALID_VALUE)),
        };
        Ok(Reply::of([value]))
    }

    pub(super) fn set_function_attribute(&mut self, request: &Request) -> Result<Reply, Failure> {
        let kernel = self.kernel_at(request.argument(0))?;
        let value = request.argument(2);
        let most = u64::from(self.gpu.shared_per_block().1).saturating_sub(kernel.static_shared()?);
        let (fixed, name) = (kernel.static_shared()?, kernel.name.clone());
        let index = request.argument(0) as usize - 1;
        match request.argument(1) {
            8 if value > most => {
                let text = format!(
                    "cudaFuncAttributeMaxDynamicSharedMemorySize of {value} bytes: at most {most} ({fixed} bytes are static)"
                );
                return Err(Failure::reported(errors::INVALID_VALUE, ReportKind::Refused, text).of_kernel(&name));
            }
            8 => self.kernels[index].dynamic_shared = value,
            14 => self.kernels[index].non_portable_cluster = value != 0,
            9 | 15 => {} // hints
            _ => return Err(Failure::plain(errors::INVALID_VALUE)),
        }
        Ok(Reply::default())
    }
}

/// More shared memory than any multiprocessor has.
const MOST_SHARED: u64 = 1 << 32;

/// What the backend says where the number of registers is asked: PTX does not fix it.
const NO_REGISTERS: u64 = 0;

fn volume(shape: [u32; 3]) -> u64 {
    shape.iter().map(|&extent| u64::from(extent)).fold(1, u64::saturating_mul)
}

fn of(shape: [u32; 3]) -> String {
    let [x, y, z] = shape;
    format!("({x}, {y}, {z})")
}

/// The error that a GPU would give, and the kind of the report.
fn verdict(cause: &Cause) -> (i32, ReportKind) {
    match cause {
        Cause::Deadlock(_) => (errors::LAUNCH_TIMEOUT, ReportKind::Deadlock),
        Cause::StepLimit { .. } | Cause::NoProgress { .. } => (errors::LAUNCH_TIMEOUT, ReportKind::Endless),
        Cause::Stopped => (errors::LAUNCH_TIMEOUT, ReportKind::Endless),
        Cause::Assert { .. } => (errors::ASSERT, ReportKind::Assert),
        Cause::Unsupported(_) | Cause::Code(_) => (errors::NOT_SUPPORTED, ReportKind::Unsupported),
        Cause::Memory(crate::memory::MemoryFault::Misaligned { .. }) => (errors::MISALIGNED_ADDRESS, ReportKind::Fault),
        Cause::Memory(_) | Cause::Window { .. } => (errors::ILLEGAL_ADDRESS, ReportKind::Fault),
        Cause::Launch(_) | Cause::NoKernel(_) => (errors::INVALID_CONFIGURATION, ReportKind::Refused),
        Cause::Operand(_) | Cause::Trap => (errors::LAUNCH_FAILURE, ReportKind::Fault),
    }
}
