//! Modules: device images that were registered or loaded, their kernels and variables.
//!
//! An image is only read when something of it is used, as CUDA's lazy loading does: programs carry kernels of many
//! libraries and call few.

use super::{Failure, Reply, Session};
use crate::arch::Arch;
use crate::exec::Program;
use crate::fatbin;
use crate::memory::Memory;
use crate::ptx;
use crate::runtime::wire::Request;
use crate::runtime::{ReportKind, errors, link};
use std::sync::Arc;

/// A device image, and once it was used the program in it.
pub(super) struct Module {
    /// The image, and those of separately compiled units.
    images: Vec<Vec<u8>>,
    parsed: Option<Arc<ptx::Module>>,
    program: Option<Arc<Program>>,
}

impl Module {
    fn new(image: Vec<u8>) -> Self {
        Module { images: vec![image], parsed: None, program: None }
    }

    /// Forgets where its variables are, after the memory went away.
    pub(super) fn forget(&mut self) {
        self.program = None;
    }

    fn parsed(&mut self, gpu: Arch) -> Result<Arc<ptx::Module>, Failure> {
        if let Some(parsed) = &self.parsed {
            return Ok(parsed.clone());
        }
        let mut units = Vec::new();
        let mut first_refusal = None;
        for image in &self.images {
            match ptx_of(image, gpu) {
                Ok(text) => units.push(parse(&text)?),
                Err(failure) => first_refusal = first_refusal.or(Some(failure)),
            }
        }
        // Of a program of separately compiled units, the linked image has no PTX and the units have.
        if units.is_empty() {
            return Err(first_refusal.unwrap_or(Failure::plain(errors::INVALID_IMAGE)));
        }
        let linked = Arc::new(link::link(units));
        Ok(self.parsed.insert(linked).clone())
    }

    pub(super) fn program(&mut self, gpu: Arch, memory: &Memory) -> Result<Arc<Program>, Failure> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        let parsed = self.parsed(gpu)?;
        let program = Program::load(parsed, memory)
            .map_err(|error| Failure::reported(errors::INVALID_IMAGE, ReportKind::Image, error.to_string()))?;
        Ok(self.program.insert(Arc::new(program)).clone())
    }
}

/// The PTX text of an image: the right one of a container, or PTX itself.
fn ptx_of(image: &[u8], gpu: Arch) -> Result<String, Failure> {
    let refuse = |status, text: String| Failure::reported(status, ReportKind::Image, text);
    if image.starts_with(b"\x7fELF") {
        let text = format!(
            "the program loads machine code (a cubin), which the CPU backend cannot run: give it PTX (nvcc -ptx), or a \
             fat binary for {gpu} that holds PTX"
        );
        return Err(refuse(errors::NO_IMAGE, text));
    }
    let is_text = image.iter().take(4096).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    if is_text && !image.is_empty() {
        return Ok(String::from_utf8_lossy(image).into_owned());
    }
    let images = fatbin::read(image).map_err(|error| refuse(errors::INVALID_IMAGE, error.to_string()))?;
    let chosen = fatbin::choose(&images, gpu).map_err(|error| refuse(errors::NO_IMAGE, error.to_string()))?;
    chosen.text().map_err(|error| refuse(errors::INVALID_IMAGE, error.to_string()))
}

fn parse(text: &str) -> Result<ptx::Module, Failure> {
    ptx::Module::parse(text)
        .map_err(|error| Failure::reported(errors::INVALID_PTX, ReportKind::Unsupported, error.to_string()))
}

/// A kernel that the executable has a handle of.
pub(super) struct Kernel {
    pub(super) module: usize,
    pub(super) name: String,
    pub(super) parsed: Arc<ptx::Module>,
    /// `MaxDynamicSharedMemorySize`, in bytes.
    pub(super) dynamic_shared: u64,
    pub(super) non_portable_cluster: bool,
}

impl Kernel {
    pub(super) fn function(&self) -> Result<&ptx::Function, Failure> {
        self.parsed.function(&self.name).ok_or_else(|| Failure::plain(errors::INVALID_HANDLE))
    }

    /// Static shared memory, in bytes.
    pub(super) fn static_shared(&self) -> Result<u64, Failure> {
        Ok(self.parsed.static_shared(self.function()?))
    }
}

/// A `__device__` or `__constant__` variable that the executable registered.
pub(super) struct Variable {
    module: usize,
    name: String,
}

