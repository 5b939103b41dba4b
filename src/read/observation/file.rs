//! The binary file of raw outputs (`docs/harness.md`, Observation files).

use thiserror::Error;

use crate::model::{ElementType, RawLaunch};

/// What is wrong with an observation file.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FileError {
    /// Another kind of file.
    #[error("this is no observation file: it does not begin with KREPROBS")]
    Magic,
    /// Written by another krepro.
    #[error("observation file of version {0}; this krepro reads version 1")]
    Version(u32),
    /// It ends too early.
    #[error(
        "the observation file ends at byte {length}, inside {what} of record {record}; the executable was ended early or the disk is full"
    )]
    Truncated {
        /// Its length.
        length: usize,
        /// What was cut.
        what: &'static str,
        /// From 0.
        record: u32,
    },
    /// A member has no meaning.
    #[error("record {record} of the observation file has {what} {value}")]
    Value {
        /// From 0.
        record: u32,
        /// The member.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The extents do not fit the storage.
    #[error(
        "record {record} holds {storage} bytes of storage and {mask} of mask, but {rows} x {columns} elements of {element} with leading \
         dimension {leading_dimension} take {expected_storage} and {expected_mask}"
    )]
    Size {
        /// From 0.
        record: u32,
        /// Bytes in the file.
        storage: u64,
        /// Bytes in the file.
        mask: u64,
        /// Rows.
        rows: u64,
        /// Columns.
        columns: u64,
        /// Element.
        element: ElementType,
        /// Elements from line to line.
        leading_dimension: u64,
        /// Least bytes.
        expected_storage: u64,
        /// Least bytes.
        expected_mask: u64,
    },
    /// More bytes than records.
    #[error("{0} bytes follow the last record of the observation file")]
    Trailing(usize),
}

