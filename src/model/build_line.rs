//! From production's compile command to the arguments that build the reproducer: a pure function, so that `build` and the
//! generated `build.sh` cannot differ.
//!
//! Everything is relative to the folder `build` of the reproducer, where nvcc is run. `link` there holds links to the
//! toolkit's libraries under the names that a linker looks for, whatever the toolkit's layout; `stubs` a stub libcuda.

use super::{CompileCommand, GpuArch};

/// Arguments that krepro adds, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The arguments.
    pub arguments: Vec<String>,
    /// Why, in one sentence.
    pub why: &'static str,
}

/// An argument of the log that stands otherwise in the build, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// As it was.
    pub was: Vec<String>,
    /// What stands in its place; empty when dropped.
    pub now: Vec<String>,
    /// Why, in one sentence.
    pub why: String,
}

/// The arguments of the build, without source, output and anything of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildLine {
    /// Production's, in its order and spelling; the architecture as `replacements` say.
    pub production: Vec<String>,
    /// What is not as it was in the log.
    pub replacements: Vec<Replacement>,
    /// What krepro adds.
    pub additions: Vec<Addition>,
    /// The architecture that is built for, when the log names one.
    pub gpu: Option<GpuArch>,
    /// Whether production links the driver library; the last addition then holds `-lcuda`.
    pub libcuda: bool,
}

/// The folder with links to the toolkit's libraries, relative to `build`; also the run path, relative to the executable.
pub const LINK_FOLDER: &str = "link";
/// The folder of the stub libcuda, relative to `build`; never on the run path.
pub const STUB_FOLDER: &str = "stubs";

impl BuildLine {
    /// The line for `command`. Where it names several architectures it is narrowed to one: the best for `gpu` when that is
    /// given, else the newest.
    pub fn new(command: &CompileCommand, gpu: Option<GpuArch>) -> Self {
        let words: Vec<&str> = command.arguments.iter().map(|a| a.text.as_str()).collect();
        let mut reader = Reader { folder: command.directory.clone(), ..Reader::default() };
        let mut rest = words.as_slice();
        while !rest.is_empty() {
            let taken = reader.take(rest);
            rest = &rest[taken..];
        }
        let asked = command.changes.iter().flat_map(|c| &c.was).map(String::as_str).chain(words.iter().copied());
        let libcuda = asks_for_libcuda(asked);
        reader.finish(gpu, libcuda)
    }

    /// All arguments but source and output, in the order in which nvcc is given them.
    pub fn arguments(&self) -> Vec<String> {
        self.production.iter().chain(self.additions.iter().flat_map(|a| &a.arguments)).cloned().collect()
    }

    /// The host compiler that production names.
    pub fn host_compiler(&self) -> Option<&str> {
        let mut words = self.production.iter();
        while let Some(word) = words.next() {
            let (name, joined) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            if ["-ccbin", "--compiler-bindir"].contains(&name) {
                return joined.or_else(|| words.next().map(String::as_str));
            }
        }
        None
    }

    /// Source and output for a reproducer with this stem.
    pub fn files(name: &str) -> [String; 3] {
        [format!("../{name}.cu"), "-o".to_owned(), name.to_owned()]
    }
}

/// One option of the log with the architectures that it names.
struct ArchOption {
    /// Index in the kept arguments where the replacement goes.
    place: usize,
    was: Vec<String>,
    value: String,
}

#[derive(Default)]
struct Reader {
    /// Where production ran; its relative include folders begin there.
    folder: Option<String>,
    kept: Vec<String>,
    arch: Vec<ArchOption>,
    replacements: Vec<Replacement>,
    line_info: bool,
    debug: bool,
    verbose: bool,
}

/// What the generated host code is written in, and the standards that do not have it.
const HARNESS_STANDARD: &str = "c++17";
const OLDER: [&str; 3] = ["c++03", "c++11", "c++14"];

const INCLUDE: [&str; 4] = ["-isystem", "--include-path", "--system-include", "-I"];
const ARCH: [&str; 6] = ["-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code"];

