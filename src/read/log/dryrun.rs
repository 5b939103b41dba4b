//! `nvcc --dryrun` and `nvcc -v` without the command that was typed: rebuilt from the sub-commands that nvcc prints.

use super::decode::{self, Stop};
use super::word::{Mapped, Word};

/// More sub-commands of one run than this are not read.
const MOST_LINES: usize = 512;

/// More bytes of one run than this are not read.
const MOST_BYTES: usize = 4 << 20;

/// The `#$` lines of one run.
#[derive(Debug, Clone, Default)]
pub struct DryRun {
    top: Option<String>,
    commands: Vec<Vec<Word>>,
    bytes: usize,
}

/// What the sub-commands say.
#[derive(Debug, Clone)]
pub struct Rebuilt {
    /// The compiler, by convention.
    pub compiler: Word,
    /// The options and inputs, as they would be typed.
    pub arguments: Vec<Word>,
}

impl DryRun {
    /// Whether a line begins another run.
    pub fn begins(body: &[u8]) -> bool {
        body.starts_with(b"_NVVM_BRANCH_=")
    }

    /// Takes the text after `#$ `.
    pub fn line(&mut self, text: &Mapped, from: usize) {
        let body = &text.bytes()[from..];
        if let Some(top) = body.strip_prefix(b"TOP=") {
            self.top = Some(String::from_utf8_lossy(top.trim_ascii()).into_owned());
        } else if self.commands.len() < MOST_LINES && self.bytes < MOST_BYTES {
            self.bytes += body.len();
            let words = decode::shell(text, from, Stop::default()).words;
            let tool = words.first().map(|w| tool(&w.text));
            if matches!(tool, Some(Tool::Host | Tool::Cicc | Tool::Ptxas | Tool::Fatbinary)) {
                self.commands.push(words);
            }
        }
    }

    /// The source that was compiled.
    pub fn source(&self) -> Option<&str> {
        self.preprocess().and_then(|words| input_of(words)).map(|w| w.text.as_str())
    }

    /// Whether anything was compiled.
    pub fn is_empty(&self) -> bool {
        self.preprocess().is_none()
    }

    /// The command that would print these lines.
    pub fn rebuild(&self) -> Option<Rebuilt> {
        let words = self.preprocess()?;
        let at = words.first()?.at;
        let made = |text: String| Word { text, at, replaced: false, cut: false };
        let mut arguments = self.preprocessing(words);
        arguments.extend(self.architectures().into_iter().map(made));
        arguments.extend(self.device().into_iter().map(made));
        if let Some(link) = self.link() {
            if link.iter().any(|w| w.text == "-shared") {
                arguments.push(made("-shared".into()));
            }
            arguments.extend(output(link));
        }
        arguments.extend(input_of(words).cloned());
        let compiler = made("nvcc".into());
        Some(Rebuilt { compiler, arguments })
    }

    /// The preprocessing of device code; that of host code when there is no other.
    fn preprocess(&self) -> Option<&Vec<Word>> {
        let host = |words: &&Vec<Word>| tool(&words[0].text) == Tool::Host && words.iter().any(|w| w.text == "-E");
        let device = |words: &&Vec<Word>| words.iter().any(|w| w.text.starts_with("-D__CUDA_ARCH__="));
        self.commands.iter().filter(host).find(device).or_else(|| self.commands.iter().find(host))
    }

    /// The host compiler's last command with an output that is no temporary file.
    fn link(&self) -> Option<&Vec<Word>> {
        self.commands.iter().rfind(|words| {
            let host = tool(&words[0].text) == Tool::Host && !words.iter().any(|w| w.text == "-E");
            host && output(words).nth(1).is_some_and(|o| !o.text.contains("tmpxft_") && !o.text.contains("_dlink."))
        })
    }

    fn cicc(&self) -> impl Iterator<Item = &Vec<Word>> {
        self.commands.iter().filter(|words| tool(&words[0].text) == Tool::Cicc)
    }

