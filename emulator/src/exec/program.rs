//! A module placed in device memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use thiserror::Error;

use super::code::Code;
use super::failure::Cause;
use super::lower::lower;
use crate::memory::{Memory, MemoryFault, OutOfMemory};
use crate::ptx::{Module, Space};

/// A module whose variables have addresses and whose kernels can run.
pub struct Program {
    module: Arc<Module>,
    symbols: HashMap<String, (u64, u64)>,
    codes: Mutex<HashMap<String, Arc<Code>>>,
}

/// Why a module cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LoadError {
    /// No room for its variables.
    #[error("variable `{name}`: {source}")]
    OutOfMemory {
        /// The variable.
        name: String,
        /// What was wanted.
        source: OutOfMemory,
    },
    /// Its variables cannot be initialised.
    #[error("{0}")]
    Memory(#[from] MemoryFault),
    /// An initial value names something that is not there.
    #[error("variable `{name}` is initialised with the address of `{symbol}`, which this module does not define")]
    Unresolved {
        /// The variable.
        name: String,
        /// What it names.
        symbol: String,
    },
}

impl Program {
    /// Allocates and initialises the module's global and constant variables.
    pub fn load(module: Arc<Module>, memory: &Memory) -> Result<Program, LoadError> {
        let mut symbols = HashMap::new();
        let placed: Vec<_> = module
            .variables
            .iter()
            .filter(|v| matches!(v.space, Space::Global | Space::Constant) && !v.external)
            .collect();
        for variable in &placed {
            let address = memory
                .allocate(variable.bytes, variable.alignment)
                .map_err(|source| LoadError::OutOfMemory { name: variable.name.clone(), source })?;
            // What has no initial value is zero, whatever fresh memory holds.
            memory.fill(address, variable.bytes, &[0])?;
            memory.write(address, &variable.initial)?;
            symbols.insert(variable.name.clone(), (address, variable.bytes));
        }
        for variable in placed {
            let Some(&(base, _)) = symbols.get(&variable.name) else { continue };
            for reference in &variable.references {
                let Some(&(target, _)) = symbols.get(&reference.symbol) else {
                    // Tables of device functions are never read by the code that runs here.
                    if module.function(&reference.symbol).is_some() {
                        continue;
                    }
                    return Err(LoadError::Unresolved {
                        name: variable.name.clone(),
                        symbol: reference.symbol.clone(),
                    });
                };
                let value = target.wrapping_add_signed(reference.addend);
                memory.write(base + reference.offset, &value.to_le_bytes())?;
            }
        }
        Ok(Program { module, symbols, codes: Mutex::default() })
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Address and bytes of a global or constant variable.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.symbols.get(name).copied()
    }

    /// Frees the module's variables.
    pub fn unload(self, memory: &Memory) -> Result<(), MemoryFault> {
        self.symbols.values().try_for_each(|&(address, _)| memory.free(address))
    }

    /// The prepared code of a kernel; prepared at its first launch.
    pub(super) fn code(&self, kernel: &str) -> Result<Arc<Code>, Cause> {
        let mut codes = self.codes.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(code) = codes.get(kernel) {
            return Ok(code.clone());
        }
        let function = self.module.function(kernel).filter(|f| f.entry && f.body.is_some());
        let function = function.ok_or_else(|| Cause::NoKernel(kernel.into()))?;
        let code = Arc::new(lower(&self.module, function, &self.symbols)?);
        codes.insert(kernel.into(), code.clone());
        Ok(code)
    }
}