impl Reader {
    /// Takes one option from the front and says how many words it was.
    fn take(&mut self, words: &[&str]) -> usize {
        let (name, joined) = words[0].split_once('=').map_or((words[0], None), |(name, value)| (name, Some(value)));
        let count = if joined.is_none() && words.len() > 1 { 2 } else { 1 };
        let was = || words[..count].iter().map(|w| (*w).to_owned()).collect::<Vec<String>>();
        if ARCH.contains(&name) {
            let value = joined.or_else(|| words.get(1).copied()).unwrap_or_default().to_owned();
            self.arch.push(ArchOption { place: self.kept.len(), was: was(), value });
            return count;
        }
        if ["-cudart", "--cudart"].contains(&name) {
            let why = "krepro links the run-time library shared, so that the CPU backend can take its place".to_owned();
            self.replacements.push(Replacement { was: was(), now: vec![], why });
            return count;
        }
        if ["-std", "--std"].contains(&name)
            && let Some(old) = joined.or_else(|| words.get(1).copied()).filter(|value| OLDER.contains(value))
        {
            let now = vec![format!("-std={HARNESS_STANDARD}")];
            let why = format!(
                "the harness around the kernel is {HARNESS_STANDARD}; what the header decides by __cplusplus may differ from {old}"
            );
            self.kept.extend(now.iter().cloned());
            self.replacements.push(Replacement { was: was(), now, why });
            return count;
        }
        if let Some(anchored) = self.anchored(words) {
            let count = anchored.len();
            self.kept.extend(anchored.iter().cloned());
            let why = "relative to the folder that production was compiled in".to_owned();
            let was = words[..count].iter().map(|w| (*w).to_owned()).collect();
            self.replacements.push(Replacement { was, now: anchored, why });
            return count;
        }
        self.line_info |= ["-lineinfo", "--generate-line-info", "-generate-line-info"].contains(&words[0]);
        let verbose = ["-Xptxas", "--ptxas-options"].contains(&name) && joined.or(words.get(1).copied()) == Some("-v");
        self.verbose |= verbose || ["-Xptxas=-v", "--resource-usage", "-res-usage"].contains(&words[0]);
        self.debug |= ["-G", "--device-debug"].contains(&words[0]);
        self.kept.push(words[0].to_owned());
        1
    }

    /// An include option whose relative folder now begins where production ran.
    fn anchored(&self, words: &[&str]) -> Option<Vec<String>> {
        let folder = self.folder.as_ref()?;
        let absolute = |path: &str| {
            (!path.is_empty() && !path.starts_with('/')).then(|| format!("{}/{path}", folder.trim_end_matches('/')))
        };
        let option = INCLUDE.iter().find(|option| words[0].starts_with(**option))?;
        let rest = &words[0][option.len()..];
        if rest.is_empty() {
            return Some(vec![(*option).to_owned(), absolute(words.get(1)?)?]);
        }
        // Only `-I` takes its value without a separator.
        let (mark, path) = rest.strip_prefix('=').map_or(("", rest), |path| ("=", path));
        if mark.is_empty() && *option != "-I" { None } else { Some(vec![format!("{option}{mark}{}", absolute(path)?)]) }
    }

    fn finish(mut self, gpu: Option<GpuArch>, libcuda: bool) -> BuildLine {
        let named: Vec<GpuArch> = self.arch.iter().flat_map(|option| architectures(&option.value)).collect();
        let lto = self.arch.iter().any(|option| option.value.contains("lto_"));
        let chosen = choose(&named, gpu);
        if let Some(arch) = chosen
            && !lto
        {
            self.narrow(arch, &named);
        } else {
            for option in self.arch.drain(..).rev() {
                self.kept.splice(option.place..option.place, option.was);
            }
        }
        let mut additions = vec![];
        if !self.line_info && !self.debug {
            let why = "a waiting or faulting warp is shown with its source line";
            additions.push(Addition { arguments: vec!["-lineinfo".to_owned()], why });
        }
        if !self.verbose {
            let why = "registers and spills of the kernel are told";
            additions.push(Addition { arguments: vec!["-Xptxas=-v".to_owned()], why });
        }
        additions.push(Addition {
            arguments: ["-cudart", "shared", &format!("-L{LINK_FOLDER}")].map(str::to_owned).to_vec(),
            why: "the CPU backend can take the place of the run-time library",
        });
        let run_path = format!("--enable-new-dtags,-rpath,$ORIGIN/{LINK_FOLDER},--as-needed");
        additions.push(Addition {
            arguments: vec!["-Xlinker".to_owned(), run_path],
            why: "the executable starts without LD_LIBRARY_PATH, which still comes first",
        });
        additions.push(Addition {
            arguments: vec!["-lpthread".to_owned()],
            why: "the host reference is threaded, and before glibc 2.34 threads are a library of their own",
        });
        if libcuda {
            additions.push(Addition {
                arguments: vec![format!("-L{STUB_FOLDER}"), "-lcuda".to_owned()],
                why: "production links the driver library",
            });
        }
        let (production, replacements) = (self.kept, self.replacements);
        BuildLine { production, replacements, additions, gpu: chosen, libcuda }
    }

