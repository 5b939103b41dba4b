//! Loads and stores of a warp.

use super::cluster::{Cluster, Fault};
use super::device::{global_loads, global_stores};
use super::failure::{Cause, Window};
use super::op::{Access, Address, Space, VectorAccess};
use super::registers::{ALL, Doubles, Words, lanes};
use super::warp::Warp;
use crate::memory::{LOCAL_WINDOW, MemoryFault, PARAMETER_WINDOW, SHARED_WINDOW};

/// Upper half of an address, which tells its window.
const HALF: u64 = 0xffff_ffff_0000_0000;

/// The space an address lies in.
pub(super) fn space_of(address: u64) -> Space {
    match address & HALF {
        SHARED_WINDOW => Space::Shared,
        LOCAL_WINDOW => Space::Local,
        PARAMETER_WINDOW => Space::Parameter,
        _ => Space::Global,
    }
}

fn outside(window: Window, offset: u64, bytes: u32, size: u64, lane: usize) -> Fault {
    Fault::new(Cause::Window { window, offset, bytes: bytes.into(), size }, 1 << lane)
}

/// Refuses an access that is not aligned to its size (a power of two).
#[inline(always)]
fn aligned(addresses: &Doubles, mask: u32, bytes: u32) -> Result<(), Fault> {
    let all = if mask == ALL {
        addresses.iter().fold(0, |all, a| all | a)
    } else {
        lanes(mask).fold(0, |all, lane| all | addresses[lane])
    };
    if all & u64::from(bytes - 1) == 0 {
        return Ok(());
    }
    let lane = lanes(mask).find(|&lane| addresses[lane] & u64::from(bytes - 1) != 0).unwrap_or_default();
    let fault = MemoryFault::Misaligned { address: addresses[lane], alignment: bytes.into() };
    Err(Fault::new(fault, 1 << lane))
}

impl Warp {
    /// The addresses of an operand.
    #[inline(always)]
    pub(super) fn addresses(&self, address: Address) -> Doubles {
        let Address { register, wide, offset } = address;
        if wide {
            let base = &self.registers.d[register as usize];
            std::array::from_fn(|lane| base[lane].wrapping_add(offset as i64 as u64))
        } else {
            let base = &self.registers.w[register as usize];
            std::array::from_fn(|lane| base[lane].wrapping_add(offset as u32).into())
        }
    }
}

