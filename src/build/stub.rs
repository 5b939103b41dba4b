//! A libcuda to link against where no driver is installed.

use std::collections::BTreeSet;

/// C source of a library with every function that `cuda.h` declares; each returns 34 (`CUDA_ERROR_STUB_LIBRARY`).
pub fn source(cuda_h: &str) -> String {
    let mut names = BTreeSet::new();
    for line in cuda_h.lines() {
        let line = line.trim();
        if let Some((_, tail)) = line.split_once("CUDAAPI ") {
            names.extend(function(tail.trim_start()));
        }
        if let Some(tail) = line.strip_prefix("#define ") {
            // `#define cuMemAlloc cuMemAlloc_v2` and `… __CUDA_API_PTSZ(cuMemcpy_v2)`: both names are exported.
            let mut words = tail.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty());
            names.extend(words.next().filter(|w| is_entry(w)));
            names.extend(words.filter(|w| is_entry(w)));
        }
    }
    names.iter().map(|name| format!("int {name}(void) {{ return 34; }}\n")).collect()
}

fn function(tail: &str) -> Option<&str> {
    let name = tail.split('(').next()?.trim();
    (is_entry(name) && tail.contains('(')).then_some(name)
}

fn is_entry(word: &str) -> bool {
    let rest = word.strip_prefix("cu").unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_uppercase()) && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn declared_functions_and_their_versions_are_exported() {
        let header = "#define cuMemAlloc                    cuMemAlloc_v2\n\
            #define cuMemcpy __CUDA_API_PTDS(cuMemcpy)\n\
            #define CUDA_VERSION 13000\n\
            CUresult CUDAAPI cuInit(unsigned int Flags);\n\
            typedef void (CUDART_CB *CUhostFn)(void *userData);\n\
            CUresult CUDAAPI cuTensorMapEncodeTiled(\n";
        let expected = ["cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemcpy", "cuTensorMapEncodeTiled"];
        let text = source(header);
        let names: Vec<&str> = text.lines().map(|l| l.trim_start_matches("int ").split('(').next().unwrap()).collect();
        assert_eq!(names, expected);
    }
}
