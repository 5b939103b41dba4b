//! The values of a tensor in a file, for figures about it: .npy, .safetensors, or raw bytes. The executable reads the same files itself,
//! and is the one that refuses what does not fit.

use serde::Deserialize;

use super::diagnosis::format;
use crate::model::{ElementType, Operand};

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    data_offsets: (usize, usize),
}

/// Which file and which tensor of it: `FILE.safetensors#NAME` names one of several.
pub fn place(path: &str) -> (&str, Option<&str>) {
    match path.split_once(".safetensors#") {
        Some((stem, name)) => (&path[..stem.len() + ".safetensors".len()], Some(name)),
        None => (path, None),
    }
}

/// The values of a file for `operand`: in the type that a .safetensors header says, else in the operand's own type or in f32. None for other
/// contents.
pub fn values(operand: &Operand, bytes: &[u8], name: Option<&str>) -> Option<Vec<f64>> {
    let count = usize::try_from(operand.rows.value.checked_mul(operand.columns.value)?).ok()?;
    if let Some((data, element)) = safetensors(bytes, name) {
        return (data.len() * 8 == count * element.bits() as usize).then(|| decoded(data, element, count));
    }
    let data = match bytes.strip_prefix(b"\x93NUMPY") {
        None => bytes,
        Some(rest) => {
            let length = match rest.first()? {
                1 => usize::from(u16::from_le_bytes([*rest.get(2)?, *rest.get(3)?])) + 4,
                _ => u32::from_le_bytes([*rest.get(2)?, *rest.get(3)?, *rest.get(4)?, *rest.get(5)?]) as usize + 6,
            };
            rest.get(length..)?
        }
    };
    let own = operand.element.value;
    if data.len() * 8 == count * own.bits() as usize {
        Some(decoded(data, own, count))
    } else if data.len() == count * 4 {
        Some(decoded(data, ElementType::F32, count))
    } else {
        None
    }
}

/// Bytes and type of the named tensor, or of the only one.
fn safetensors<'b>(bytes: &'b [u8], name: Option<&str>) -> Option<(&'b [u8], ElementType)> {
    let (length, rest) = bytes.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (header, data) = rest.split_at_checked(length)?;
    let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(header).ok()?;
    let mut tensors = header.iter().filter(|(key, _)| *key != "__metadata__");
    let (_, entry) = match name {
        Some(name) => tensors.find(|(key, _)| *key == name)?,
        None => tensors.next().filter(|_| tensors.next().is_none())?,
    };
    let entry: Entry = serde_json::from_value(entry.clone()).ok()?;
    let element = match entry.dtype.as_str() {
        "F32" => ElementType::F32,
        "F16" => ElementType::F16,
        "BF16" => ElementType::Bf16,
        "F8_E4M3" => ElementType::E4m3,
        "F8_E5M2" => ElementType::E5m2,
        "I8" => ElementType::S8,
        "U8" => ElementType::U8,
        "I32" => ElementType::S32,
        _ => return None,
    };
    Some((data.get(entry.data_offsets.0..entry.data_offsets.1)?, element))
}

fn decoded(data: &[u8], element: ElementType, count: usize) -> Vec<f64> {
    let code = |i: usize| match element.bits() as usize {
        4 => u32::from(data[i / 2] >> (i % 2 * 4) & 0xf),
        bits => data[i * bits / 8..(i + 1) * bits / 8].iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte)),
    };
    (0..count).map(|i| format::value(element, code(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::{place, values};
    use crate::judge::fixture::operand;
    use crate::model::{ElementType, Role};

    #[test]
    fn files_in_the_operands_type_and_in_f32_are_read() {
        let a = operand(Role::A, ElementType::Bf16, 1, 2);
        let bf16: Vec<u8> = [0x3f80_u16, 0xc000].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(values(&a, &bf16, None), Some(vec![1.0, -2.0]));
        let mut npy = b"\x93NUMPY\x01\x00\x04\x00{ }\n".to_vec();
        npy.extend([1.0_f32, -2.0].iter().flat_map(|x| x.to_le_bytes()));
        assert_eq!(values(&a, &npy, None), Some(vec![1.0, -2.0]));
        assert_eq!(values(&a, &[0; 3], None), None);
        assert_eq!(values(&a, b"\x93NUMPY\x01", None), None);
    }

    #[test]
    fn a_tensor_of_a_safetensors_file_is_read_in_its_own_type() {
        let a = operand(Role::A, ElementType::Bf16, 1, 2);
        let file = |header: &str| {
            let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
            bytes.extend(header.as_bytes());
            bytes.extend([0x00, 0x3c, 0x00, 0xc0]);
            bytes.extend([1.0_f32, 3.0].iter().flat_map(|x| x.to_le_bytes()));
            bytes
        };
        let both = file(
            r#"{"__metadata__":{"k":"v"},"x":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#,
        );
        assert_eq!(values(&a, &both, Some("x")), Some(vec![1.0, -2.0]));
        assert_eq!(values(&a, &both, Some("y")), Some(vec![1.0, 3.0]));
        // Two tensors and no name; a name that is not there; an offset beyond the end.
        assert_eq!((values(&a, &both, None), values(&a, &both, Some("z"))), (None, None));
        let one = file(r#"{"x":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}"#);
        assert_eq!(values(&a, &one, None), Some(vec![1.0, -2.0]));
        assert_eq!(values(&a, &file(r#"{"x":{"dtype":"F16","shape":[1,2],"data_offsets":[8,40]}}"#), None), None);
        assert_eq!(place("w.safetensors#a.b"), ("w.safetensors", Some("a.b")));
        assert_eq!(place("w.npy"), ("w.npy", None));
    }
}
