//! Any bytes as a fat binary: no length is believed, and what is found can be expanded and chosen from.

#![no_main]

use krepro_emulator::arch::Arch;
use krepro_emulator::fatbin::{choose, newest_ptx, read, read_section};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for images in [read(bytes), read_section(bytes)].into_iter().flatten() {
        let _ = newest_ptx(&images);
        for name in ["sm_90a", "sm_103a", "sm_75"] {
            if let Some(Ok(image)) = Arch::parse(name).map(|arch| choose(&images, arch)) {
                let _ = image.text();
            }
        }
    }
});
