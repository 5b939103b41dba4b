//! The 128 bytes.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..8 | the mark `krepro\0\1` |
//! | 8..14 | element, rank, interleave, swizzle, L2 promotion, fill |
//! | 16..24 | address |
//! | 24..44 | extents minus one, u32 each |
//! | 44..76 | strides, u64 each |
//! | 76..96 | box, u32 each |
//! | 96..116 | element strides, u32 each |
//! | 116..120 | check sum of what comes before |
//!
//! Extents of 2^32 fit because they are stored minus one.

use super::{ElementType, Interleave, L2Promotion, MAX_RANK, OobFill, Swizzle, TensorMap};

/// Size of a `CUtensorMap`, in bytes.
pub const SIZE: usize = 128;

const MARK: [u8; 8] = *b"krepro\0\x01";

/// Why 128 bytes are no descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotATensorMap {
    /// The bytes were never written by `cuTensorMapEncodeTiled`.
    #[error("these 128 bytes are no tensor map: they were not written by cuTensorMapEncodeTiled")]
    Unencoded,
    /// They were once, and something changed them other than through `tensormap.replace`.
    #[error("this tensor map was overwritten after cuTensorMapEncodeTiled wrote it")]
    Overwritten,
}

impl TensorMap {
    /// The descriptor as bytes.
    pub fn encode(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&MARK);
        let small = [
            self.element.to_driver(),
            u32::from(self.rank),
            self.interleave.to_driver(),
            self.swizzle.to_driver(),
            self.l2_promotion.to_driver(),
            self.fill.to_driver(),
        ];
        for (at, value) in small.into_iter().enumerate() {
            bytes[8 + at] = value as u8;
        }
        bytes[16..24].copy_from_slice(&self.address.to_le_bytes());
        for d in 0..MAX_RANK {
            put(&mut bytes, 24 + 4 * d, self.dims[d].wrapping_sub(1) as u32);
            put(&mut bytes, 76 + 4 * d, self.box_dims[d]);
            put(&mut bytes, 96 + 4 * d, self.element_strides[d]);
        }
        for (d, stride) in self.strides.iter().enumerate() {
            bytes[44 + 8 * d..52 + 8 * d].copy_from_slice(&stride.to_le_bytes());
        }
        let sum = check_sum(&bytes);
        put(&mut bytes, 116, sum);
        bytes
    }

    /// Reads a descriptor back.
    ///
    /// # Errors
    ///
    /// [`NotATensorMap`] when the bytes were not written by [`TensorMap::encode`].
    pub fn decode(bytes: &[u8; SIZE]) -> Result<Self, NotATensorMap> {
        if bytes[..8] != MARK {
            return Err(NotATensorMap::Unencoded);
        }
        if get(bytes, 116) != check_sum(bytes) {
            return Err(NotATensorMap::Overwritten);
        }
        Self::fields(bytes).ok_or(NotATensorMap::Overwritten)
    }

    fn fields(bytes: &[u8; SIZE]) -> Option<Self> {
        let small = |at: usize| u32::from(bytes[8 + at]);
        Some(TensorMap {
            element: ElementType::from_driver(small(0))?,
            rank: Some(bytes[9]).filter(|&rank| (1..=MAX_RANK).contains(&usize::from(rank)))?,
            address: get_u64(bytes, 16),
            dims: std::array::from_fn(|d| u64::from(get(bytes, 24 + 4 * d)) + 1),
            strides: std::array::from_fn(|d| get_u64(bytes, 44 + 8 * d)),
            box_dims: std::array::from_fn(|d| get(bytes, 76 + 4 * d)),
            element_strides: std::array::from_fn(|d| get(bytes, 96 + 4 * d)),
            interleave: Interleave::from_driver(small(2))?,
            swizzle: Swizzle::from_driver(small(3))?,
            l2_promotion: L2Promotion::from_driver(small(4))?,
            fill: OobFill::from_driver(small(5))?,
        })
    }
}

fn put(bytes: &mut [u8; SIZE], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn get(bytes: &[u8; SIZE], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn get_u64(bytes: &[u8; SIZE], at: usize) -> u64 {
    u64::from(get(bytes, at)) | u64::from(get(bytes, at + 4)) << 32
}

/// FNV-1a over everything before the sum.
fn check_sum(bytes: &[u8; SIZE]) -> u32 {
    bytes[..116].iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_map() -> impl Strategy<Value = TensorMap> {
        let small = (0u32..16, 1u8..=5, 0u32..3, 0u32..7, 0u32..4, 0u32..2);
        let arrays = (
            any::<u64>(),
            prop::array::uniform5(1u64..=1 << 32),
            prop::array::uniform4(any::<u64>()),
            prop::array::uniform5(any::<u32>()),
            prop::array::uniform5(any::<u32>()),
        );
        (small, arrays).prop_map(|((element, rank, interleave, swizzle, l2, fill), arrays)| TensorMap {
            element: ElementType::from_driver(element).unwrap(),
            rank,
            address: arrays.0,
            dims: arrays.1,
            strides: arrays.2,
            box_dims: arrays.3,
            element_strides: arrays.4,
            interleave: Interleave::from_driver(interleave).unwrap(),
            swizzle: Swizzle::from_driver(swizzle).unwrap(),
            l2_promotion: L2Promotion::from_driver(l2).unwrap(),
            fill: OobFill::from_driver(fill).unwrap(),
        })
    }

    proptest! {
        #[test]
        fn decode_undoes_encode(map in any_map()) {
            prop_assert_eq!(TensorMap::decode(&map.encode()), Ok(map));
        }

        #[test]
        fn one_changed_byte_is_noticed(map in any_map(), at in 0usize..120, change in 1u8..) {
            let mut bytes = map.encode();
            bytes[at] ^= change;
            prop_assert!(TensorMap::decode(&bytes).is_err());
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in prop::collection::vec(any::<u8>(), SIZE)) {
            let mut bytes: [u8; SIZE] = bytes.try_into().unwrap();
            prop_assert_eq!(TensorMap::decode(&bytes), Err(NotATensorMap::Unencoded));
            bytes[..8].copy_from_slice(&MARK);
            let sum = check_sum(&bytes);
            put(&mut bytes, 116, sum);
            if let Ok(map) = TensorMap::decode(&bytes) {
                prop_assert_eq!(TensorMap::decode(&map.encode()), Ok(map));
            }
        }
    }
}