impl Cluster<'_> {
    /// `ld` of one value.
    pub(super) fn load(&mut self, rank: usize, warp: &mut Warp, access: &Access, active: u32) -> Result<(), Fault> {
        if active == 0 {
            return Ok(());
        }
        let addresses = warp.addresses(access.address);
        aligned(&addresses, active, access.bytes.into())?;
        if access.bytes == 8 {
            let value = self.fetch_doubles(rank, warp, access.space, &addresses, active)?;
            warp.registers.put_d(access.register, active, value);
        } else {
            let value = self.fetch_words(rank, warp, access.space, &addresses, active, access.bytes)?;
            warp.registers.put_w(access.register, active, extend(value, access.bytes, access.sign));
        }
        Ok(())
    }

    /// The most frequent load: up to 4 bytes from device memory. `WIDE` as in [`super::alu::Alu::execute`].
    #[inline(always)]
    pub(super) fn load_device<const WIDE: bool>(
        &mut self,
        warp: &mut Warp,
        access: &Access,
        active: u32,
    ) -> Result<(), Fault> {
        #[cfg(target_arch = "x86_64")]
        if WIDE {
            // SAFETY: that is what `WIDE` promises.
            #[allow(unsafe_code)]
            return unsafe { self.load_device_wide(warp, access, active) };
        }
        self.load_device_plain(warp, access, active)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    fn load_device_wide(&mut self, warp: &mut Warp, access: &Access, active: u32) -> Result<(), Fault> {
        self.load_device_lanes(warp, access, active)
    }

    #[inline(never)]
    fn load_device_plain(&mut self, warp: &mut Warp, access: &Access, active: u32) -> Result<(), Fault> {
        self.load_device_lanes(warp, access, active)
    }

    #[inline(always)]
    fn load_device_lanes(&mut self, warp: &mut Warp, access: &Access, active: u32) -> Result<(), Fault> {
        if active == 0 {
            return Ok(());
        }
        let addresses = warp.addresses(access.address);
        aligned(&addresses, active, access.bytes.into())?;
        let mut value = [0; 32];
        let view = &self.env.view;
        match access.bytes {
            1 => global_loads::<1>(view, &mut warp.hint, &addresses, active, &mut value)?,
            2 => global_loads::<2>(view, &mut warp.hint, &addresses, active, &mut value)?,
            _ => global_loads::<4>(view, &mut warp.hint, &addresses, active, &mut value)?,
        }
        warp.registers.merge_w(access.register, active, extend(value, access.bytes, access.sign));
        Ok(())
    }

    /// `ld.v2`, `.v4`, `.v8`.
    pub(super) fn load_vector(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        vector: &VectorAccess,
        active: u32,
    ) -> Result<(), Fault> {
        if active == 0 {
            return Ok(());
        }
        let VectorAccess { access, registers } = vector;
        let mut addresses = warp.addresses(access.address);
        aligned(&addresses, active, u32::from(access.bytes) * registers.len() as u32)?;
        let mut loaded_words = [[0; 32]; 8];
        let mut loaded_doubles = [[0; 32]; 4];
        for i in 0..registers.len() {
            match access.bytes {
                8 => loaded_doubles[i & 3] = self.fetch_doubles(rank, warp, access.space, &addresses, active)?,
                bytes => {
                    let value = self.fetch_words(rank, warp, access.space, &addresses, active, bytes)?;
                    loaded_words[i & 7] = extend(value, bytes, access.sign);
                }
            }
            addresses = addresses.map(|a| a.wrapping_add(access.bytes.into()));
        }
        for (i, register) in registers.iter().enumerate() {
            if let Some(register) = *register {
                if access.bytes == 8 {
                    warp.registers.put_d(register, active, loaded_doubles[i & 3]);
                } else {
                    warp.registers.put_w(register, active, loaded_words[i & 7]);
                }
            }
        }
        Ok(())
    }

    /// `st` of one value.
    pub(super) fn store(&mut self, rank: usize, warp: &mut Warp, access: &Access, active: u32) -> Result<(), Fault> {
        if active == 0 {
            return Ok(());
        }
        let addresses = warp.addresses(access.address);
        aligned(&addresses, active, access.bytes.into())?;
        self.store_register(rank, warp, access, &addresses, access.register, active)
    }

    /// `st.v2`, `.v4`, `.v8`.
    pub(super) fn store_vector(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        vector: &VectorAccess,
        active: u32,
    ) -> Result<(), Fault> {
        if active == 0 {
            return Ok(());
        }
        let VectorAccess { access, registers } = vector;
        let mut addresses = warp.addresses(access.address);
        aligned(&addresses, active, u32::from(access.bytes) * registers.len() as u32)?;
        for register in registers.iter().flatten() {
            self.store_register(rank, warp, access, &addresses, *register, active)?;
            addresses = addresses.map(|a| a.wrapping_add(access.bytes.into()));
        }
        Ok(())
    }

    fn store_register(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        access: &Access,
        addresses: &Doubles,
        register: u32,
        active: u32,
    ) -> Result<(), Fault> {
        if access.bytes == 8 {
            let value = warp.registers.d[register as usize];
            self.put_words(rank, warp, access.space, addresses, active, 4, &value.map(|v| v as u32))?;
            let next = addresses.map(|a| a.wrapping_add(4));
            self.put_words(rank, warp, access.space, &next, active, 4, &value.map(|v| (v >> 32) as u32))
        } else {
            let value = warp.registers.w[register as usize];
            self.put_words(rank, warp, access.space, addresses, active, access.bytes, &value)
        }
    }

    fn fetch_doubles(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        space: Space,
        addresses: &Doubles,
        active: u32,
    ) -> Result<Doubles, Fault> {
        let low = self.fetch_words(rank, warp, space, addresses, active, 4)?;
        let next = addresses.map(|a| a.wrapping_add(4));
        let high = self.fetch_words(rank, warp, space, &next, active, 4)?;
        Ok(std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane])))
    }

    /// Zero-extended values of up to 4 bytes, aligned to their size.
    #[inline]
    pub(super) fn fetch_words(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        space: Space,
        addresses: &Doubles,
        active: u32,
        bytes: u8,
    ) -> Result<Words, Fault> {
        let mut out = [0; 32];
        match space {
            Space::Global => match bytes {
                1 => global_loads::<1>(&self.env.view, &mut warp.hint, addresses, active, &mut out)?,
                2 => global_loads::<2>(&self.env.view, &mut warp.hint, addresses, active, &mut out)?,
                _ => global_loads::<4>(&self.env.view, &mut warp.hint, addresses, active, &mut out)?,
            },
            Space::Shared if active == ALL && one_owner(addresses) => {
                let shared = self.shared(rank, addresses[0] as u32, 0)?;
                for lane in 0..32 {
                    let at = addresses[lane] as u32;
                    out[lane] = window_load(shared, at & 0xff_ffff, bytes)
                        .ok_or_else(|| outside(Window::Shared, at.into(), bytes.into(), shared.len() as u64, lane))?;
                }
            }
            Space::Shared => {
                for lane in lanes(active) {
                    let at = addresses[lane] as u32;
                    let shared = self.shared(rank, at, lane)?;
                    out[lane] = window_load(shared, at & 0xff_ffff, bytes)
                        .ok_or_else(|| outside(Window::Shared, at.into(), bytes.into(), shared.len() as u64, lane))?;
                }
            }
            Space::Local => {
                for lane in lanes(active) {
                    let at = addresses[lane] as u32;
                    let Some(row) = warp.local.get(at as usize / 4) else {
                        return Err(outside(Window::Local, at.into(), bytes.into(), warp.local.len() as u64 * 4, lane));
                    };
                    out[lane] = row[lane] >> ((at & 3) * 8) & (u32::MAX >> (32 - 8 * u32::from(bytes)));
                }
            }
            Space::Parameter => {
                let parameters = &self.env.launch.parameters[..];
                for lane in lanes(active) {
                    let at = addresses[lane] as u32;
                    out[lane] = window_load(parameters, at, bytes).ok_or_else(|| {
                        outside(Window::Parameter, at.into(), bytes.into(), parameters.len() as u64, lane)
                    })?;
                }
            }
            Space::Generic => {
                let mut rest = active;
                while rest != 0 {
                    let (space, same) = same_space(addresses, rest);
                    let part = self.fetch_words(rank, warp, space, addresses, same, bytes)?;
                    if same == active {
                        return Ok(part);
                    }
                    lanes(same).for_each(|lane| out[lane] = part[lane]);
                    rest &= !same;
                }
            }
        }
        Ok(out)
    }

    #[allow(clippy::too_many_arguments)]
    fn put_words(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        space: Space,
        addresses: &Doubles,
        active: u32,
        bytes: u8,
        value: &Words,
    ) -> Result<(), Fault> {
        match space {
            Space::Global => {
                self.effect = true;
                self.watched_lanes(rank, active, bytes, |lane| (addresses[lane], value[lane]));
                let view = &self.env.view;
                match bytes {
                    1 => global_stores::<1>(view, &mut warp.hint, addresses, active, value)?,
                    2 => global_stores::<2>(view, &mut warp.hint, addresses, active, value)?,
                    _ => global_stores::<4>(view, &mut warp.hint, addresses, active, value)?,
                }
            }
            Space::Shared if active == ALL && one_owner(addresses) && !self.tracks() => {
                self.effect = true;
                let shared = self.shared_mut(rank, addresses[0] as u32, 0)?;
                let size = shared.len() as u64;
                for lane in 0..32 {
                    let at = addresses[lane] as u32;
                    window_store(shared, at & 0xff_ffff, bytes, value[lane])
                        .ok_or_else(|| outside(Window::Shared, at.into(), bytes.into(), size, lane))?;
                }
            }
            Space::Shared => {
                self.effect = true;
                for lane in lanes(active) {
                    let at = addresses[lane] as u32;
                    let shared = self.shared_mut(rank, at, lane)?;
                    let size = shared.len() as u64;
                    window_store(shared, at & 0xff_ffff, bytes, value[lane])
                        .ok_or_else(|| outside(Window::Shared, at.into(), bytes.into(), size, lane))?;
                    if self.tracks() {
                        self.note_store(at, bytes.into(), self.now.0, self.now.1);
                    }
                }
            }
            Space::Local => {
                for lane in lanes(active) {
                    let at = addresses[lane] as u32;
                    let size = warp.local.len() as u64 * 4;
                    let Some(row) = warp.local.get_mut(at as usize / 4) else {
                        return Err(outside(Window::Local, at.into(), bytes.into(), size, lane));
                    };
                    let (shift, mask) = ((at & 3) * 8, u32::MAX >> (32 - 8 * u32::from(bytes)));
                    row[lane] = row[lane] & !(mask << shift) | (value[lane] & mask) << shift;
                }
            }
            Space::Parameter => {
                return Err(Fault::new(Cause::Operand("a kernel cannot store to its parameters".into()), active));
            }
            Space::Generic => {
                let mut rest = active;
                while rest != 0 {
                    let (space, same) = same_space(addresses, rest);
                    self.put_words(rank, warp, space, addresses, same, bytes, value)?;
                    rest &= !same;
                }
            }
        }
        Ok(())
    }

    /// The shared memory that an address means.
    #[inline(always)]
    fn shared(&self, rank: usize, address: u32, lane: usize) -> Result<&[u8], Fault> {
        let owner = (address >> 24) as usize;
        match self.ctas.get(owner) {
            Some(cta) => Ok(&cta.shared),
            None => Err(self.no_cta(rank, address, lane)),
        }
    }

    #[inline(always)]
    fn shared_mut(&mut self, rank: usize, address: u32, lane: usize) -> Result<&mut [u8], Fault> {
        let owner = (address >> 24) as usize;
        if owner >= self.ctas.len() {
            return Err(self.no_cta(rank, address, lane));
        }
        Ok(&mut self.ctas[owner].shared)
    }

    fn no_cta(&self, rank: usize, address: u32, lane: usize) -> Fault {
        let size = self.ctas[rank].shared.len() as u64;
        outside(Window::Shared, address.into(), 1, size, lane)
    }
}