    /// Puts one `-gencode` with code and PTX where the first option of the architecture stood.
    fn narrow(&mut self, arch: GpuArch, named: &[GpuArch]) {
        let now = format!("-gencode=arch={},code=[{arch},{}]", arch.compute(), arch.compute());
        let options = std::mem::take(&mut self.arch);
        let was: Vec<String> = options.iter().flat_map(|option| option.was.clone()).collect();
        let place = options.first().map_or(0, |option| option.place);
        self.kept.insert(place, now.clone());
        if was != [now.clone()] {
            let others = named.iter().any(|other| *other != arch);
            let narrowed = if others { format!("narrowed to {arch}; ") } else { String::new() };
            let why = format!("{narrowed}the PTX goes along for the CPU backend and for reading awaited bytes");
            self.replacements.push(Replacement { was, now: vec![now], why });
        }
    }
}

/// The architectures that the value of one option makes code for: those of `code=`, else those of `arch=`.
fn architectures(value: &str) -> Vec<GpuArch> {
    let code =
        value.find("code=").map(|start| &value[start + 5..]).map(|tail| tail.split(",arch=").next().unwrap_or(tail));
    let list = code.unwrap_or_else(|| value.strip_prefix("arch=").unwrap_or(value));
    list.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter_map(|name| name.parse().ok()).collect()
}

/// The best architecture of the log for a device: one that runs on it, the most particular; else the newest of all.
fn choose(named: &[GpuArch], gpu: Option<GpuArch>) -> Option<GpuArch> {
    let rank = |arch: &GpuArch| (arch.number, arch.suffix.map_or(0, |s| if s == 'a' { 2 } else { 1 }));
    let fit = gpu.and_then(|gpu| named.iter().copied().filter(|arch| arch.runs_on(gpu)).max_by_key(rank));
    // A log without an architecture of its own (`-arch=native`) is built for the device, when that is known.
    fit.or_else(|| named.iter().copied().max_by_key(rank)).or(gpu)
}