struct Cursor<'a> {
    bytes: &'a [u8],
    length: usize,
    record: u32,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: u64, what: &'static str) -> Result<&'a [u8], FileError> {
        let cut = FileError::Truncated { length: self.length, what, record: self.record };
        let count = usize::try_from(count).map_err(|_| FileError::Truncated {
            length: self.length,
            what,
            record: self.record,
        })?;
        let (head, tail) = self.bytes.split_at_checked(count).ok_or(cut)?;
        self.bytes = tail;
        Ok(head)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, FileError> {
        Ok(self.take(4, what)?.iter().rev().fold(0, |value, byte| (value << 8) | u32::from(*byte)))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, FileError> {
        Ok(self.take(8, what)?.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
    }
}

/// Reads all records; memory is taken only for bytes that are there.
///
/// # Errors
/// The first thing that is wrong, with its record.
pub fn observation_file(bytes: &[u8]) -> Result<Vec<RawLaunch>, FileError> {
    let rest = bytes.strip_prefix(b"KREPROBS").ok_or(FileError::Magic)?;
    let mut cursor = Cursor { bytes: rest, length: bytes.len(), record: 0 };
    let version = cursor.u32("the header")?;
    if version != 1 {
        return Err(FileError::Version(version));
    }
    let records = cursor.u32("the header")?;
    let mut launches = Vec::new();
    for record in 0..records {
        cursor.record = record;
        launches.push(one(&mut cursor)?);
    }
    if cursor.bytes.is_empty() { Ok(launches) } else { Err(FileError::Trailing(cursor.bytes.len())) }
}

fn one(cursor: &mut Cursor<'_>) -> Result<RawLaunch, FileError> {
    let record = cursor.record;
    let probe = cursor.u32("the head")?;
    let launch = cursor.u32("the head")?;
    let status = cursor.u32("the head")?;
    if status > 3 {
        return Err(FileError::Value { record, what: "status", value: status.into() });
    }
    let element = cursor.u32("the head")?;
    let element = *usize::try_from(element)
        .ok()
        .and_then(|index| ElementType::ALL.get(index))
        .ok_or(FileError::Value { record, what: "element type", value: element.into() })?;
    let mut sizes = [0_u64; 7];
    for size in &mut sizes {
        *size = cursor.u64("the head")?;
    }
    let [rows, columns, leading_dimension, storage, mask, guard_hits, input_hits] = sizes;
    // Lines are rows, or columns: the file does not say which, the contract does.
    let lines = |count: u64, length: u64| {
        let elements = count.saturating_sub(1).saturating_mul(leading_dimension).saturating_add(length);
        (leading_dimension >= length).then_some(elements)
    };
    let elements = lines(rows, columns).into_iter().chain(lines(columns, rows)).min().unwrap_or(u64::MAX);
    let expected_storage = elements.saturating_mul(element.bits().into()).div_ceil(8);
    let expected_mask = elements.div_ceil(8);
    // A launch that a CUDA error ended left nothing to copy back.
    let nothing = status & 1 == 1 && storage == 0 && mask == 0;
    let short = !nothing && (storage < expected_storage || mask < expected_mask);
    if rows == 0 || columns == 0 || elements == u64::MAX || short {
        return Err(FileError::Size {
            record,
            storage,
            mask,
            rows,
            columns,
            element,
            leading_dimension,
            expected_storage,
            expected_mask,
        });
    }
    let storage = cursor.take(storage, "the storage")?.to_vec();
    let mask = cursor.take(mask, "the mask")?.to_vec();
    Ok(RawLaunch {
        probe,
        launch,
        cuda_error: status & 1 == 1,
        shared_filled: status & 2 == 2,
        element,
        rows,
        columns,
        leading_dimension,
        guard_hits,
        input_hits,
        storage,
        mask,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FileError, observation_file};
    use crate::model::ElementType;

    fn file() -> Vec<u8> {
        let mut bytes = b"KREPROBS".to_vec();
        let put32 = |bytes: &mut Vec<u8>, values: &[u32]| values.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        put32(&mut bytes, &[1, 1, 4, 1, 0, 0]);
        for value in [2_u64, 3, 4, 14, 1, 0, 5] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(0..14_u8);
        bytes.push(0x7f);
        bytes
    }

    #[test]
    fn a_record_is_read_whole() {
        let launches = observation_file(&file()).unwrap();
        let launch = &launches[0];
        assert_eq!((launch.probe, launch.launch, launch.element), (4, 1, ElementType::Bf16));
        assert_eq!((launch.rows, launch.columns, launch.leading_dimension, launch.input_hits), (2, 3, 4, 5));
        assert_eq!((launch.storage.len(), launch.mask.as_slice()), (14, [0x7f].as_slice()));
    }

    #[test]
    fn every_cut_is_an_error() {
        let whole = file();
        for length in 0..whole.len() {
            assert!(observation_file(&whole[..length]).is_err(), "cut at {length}");
        }
        let mut longer = whole;
        longer.push(0);
        assert_eq!(observation_file(&longer), Err(FileError::Trailing(1)));
    }

    #[test]
    fn columns_may_lie_beside_each_other_as_well() {
        // Two rows of three columns, the columns two or four apart.
        for (leading, storage) in [(2_u64, 12_u64), (4, 20)] {
            let mut bytes = file();
            bytes[48..56].copy_from_slice(&leading.to_le_bytes());
            bytes[56..64].copy_from_slice(&storage.to_le_bytes());
            bytes.splice(88..102, std::iter::repeat_n(7, storage as usize));
            bytes[64..72].copy_from_slice(&2_u64.to_le_bytes());
            bytes.push(1);
            assert_eq!(observation_file(&bytes).unwrap()[0].storage.len() as u64, storage);
        }
        let mut bytes = file();
        bytes[48..56].copy_from_slice(&1_u64.to_le_bytes());
        assert!(matches!(observation_file(&bytes), Err(FileError::Size { leading_dimension: 1, .. })));
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused_before_memory_is_taken() {
        let mut bytes = file();
        bytes[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(observation_file(&bytes), Err(FileError::Size { rows: u64::MAX, .. })));
        let mut bytes = file();
        bytes[56..64].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        assert!(matches!(observation_file(&bytes), Err(FileError::Truncated { what: "the storage", .. })));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = observation_file(&bytes);
            let mut head = file();
            let count = bytes.len().min(72);
            head[16..16 + count].copy_from_slice(&bytes[..count]);
            bytes.clear();
            let _ = observation_file(&head);
        }
    }
}
