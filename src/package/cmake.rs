//! A CMake project whose test runs the reproducer.

use super::{File, Subject};

/// `CMakeLists.txt`; the `.cu` stands beside it.
pub fn cmake(subject: &Subject<'_>) -> Vec<File> {
    let name = subject.name;
    let added = subject.line.additions.iter().flat_map(|a| &a.arguments).filter(|a| *a == "-lineinfo");
    let options: Vec<String> = groups(&subject.line.production, added).iter().map(|words| option(words)).collect();
    let driver =
        if subject.line.libcuda { format!("target_link_libraries({name} PRIVATE cuda)\n") } else { String::new() };
    let text = format!(
        "# {name}.cu, a kernel reproducer, kept as a regression test; made by krepro.\n\
         # The flags are production's, in production's order; CMake adds neither an architecture nor a standard.\n\
         cmake_minimum_required(VERSION 3.18)\n\
         set(CMAKE_CUDA_ARCHITECTURES OFF)\n\
         project({name} LANGUAGES CXX CUDA)\n\
         enable_testing()\n\n\
         add_executable({name} {name}.cu)\n\
         set_target_properties({name} PROPERTIES CUDA_ARCHITECTURES OFF CUDA_RUNTIME_LIBRARY Shared)\n\
         target_compile_options({name} PRIVATE\n{})\n{driver}\n\
         add_test(NAME {name} COMMAND {name})\n\
         # 125: no fit GPU.\n\
         set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 125)\n",
        options.concat()
    );
    vec![("CMakeLists.txt".to_owned(), text)]
}

/// Options with their separate values: CMake removes duplicates of single words, and `-Xcompiler` twice is no duplicate.
fn groups<'s>(production: &'s [String], added: impl Iterator<Item = &'s String>) -> Vec<Vec<&'s str>> {
    let mut out: Vec<Vec<&str>> = vec![];
    for word in production.iter().chain(added) {
        match out.last_mut() {
            Some(last) if !word.starts_with('-') => last.push(word),
            _ => out.push(vec![word]),
        }
    }
    out
}

fn option(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| crate::template::shell(word)).collect::<Vec<_>>().join(" ");
    let escaped = quoted.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace(';', "\\;");
    format!("    \"SHELL:{escaped}\"\n")
}
