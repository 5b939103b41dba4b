//! One instruction in a kernel of its own: an image is copied to shared memory, the instruction runs, registers come back.
//!
//! With `KREPRO_WRITE_CASES=DIR` every case is also written to that folder (PTX, image, output), in the form that
//! `tests/silicon/run_cases.cpp` runs on a GPU.

use std::fmt::Write as _;
use std::path::Path;

use super::common::Device;

/// A kernel with its input.
pub struct Case {
    pub name: String,
    /// Target of the PTX.
    pub target: &'static str,
    /// PTX version.
    pub version: &'static str,
    pub threads: u32,
    /// Bytes of the image that go to shared memory, a multiple of 16.
    pub shared: usize,
    /// The image: what goes to shared memory, then what the body loads from `[%image]` itself.
    pub image: Vec<u8>,
    /// Words that every thread stores.
    pub words: usize,
    /// Declarations and instructions. `%image` and `%out` are pointers, `%base` is the shared address of the image, `%me`
    /// the thread, `%mine` the pointer to word `tid` of the part of the image that is not shared. Results belong in `%o0`…
    pub body: String,
}

impl Case {
    pub fn ptx(&self) -> String {
        let Case { version, target, shared, words, threads, body, .. } = self;
        let mut text = format!(
            ".version {version}\n.target {target}\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n\
             .visible .entry k(.param .u64 image, .param .u64 out)\n.maxntid {threads}, 1, 1\n{{\n\
             .reg .pred %more;\n.reg .b32 %me, %base, %at, %v<4>;\n.reg .b64 %image, %out, %mine, %to, %from;\n\
             .reg .b32 %o<{words}>;\n\
             ld.param.u64 %image, [image];\nld.param.u64 %out, [out];\ncvta.to.global.u64 %image, %image;\n\
             cvta.to.global.u64 %out, %out;\nmov.u32 %me, %tid.x;\nmov.u32 %base, memory;\n\
             mad.wide.u32 %to, %me, 4, %out;\nadd.s64 %mine, %image, {shared};\nmad.wide.u32 %mine, %me, 4, %mine;\n\
             shl.b32 %at, %me, 4;\nCOPY:\nsetp.ge.u32 %more, %at, {shared};\n@%more bra COPIED;\n\
             cvt.u64.u32 %from, %at;\nadd.s64 %from, %from, %image;\nld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%from];\n\
             add.u32 %at, %at, %base;\nst.shared.v4.b32 [%at], {{%v0, %v1, %v2, %v3}};\n\
             sub.u32 %at, %at, %base;\nadd.u32 %at, %at, {};\nbra COPY;\nCOPIED:\nfence.proxy.async.shared::cta;\nbar.sync 0;\n",
            16 * threads
        );
        text.push_str(body);
        for i in 0..*words {
            writeln!(text, "st.global.b32 [%to+{}], %o{i};", 4 * i * *threads as usize).unwrap();
        }
        text.push_str("ret;\n}\n");
        text
    }

    /// Runs the case: word `i` of thread `t` is at `i * threads + t`.
    pub fn run(&self) -> Vec<u32> {
        let text = self.ptx();
        let device = Device::new(&text);
        let image = device.upload(&self.image, |byte| vec![byte]);
        let count = self.words * self.threads as usize;
        let out = device.zeros(4 * count as u64);
        let parameters = vec![image.into(), out.into()];
        let shared = self.shared as u32;
        device
            .launch_with("k", [1, 1, 1], [self.threads, 1, 1], [1, 1, 1], shared, parameters)
            .unwrap_or_else(|e| panic!("{}: {e}\n{text}", self.name));
        let got = device.read_words(out, count);
        if let Some(recorded) = silicon(&self.name) {
            assert_eq!(digest(&got), recorded, "{}: an H200 gave another output", self.name);
        }
        if let Some(folder) = std::env::var_os("KREPRO_WRITE_CASES") {
            self.write(Path::new(&folder), &text, &got);
        }
        got
    }

    fn write(&self, folder: &Path, text: &str, got: &[u32]) {
        std::fs::create_dir_all(folder).unwrap();
        let file = |ending: &str| folder.join(format!("{}.{ending}", self.name));
        let numbers = format!("{} {} {}\n", self.threads, self.shared, 4 * got.len());
        std::fs::write(file("txt"), numbers).unwrap();
        std::fs::write(file("ptx"), text).unwrap();
        std::fs::write(file("in"), &self.image).unwrap();
        std::fs::write(file("cpu"), got.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    }
}

/// FNV-1a of the words' bytes, little-endian.
fn digest(words: &[u32]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// What the same PTX with the same image gave on an H200, as a digest, if it was run there.
fn silicon(name: &str) -> Option<u64> {
    let mut lines = include_str!("h200.txt").lines().filter_map(|line| line.split_once(' '));
    let (_, digest) = lines.find(|(case, _)| *case == name)?;
    Some(u64::from_str_radix(digest, 16).unwrap())
}