impl Session<'_> {
    pub(super) fn load(&mut self, request: &Request) -> Result<Reply, Failure> {
        self.modules.push(Some(Module::new(request.blob.clone())));
        Ok(Reply::of([self.modules.len() as u64]))
    }

    pub(super) fn add_unit(&mut self, request: &Request) -> Result<Reply, Failure> {
        let (_, module) = self.module(request.argument(0))?;
        module.images.push(request.blob.clone());
        Ok(Reply::default())
    }

    pub(super) fn unload(&mut self, request: &Request) -> Result<Reply, Failure> {
        let (index, module) = self.module(request.argument(0))?;
        let program = module.program.take();
        self.modules[index] = None;
        if let Some(program) = program.and_then(Arc::into_inner) {
            program.unload(&self.memory).map_err(|_| Failure::plain(errors::INVALID_HANDLE))?;
        }
        Ok(Reply::default())
    }

    /// The module with this handle, which is its index plus one.
    fn module(&mut self, handle: u64) -> Result<(usize, &mut Module), Failure> {
        let invalid = || Failure::plain(errors::INVALID_HANDLE);
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1)).ok_or_else(invalid)?;
        let module = self.modules.get_mut(index).and_then(Option::as_mut).ok_or_else(invalid)?;
        Ok((index, module))
    }

    pub(super) fn program(&mut self, module: usize) -> Result<Arc<Program>, Failure> {
        let found = self.modules.get_mut(module).and_then(Option::as_mut);
        found.ok_or_else(|| Failure::plain(errors::INVALID_HANDLE))?.program(self.gpu.arch, &self.memory)
    }

    pub(super) fn register_function(&mut self, request: &Request) -> Result<Reply, Failure> {
        let (module, _) = self.module(request.argument(0))?;
        self.functions.insert(request.argument(1), (module, request.text()));
        Ok(Reply::default())
    }

    pub(super) fn register_variable(&mut self, request: &Request) -> Result<Reply, Failure> {
        let (module, _) = self.module(request.argument(0))?;
        self.variables.insert(request.argument(1), Variable { module, name: request.text() });
        Ok(Reply::default())
    }

    pub(super) fn kernel_by_host(&mut self, request: &Request) -> Result<Reply, Failure> {
        let found = self.functions.get(&request.argument(0)).cloned();
        let (module, name) = found.ok_or_else(|| Failure::plain(errors::INVALID_FUNCTION))?;
        self.kernel(module, name, errors::INVALID_FUNCTION)
    }

    pub(super) fn kernel_by_name(&mut self, request: &Request) -> Result<Reply, Failure> {
        let (module, _) = self.module(request.argument(0))?;
        self.kernel(module, request.text(), errors::NOT_FOUND)
    }

    /// Makes a kernel's handle; `missing` is the status when the image has no such kernel.
    fn kernel(&mut self, module: usize, name: String, missing: i32) -> Result<Reply, Failure> {
        let gpu = self.gpu.arch;
        let owner = self.modules.get_mut(module).and_then(Option::as_mut);
        let owner = owner.ok_or_else(|| Failure::plain(errors::INVALID_HANDLE))?;
        let parsed = owner.parsed(gpu).map_err(|failure| failure.of_kernel(&name))?;
        let function = parsed.kernels().find(|kernel| kernel.name == name).ok_or_else(|| {
            let text = format!("the device image has no kernel {name}");
            Failure::reported(missing, ReportKind::Image, text).of_kernel(&name)
        })?;
        let results = [
            self.kernels.len() as u64 + 1,
            module as u64 + 1,
            function.parameters.len() as u64,
            function.parameter_bytes(),
        ];
        let layout = function.parameters.iter().flat_map(|parameter| [parameter.offset as u32, parameter.bytes as u32]);
        let mut blob: Vec<u8> = layout.flat_map(u32::to_le_bytes).collect();
        blob.extend_from_slice(name.as_bytes());
        let fixed = parsed.static_shared(function);
        let dynamic_shared = u64::from(self.gpu.shared_per_block().0).saturating_sub(fixed);
        self.kernels.push(Kernel { module, name, parsed, dynamic_shared, non_portable_cluster: false });
        Ok(Reply { results: results.to_vec(), blob })
    }

    pub(super) fn kernel_count(&mut self, request: &Request) -> Result<Reply, Failure> {
        let gpu = self.gpu.arch;
        let (_, module) = self.module(request.argument(0))?;
        Ok(Reply::of([module.parsed(gpu)?.kernels().count() as u64]))
    }

    pub(super) fn kernel_name(&mut self, request: &Request) -> Result<Reply, Failure> {
        let gpu = self.gpu.arch;
        let (_, module) = self.module(request.argument(0))?;
        let parsed = module.parsed(gpu)?;
        let kernel = parsed.kernels().nth(request.small(1) as usize);
        let kernel = kernel.ok_or_else(|| Failure::plain(errors::INVALID_VALUE))?;
        Ok(Reply::bytes(kernel.name.clone().into_bytes()))
    }

    pub(super) fn global(&mut self, request: &Request) -> Result<Reply, Failure> {
        let (module, _) = self.module(request.argument(0))?;
        self.variable(module, &request.text(), errors::NOT_FOUND)
    }

    pub(super) fn symbol(&mut self, request: &Request) -> Result<Reply, Failure> {
        let found = self.variables.get(&request.argument(0)).map(|variable| (variable.module, variable.name.clone()));
        let (module, name) = found.ok_or_else(|| Failure::plain(errors::INVALID_SYMBOL))?;
        self.variable(module, &name, errors::INVALID_SYMBOL)
    }

    fn variable(&mut self, module: usize, name: &str, missing: i32) -> Result<Reply, Failure> {
        let program = self.program(module)?;
        let (address, bytes) = program.symbol(name).ok_or_else(|| {
            Failure::reported(missing, ReportKind::Image, format!("the device image has no variable {name}"))
        })?;
        Ok(Reply::of([address, bytes]))
    }
}
