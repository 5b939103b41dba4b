//! Messages of the shim (`shim/core/wire.c` has the layout). The other side is not trusted: no size in a message is
//! believed before the bytes are there.

use std::io::{self, Read, Write};

/// The most arguments of a message.
const MOST_ARGUMENTS: u32 = 64;

/// One call of the executable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Request {
    /// The operation's number.
    pub(crate) operation: u32,
    pub(crate) arguments: Vec<u64>,
    pub(crate) blob: Vec<u8>,
}

impl Request {
    /// The argument at `at`; 0 when the message has fewer.
    pub(crate) fn argument(&self, at: usize) -> u64 {
        self.arguments.get(at).copied().unwrap_or(0)
    }

    /// The argument at `at` as u32, `u32::MAX` when it is larger.
    pub(crate) fn small(&self, at: usize) -> u32 {
        u32::try_from(self.argument(at)).unwrap_or(u32::MAX)
    }

    /// The bytes as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.blob).into_owned()
    }

    /// Reads one message; `None` when the other side is gone between messages.
    ///
    /// # Errors
    ///
    /// The stream's errors, and `InvalidData` for a message with too many arguments.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; 16];
        match from.read(&mut header[..1])? {
            0 => return Ok(None),
            _ => from.read_exact(&mut header[1..])?,
        }
        let operation = u32_at(&header, 0);
        let count = u32_at(&header, 4);
        if count > MOST_ARGUMENTS {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message with {count} arguments")));
        }
        let mut arguments = Vec::new();
        for _ in 0..count {
            let mut argument = [0; 8];
            from.read_exact(&mut argument)?;
            arguments.push(u64::from_le_bytes(argument));
        }
        let size = u64::from(u32_at(&header, 8)) | u64::from(u32_at(&header, 12)) << 32;
        // A first reservation that a lie cannot make large; the rest grows with what arrives.
        let mut blob = Vec::with_capacity(size.min(1 << 24) as usize);
        if from.take(size).read_to_end(&mut blob)? as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Request { operation, arguments, blob }))
    }
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    /// A `cudaError_t`.
    pub(crate) status: i32,
    /// The error that the device is stuck in.
    pub(crate) sticky: i32,
    pub(crate) results: Vec<u64>,
    /// For the executable's standard output.
    pub(crate) text: Vec<u8>,
    pub(crate) blob: Vec<u8>,
}

impl Answer {
    /// Writes the answer.
    ///
    /// # Errors
    ///
    /// The stream's errors.
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut head = Vec::with_capacity(32 + 8 * self.results.len());
        head.extend_from_slice(&self.status.to_le_bytes());
        head.extend_from_slice(&self.sticky.to_le_bytes());
        head.extend_from_slice(&(self.results.len() as u32).to_le_bytes());
        head.extend_from_slice(&0u32.to_le_bytes());
        head.extend_from_slice(&(self.text.len() as u64).to_le_bytes());
        head.extend_from_slice(&(self.blob.len() as u64).to_le_bytes());
        for result in &self.results {
            head.extend_from_slice(&result.to_le_bytes());
        }
        head.extend_from_slice(&self.text);
        if self.blob.len() <= 4096 {
            head.extend_from_slice(&self.blob);
            return to.write_all(&head);
        }
        to.write_all(&head)?;
        to.write_all(&self.blob)
    }
}

fn u32_at(bytes: &[u8; 16], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(operation: u32, arguments: &[u64], size: u64, blob: &[u8]) -> Vec<u8> {
        let mut bytes = operation.to_le_bytes().to_vec();
        bytes.extend_from_slice(&(arguments.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&size.to_le_bytes());
        arguments.iter().for_each(|argument| bytes.extend_from_slice(&argument.to_le_bytes()));
        bytes.extend_from_slice(blob);
        bytes
    }

    #[test]
    fn messages_are_read_one_after_the_other() {
        let mut bytes = message(20, &[64], 0, b"");
        bytes.extend(message(22, &[1, 2, 3], 4, b"abcd"));
        let mut from = bytes.as_slice();
        let first = Request::read(&mut from).unwrap().unwrap();
        assert_eq!((first.operation, first.argument(0), first.argument(1)), (20, 64, 0));
        assert_eq!(Request::read(&mut from).unwrap().unwrap().blob, b"abcd");
        assert_eq!(Request::read(&mut from).unwrap(), None);
    }

    #[test]
    fn a_size_that_is_a_lie_takes_no_memory() {
        let error = Request::read(&mut message(22, &[], u64::MAX, b"ab").as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let error = Request::read(&mut message(22, &[0; 65], 0, b"").as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(Some(request)) = Request::read(&mut bytes.as_slice()) {
                prop_assert!(16 + 8 * request.arguments.len() + request.blob.len() <= bytes.len());
            }
        }
    }
}