    fn preprocessing(&self, words: &[Word]) -> Vec<Word> {
        let mut out = vec![];
        let mut host: Vec<&Word> = vec![];
        let input = input_of(words).map(|w| &w.text);
        let mut rest = words.iter().skip(1).peekable();
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            match text {
                "-E" | "-m64" => {}
                "-x" | "-o" => {
                    rest.next();
                }
                "-D" | "-U" | "-isystem" | "-include" | "-I" => {
                    let Some(value) = rest.next() else { break };
                    let own = value.text == "cuda_runtime.h"
                        || (matches!(text, "-isystem" | "-I") && self.of_toolkit(&value.text));
                    if !own {
                        // One argument: nvcc reads it the same, and the place is that of the option.
                        let joint = if matches!(text, "-D" | "-U" | "-I") { "" } else { "=" };
                        out.push(Word { text: format!("{text}{joint}{}", value.text), ..word.clone() });
                    }
                }
                _ if Some(&word.text) == input => {}
                _ if text.starts_with("-I") => {
                    if !self.of_toolkit(&text[2..]) {
                        out.push(word.clone());
                    }
                }
                _ if text.starts_with("-std=") || matches!(text, "-g" | "-w" | "-pg") => out.push(word.clone()),
                _ if text.starts_with("-O") => out.push(word.clone()),
                _ if text.starts_with("-D") && own_macro(&text[2..]) => {}
                _ => host.push(word),
            }
        }
        if let Some(first) = host.first() {
            let list: Vec<&str> = host.iter().map(|w| w.text.as_str()).collect();
            out.push(Word { text: format!("-Xcompiler={}", list.join(",")), ..(*first).clone() });
        }
        out
    }

    fn of_toolkit(&self, path: &str) -> bool {
        self.top.as_ref().is_some_and(|top| path.starts_with(top.as_str()))
            || path.ends_with("/bin/..//include")
            || path.ends_with("/bin/../include")
            || path.ends_with("/bin/..//include/cccl")
            || path.ends_with("/bin/../include/cccl")
    }

    /// One `-gencode` for each run of cicc, with the images that were made of it.
    fn architectures(&self) -> Vec<String> {
        let mut images: Vec<(String, Vec<String>)> = vec![];
        for words in &self.commands {
            match tool(&words[0].text) {
                Tool::Cicc => images.extend(after(words, "-arch").map(|arch| (arch.to_owned(), vec![]))),
                Tool::Ptxas => {
                    let sm = words.iter().find_map(|w| w.text.strip_prefix("-arch="));
                    if let (Some(sm), Some((_, codes))) = (sm, images.last_mut()) {
                        codes.push(sm.to_owned());
                    }
                }
                Tool::Fatbinary => {
                    for word in words {
                        let Some(rest) = word.text.strip_prefix("--image3=kind=ptx,sm=") else { continue };
                        let number = rest.split(',').next().unwrap_or(rest);
                        let arch = format!("compute_{number}");
                        for (_, codes) in images.iter_mut().filter(|(a, codes)| *a == arch && !codes.contains(&arch)) {
                            codes.push(arch.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        let mut out: Vec<String> = vec![];
        for (arch, codes) in images {
            let code = match codes.as_slice() {
                [] => arch.clone(),
                [one] => one.clone(),
                many => format!("[{}]", many.join(",")),
            };
            let text = format!("-gencode=arch={arch},code={code}");
            if !out.contains(&text) {
                out.push(text);
            }
        }
        out
    }

    /// Options that only show in the commands of the device compiler.
    fn device(&self) -> Vec<String> {
        let mut out = vec![];
        let Some(cicc) = self.cicc().next() else { return out };
        let has = |name: &str| cicc.iter().any(|w| w.text == name);
        if has("-fast-math") {
            out.push("-use_fast_math".to_owned());
        } else {
            for (shown, option) in
                [("-ftz=1", "-ftz=true"), ("-prec_div=0", "-prec-div=false"), ("-prec_sqrt=0", "-prec-sqrt=false")]
            {
                if has(shown) {
                    out.push(option.to_owned());
                }
            }
        }
        if has("-fmad=0") {
            out.push("-fmad=false".to_owned());
        }
        let simple = [
            ("--device-c", "-rdc=true"),
            ("-generate-line-info", "-lineinfo"),
            ("--debug_mode", "-G"),
            ("--relaxed_constexpr", "--expt-relaxed-constexpr"),
            ("--extended-lambda", "--extended-lambda"),
            ("-kernel-params-are-restrict", "-restrict"),
        ];
        out.extend(simple.iter().filter(|(shown, _)| has(shown)).map(|(_, option)| (*option).to_owned()));
        out.extend(after(cicc, "-maxreg").map(|n| format!("-maxrregcount={n}")));
        out.extend(after(cicc, "--diag_suppress").map(|n| format!("-diag-suppress={n}")));
        out.extend(
            cicc.iter().filter(|w| w.text.starts_with("--diag_suppress=")).map(|w| format!("-Xcudafe={}", w.text)),
        );
        if let Some(ptxas) = self.commands.iter().find(|words| tool(&words[0].text) == Tool::Ptxas) {
            let kept = |w: &&Word| {
                matches!(w.text.as_str(), "-v" | "--verbose" | "--warn-on-spills") || w.text.starts_with("-O")
            };
            out.extend(ptxas.iter().filter(kept).map(|w| format!("-Xptxas={}", w.text)));
        }
        out
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Host,
    Cicc,
    Ptxas,
    Fatbinary,
    Other,
}

fn tool(program: &str) -> Tool {
    match program.rsplit('/').next().unwrap_or(program) {
        "cicc" => Tool::Cicc,
        "ptxas" => Tool::Ptxas,
        "fatbinary" => Tool::Fatbinary,
        name if ["gcc", "g++", "cc", "c++", "clang", "clang++"]
            .iter()
            .any(|n| name.strip_prefix(n).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))) =>
        {
            Tool::Host
        }
        _ => Tool::Other,
    }
}

/// The word before `-o` of a preprocessing command.
fn input_of(words: &[Word]) -> Option<&Word> {
    let o = words.iter().rposition(|w| w.text == "-o")?;
    words.get(o.checked_sub(1)?)
}

/// `-o FILE`, as two words.
fn output(words: &[Word]) -> impl Iterator<Item = Word> + '_ {
    let o = words.iter().rposition(|w| w.text == "-o").unwrap_or(words.len());
    words[o..].iter().take(2).cloned()
}

fn after<'w>(words: &'w [Word], option: &str) -> Option<&'w str> {
    let at = words.iter().position(|w| w.text == option)?;
    words.get(at + 1).map(|w| w.text.as_str())
}

/// Macros that nvcc itself defines.
fn own_macro(define: &str) -> bool {
    const NAMES: [&str; 10] = [
        "__CUDA_ARCH",
        "__CUDACC_",
        "__NVCC_",
        "__CUDA_API_VER_",
        "CUDA_DOUBLE_MATH_FUNCTIONS",
        "CUDA_API_PER_THREAD_DEFAULT_STREAM",
        "__NV_EXTRA_",
        "__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__",
        "FATBINFILE",
        "REGISTERLINKBINARYFILE",
    ];
    NAMES.iter().any(|name| define.starts_with(name)) || define == "__CUDACC__" || define == "__NVCC__"
}

#[cfg(test)]
mod tests {
    use super::DryRun;
    use crate::read::log::word::{Mapped, Position};

    #[test]
    fn a_run_is_rebuilt_from_its_sub_commands() {
        let lines = [
            "TOP=/cuda/bin/..",
            "gcc -D__CUDA_ARCH__=900 -E -x c++ -D__CUDACC__ -D__NVCC__ -O3 -I\"a b\" \"-I/cuda/bin/..//include\" -D \"X=1\" -U \"Y\" -include \"cuda_runtime.h\" -m64 \"k.cu\" -o \"/tmp/tmpxft_1.ii\"",
            "\"$CICC_PATH/cicc\" --relaxed_constexpr -arch compute_90 -m64 -ftz=1 -prec_div=0 -prec_sqrt=1 -fmad=0 -generate-line-info -maxreg 32 \"/tmp/tmpxft_1.ii\"",
            "ptxas -arch=sm_90 -m64 -v -O1 -maxrregcount=32 \"/tmp/tmpxft_1.ptx\" -o \"/tmp/tmpxft_1.cubin\"",
            "fatbinary \"--image3=kind=elf,sm=90,file=x\" \"--image3=kind=ptx,sm=90,file=y\"",
            "gcc -c \"/tmp/tmpxft_2.cpp\" -o \"k.o\"",
        ];
        let mut run = DryRun::default();
        for (number, line) in lines.iter().enumerate() {
            run.line(&Mapped::of(line.as_bytes(), Position { line: number + 1, column: 1, offset: 0 }), 0);
        }
        let rebuilt = run.rebuild().unwrap();
        let words: Vec<&str> = rebuilt.arguments.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(
            words,
            [
                "-O3",
                "-Ia b",
                "-DX=1",
                "-UY",
                "-gencode=arch=compute_90,code=[sm_90,compute_90]",
                "-ftz=true",
                "-prec-div=false",
                "-fmad=false",
                "-lineinfo",
                "--expt-relaxed-constexpr",
                "-maxrregcount=32",
                "-Xptxas=-v",
                "-Xptxas=-O1",
                "-o",
                "k.o",
                "k.cu"
            ]
        );
    }
}
