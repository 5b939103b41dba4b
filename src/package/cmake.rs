//! A CMake project whose test runs the reproducer.

use super::{File, Subject, options};

/// `CMakeLists.txt`; the `.cu` and the reproducer's record stand beside it.
pub fn cmake(subject: &Subject<'_>) -> Vec<File> {
    let name = subject.name;
    let options: Vec<String> = options(subject.line).iter().map(|words| option(words)).collect();
    let driver =
        if subject.line.libcuda { format!("target_link_libraries({name} PRIVATE cuda)\n") } else { String::new() };
    let text = format!(
        "# {name}.cu, a kernel reproducer, kept as a regression test; made by krepro.\n\
         # The flags are production's, in production's order; CMake adds neither an architecture nor a standard.\n\
         cmake_minimum_required(VERSION 3.18)\n\
         set(CMAKE_CUDA_ARCHITECTURES OFF)\n\
         if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{{CUDACXX}} AND DEFINED ENV{{NVCC}})\n  \
           set(CMAKE_CUDA_COMPILER $ENV{{NVCC}})\n\
         endif()\n\
         project({name} LANGUAGES CXX CUDA)\n\
         enable_testing()\n\n\
         add_executable({name} {name}.cu)\n\
         set_target_properties({name} PROPERTIES CUDA_ARCHITECTURES OFF CUDA_RUNTIME_LIBRARY Shared)\n\
         target_compile_options({name} PRIVATE\n{})\n\
         # The host reference is threaded.\n\
         find_package(Threads REQUIRED)\n\
         target_link_libraries({name} PRIVATE Threads::Threads)\n{driver}\n\
         add_test(NAME {name} COMMAND {name})\n\
         # Where krepro is at hand, its CPU backend runs it without a GPU.\n\
         find_program(KREPRO krepro)\n\
         if(KREPRO)\n  \
           add_test(NAME {name}_cpu COMMAND ${{KREPRO}} run ${{CMAKE_CURRENT_SOURCE_DIR}} --backend cpu)\n  \
           set_tests_properties({name}_cpu PROPERTIES SKIP_RETURN_CODE 125)\n\
         endif()\n\
         # 125: no fit GPU.\n\
         set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 125)\n",
        options.concat()
    );
    vec![("CMakeLists.txt".to_owned(), text)]
}

/// An option with its separate value in one string: CMake removes duplicates, and `-Xcompiler` twice is no duplicate.
fn option(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| crate::template::shell(word)).collect::<Vec<_>>().join(" ");
    let escaped = quoted.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace(';', "\\;");
    format!("    \"SHELL:{escaped}\"\n")
}

#[cfg(test)]
mod tests {
    use super::cmake;
    use crate::model::BuildLine;
    use crate::package::Subject;

    #[test]
    fn an_option_keeps_its_value_and_the_language_is_the_files() {
        let words = ["-x", "cu", "-Xcompiler", "-Wall", "-Xcompiler", "-fPIC", "-DA=\"b c\"", "-I", "/x"];
        let production = words.map(str::to_owned).to_vec();
        let line = BuildLine { production, replacements: vec![], additions: vec![], gpu: None, libcuda: false };
        let text = &cmake(&Subject { name: "k", line: &line })[0].1;
        for option in [
            "\"SHELL:-Xcompiler -Wall\"",
            "\"SHELL:-Xcompiler -fPIC\"",
            "\"SHELL:'-DA=\\\"b c\\\"'\"",
            "\"SHELL:-I /x\"",
        ] {
            assert!(text.contains(option), "{option} in {text}");
        }
        assert!(!text.contains("-x cu"), "{text}");
    }
}