/// Whether all addresses lie in the shared memory of one CTA.
#[inline(always)]
fn one_owner(addresses: &Doubles) -> bool {
    addresses.iter().fold(0, |different, a| different | (a ^ addresses[0])) & 0xff00_0000 == 0
}

/// Little-endian value in a byte array.
#[inline(always)]
fn window_load(window: &[u8], at: u32, bytes: u8) -> Option<u32> {
    let at = at as usize;
    Some(match bytes {
        1 => u32::from(*window.get(at)?),
        2 => u32::from(u16::from_le_bytes(window.get(at..at + 2)?.try_into().ok()?)),
        _ => u32::from_le_bytes(window.get(at..at + 4)?.try_into().ok()?),
    })
}

#[inline(always)]
fn window_store(window: &mut [u8], at: u32, bytes: u8, value: u32) -> Option<()> {
    let at = at as usize;
    match bytes {
        1 => *window.get_mut(at)? = value as u8,
        2 => window.get_mut(at..at + 2)?.copy_from_slice(&(value as u16).to_le_bytes()),
        _ => window.get_mut(at..at + 4)?.copy_from_slice(&value.to_le_bytes()),
    }
    Some(())
}

/// The space of the first lane's address, and the lanes whose addresses lie in the same one.
fn same_space(addresses: &Doubles, mask: u32) -> (Space, u32) {
    let first = space_of(addresses[mask.trailing_zeros() as usize & 31]);
    (first, lanes(mask).filter(|&lane| space_of(addresses[lane]) == first).fold(0, |m, lane| m | 1 << lane))
}

/// Sign extension of a load's result to 16 or 32 bits.
#[inline(always)]
fn extend(value: Words, bytes: u8, sign: u8) -> Words {
    match (bytes, sign) {
        (1, 16) => value.map(|v| v as u8 as i8 as i16 as u16 as u32),
        (1, 32) => value.map(|v| v as u8 as i8 as i32 as u32),
        (2, 32) => value.map(|v| v as u16 as i16 as i32 as u32),
        _ => value,
    }
}