fn asks_for_libcuda<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut after_option = false;
    for word in words {
        let value = word.strip_prefix("--library=").or_else(|| word.strip_prefix("-l")).unwrap_or_default();
        if value.trim_start_matches('=') == "cuda" || (after_option && word == "cuda") {
            return true;
        }
        after_option = ["-l", "--library"].contains(&word);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::BuildLine;
    use crate::model::{ArgumentChange, CompileCommand, CompilerArgument, GpuArch};
    use crate::source::Place;

    fn command(arguments: &[&str]) -> CompileCommand {
        let at = Place { file: "log".into(), line: 1, column: 1 };
        let arguments: Vec<CompilerArgument> =
            arguments.iter().map(|a| CompilerArgument { text: (*a).into(), at: at.clone() }).collect();
        let value = serde_json::json!({
            "compiler": "nvcc", "arguments": arguments, "changes": [], "sources": [], "at": at, "warnings": [],
        });
        serde_json::from_value(value).unwrap()
    }

    fn line(arguments: &[&str], gpu: Option<&str>) -> BuildLine {
        BuildLine::new(&command(arguments), gpu.map(|text| text.parse::<GpuArch>().unwrap()))
    }

    #[test]
    fn everything_but_the_architecture_is_kept_verbatim_and_in_order() {
        let words = ["-std=c++17", "-D", "A=B<1,2>", "-DNDEBUG", "-I/a b", "-I", "/c", "-Xptxas", "-v", "-rdc=true"];
        let built = line(&words, None);
        assert_eq!(built.production, words);
        assert_eq!(built.gpu, None);
        assert!(built.replacements.is_empty());
        let added = ["-lineinfo", "-cudart", "shared", "-Llink"];
        assert_eq!(&built.arguments()[words.len()..words.len() + 4], added);
        assert!(line(&["-w"], None).arguments().contains(&"-Xptxas=-v".to_owned()));
    }

    #[test]
    fn every_spelling_of_one_architecture_becomes_code_and_ptx() {
        let expected = "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]";
        let spellings: [&[&str]; 6] = [
            &["-arch=sm_90a"],
            &["-arch", "sm_90a"],
            &["-gencode", "arch=compute_90a,code=sm_90a"],
            &["--generate-code=code=sm_90a,arch=compute_90a"],
            &["-gencode=arch=compute_90a,code=\"sm_90a,compute_90a\""],
            &["--gpu-architecture=compute_90a", "--gpu-code", "sm_90a"],
        ];
        for spelling in spellings {
            let built = line(&[&["-O3"], spelling, &["-w"]].concat(), None);
            assert_eq!(built.production, ["-O3", expected, "-w"], "{spelling:?}");
            assert_eq!(built.replacements[0].was, spelling);
        }
        assert!(line(&[expected], None).replacements.is_empty());
    }

    #[test]
    fn several_architectures_are_narrowed_to_the_one_of_the_gpu() {
        let words = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a", "-arch=sm_100f"];
        assert_eq!(line(&words, Some("sm_90")).gpu.unwrap().to_string(), "sm_90a");
        assert_eq!(line(&words, Some("sm_86")).gpu.unwrap().to_string(), "sm_80");
        assert_eq!(line(&words, Some("sm_103")).gpu.unwrap().to_string(), "sm_100f");
        let built = line(&words, None);
        assert_eq!(built.gpu.unwrap().to_string(), "sm_100f");
        assert!(built.replacements[0].why.starts_with("narrowed to sm_100f"), "{built:?}");
    }

    #[test]
    fn native_is_the_gpu_when_it_is_known_and_stays_when_not() {
        assert_eq!(line(&["-arch=native"], Some("sm_90a")).gpu.unwrap().to_string(), "sm_90a");
        assert_eq!(line(&["-O2", "-arch", "native", "-w"], None).production, ["-O2", "-arch", "native", "-w"]);
    }

    #[test]
    fn relative_include_folders_begin_where_production_ran() {
        let mut ran = command(&["-Isrc", "-I", "inc", "-isystem=third", "-I/abs", "-include", "pre.h", "-isystem"]);
        ran.directory = Some("/p/".into());
        let built = BuildLine::new(&ran, None);
        let expected = ["-I/p/src", "-I", "/p/inc", "-isystem=/p/third", "-I/abs", "-include", "pre.h", "-isystem"];
        assert_eq!(built.production, expected);
        assert_eq!(built.replacements.len(), 3);
    }

    #[test]
    fn the_host_compiler_of_the_log_is_known() {
        assert_eq!(line(&["-ccbin", "g++-12", "-w"], None).host_compiler(), Some("g++-12"));
        assert_eq!(line(&["--compiler-bindir=/b"], None).host_compiler(), Some("/b"));
        assert_eq!(line(&["-w"], None).host_compiler(), None);
    }

    #[test]
    fn a_standard_that_the_harness_has_outgrown_is_raised_and_said() {
        for words in
            [&["-O3", "-std=c++14", "-w"][..], &["-O3", "--std", "c++11", "-w"], &["-O3", "-std", "c++03", "-w"]]
        {
            let built = line(words, None);
            assert_eq!(built.production, ["-O3", "-std=c++17", "-w"]);
            assert_eq!(built.replacements[0].was, words[1..words.len() - 1]);
            assert!(built.replacements[0].why.contains("the harness"), "{built:?}");
        }
        assert!(line(&["-std=c++20"], None).replacements.is_empty());
    }

    #[test]
    fn link_time_optimisation_keeps_its_own_code() {
        let words = ["-dlto", "-gencode=arch=compute_90a,code=lto_90a"];
        assert_eq!(line(&words, None).production, words);
    }

    #[test]
    fn line_info_beside_device_debug_would_be_fatal() {
        for words in [["-G"], ["-lineinfo"]] {
            assert!(!line(&words, None).additions.iter().any(|a| a.arguments == ["-lineinfo"]), "{words:?}");
        }
    }

    #[test]
    fn the_run_time_library_of_the_log_is_replaced_not_added_to() {
        let built = line(&["-cudart", "static", "--cudart=none", "-w"], None);
        assert_eq!(built.production, ["-w"]);
        assert_eq!(built.replacements.len(), 2);
    }

    #[test]
    fn the_driver_library_is_linked_when_the_log_asked_for_it() {
        let mut dropped = command(&[]);
        let was = vec!["-l".to_owned(), "cuda".to_owned()];
        let value = serde_json::json!({ "was": was, "now": [], "why": "krepro links itself", "own": true });
        dropped.changes.push(serde_json::from_value::<ArgumentChange>(value).unwrap());
        assert!(BuildLine::new(&dropped, None).libcuda);
        assert!(line(&["-lcuda"], None).libcuda);
        assert!(!line(&["-lcudart", "-lcublas"], None).libcuda);
    }
}
