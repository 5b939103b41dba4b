//! A build in two halves of the same file: nvcc makes the device image with production's flags, the host compiler makes the harness,
//! at the same time. Production's headers then cost one pass in place of three, and its flags stay away from the harness.

use std::io;

use camino::Utf8PathBuf;

use super::{Job, depends, instance, kernels};
use crate::model::{LINK_FOLDER, LaunchKind, Reproducer, STUB_FOLDER};
use crate::sys::{Finished, Request, System};
use crate::toolchain::Toolchain;

/// A kernel of the image, by what is known of it before it is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The symbol of a wrapper; a template's symbol is found by name and arguments.
    wrapper: Option<String>,
    kernel: String,
    arguments: Vec<String>,
}

impl Wanted {
    /// The kernel that `reproducer` launches, whose wrapper, if it has one, is named `wrapper`; `None` where production's own host code
    /// launches it.
    pub fn of(reproducer: &Reproducer, wrapper: &str) -> Option<Self> {
        // The host half would have to know the kernels of the launches before, too.
        if !reproducer.prologue.is_empty() {
            return None;
        }
        let wrapper = match reproducer.launch.kind.value {
            LaunchKind::Wrapped => Some(wrapper.to_owned()),
            LaunchKind::Global => None,
            LaunchKind::Host | LaunchKind::Struct => return None,
        };
        let instantiation = &reproducer.instantiation;
        Some(Wanted {
            wrapper,
            kernel: instantiation.kernel.value.trim_start_matches("::").to_owned(),
            arguments: instantiation.template_arguments.iter().map(|piece| piece.value.clone()).collect(),
        })
    }

    /// The one symbol that it can be.
    fn symbol<'k>(&self, all: &'k [kernels::Kernel]) -> Option<&'k str> {
        let fits = |kernel: &&kernels::Kernel| match &self.wrapper {
            Some(wrapper) => kernel.symbol == *wrapper,
            None => {
                let (name, built) = instance::parts(&instance::demangle(&kernel.symbol));
                let same = name == self.kernel || name.ends_with(&format!("::{}", self.kernel));
                same && instance::compare(&self.arguments, &built, &[])
                    .iter()
                    .all(|argument| argument.same != Some(false))
            }
        };
        let mut fitting = all.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only.symbol.as_str()),
            _ => None,
        }
    }
}

/// What became of both halves.
#[derive(Debug)]
pub struct Joined {
    /// What the compilers printed.
    pub output: String,
    /// Every file that was read.
    pub files: Vec<Utf8PathBuf>,
}

/// Production's options that no image of its own can be made with, or that another half would have to share.
const WHOLE: [&str; 8] =
    ["-rdc", "--relocatable-device-code", "-dc", "--device-c", "-dlto", "-G", "--device-debug", "-dw"];

/// The commands of both halves, or nothing where the flags do not allow them.
pub fn commands(job: &Job<'_>, toolchain: &Toolchain) -> Option<[Vec<String>; 2]> {
    let whole = |word: &String| WHOLE.iter().any(|option| word == option || word.starts_with(&format!("{option}=")));
    let include = toolchain.layout.include.as_ref()?;
    if job.line.production.iter().any(|word| whole(word) || word.contains("lto_")) {
        return None;
    }
    let name = job.name;
    let mut device: Vec<String> = job.launcher.map(str::to_owned).into_iter().collect();
    device.push(toolchain.nvcc.to_string());
    if job.line.host_compiler().is_none() {
        device.push(format!("-ccbin={}", toolchain.host.path));
    }
    device.extend(job.line.production.iter().cloned());
    let told = job.line.additions.iter().flat_map(|addition| &addition.arguments);
    device.extend(told.filter(|word| ["-lineinfo", "-Xptxas=-v"].contains(&word.as_str())).cloned());
    let end = ["-DKREPRO_DEVICE_HALF", "-fatbin", "-MD", "-MF"].map(str::to_owned);
    device.extend(end);
    device.extend([format!("{name}.device.d"), format!("../{name}.cu"), "-o".to_owned(), format!("{name}.fatbin")]);
    let mut host = vec![toolchain.host.path.to_string()];
    host.extend(["-std=c++17", "-DKREPRO_HOST_HALF", "-pthread", "-c", "-MD", "-MF"].map(str::to_owned));
    host.extend([format!("{name}.host.d"), format!("-I{include}"), "-x".into(), "c++".into(), format!("../{name}.cu")]);
    host.extend(["-o".to_owned(), format!("{name}.host.o")]);
    Some([device, host])
}

/// Compiles both halves at the same time, and joins them. `None` when that does not work: the whole file is then built by nvcc, whose
/// word counts.
///
/// # Errors
/// File errors; a compiler that cannot be started.
pub fn build(
    system: &dyn System,
    toolchain: &Toolchain,
    job: &Job<'_>,
    wanted: &[Wanted],
    commands: &[Vec<String>; 2],
) -> io::Result<Option<Joined>> {
    let folder = job.folder.join("build");
    let run = |words: &[String]| {
        system.run(&Request::new(words[0].clone()).arguments(words[1..].iter().cloned()).folder(&folder))
    };
    let (device, host) = std::thread::scope(|scope| {
        let host = scope.spawn(|| run(&commands[1]));
        let device = run(&commands[0]);
        (device, host.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the host half ended early"))))
    });
    let (device, host) = (device?, host?);
    if !device.success() || !host.success() {
        return Ok(None);
    }
    let image = system.read(&folder.join(format!("{}.fatbin", job.name)))?;
    let all = kernels::of(&image);
    let Some(symbols) = wanted.iter().map(|one| one.symbol(&all)).collect::<Option<Vec<&str>>>() else {
        return Ok(None);
    };
    system.write(&folder.join(format!("{}.image.cpp", job.name)), stub(job.name, &symbols).as_bytes())?;
    let linked = run(&link(job, toolchain))?;
    if !linked.success() {
        return Ok(None);
    }
    let mut files: Vec<Utf8PathBuf> = vec![];
    for half in ["device", "host"] {
        let listed = system.read(&folder.join(format!("{}.{half}.d", job.name)))?;
        files.extend(depends::parse(&String::from_utf8_lossy(&listed)));
    }
    files.sort();
    files.dedup();
    let said = |finished: &Finished| finished.all_text();
    Ok(Some(Joined { output: said(&device) + &said(&host) + &said(&linked), files }))
}

/// The image under a name, in the section that tools look for it in, and the symbols of its kernels in the order of the cases.
fn stub(name: &str, symbols: &[&str]) -> String {
    let listed: Vec<String> = symbols.iter().map(|symbol| format!("\"{symbol}\"")).collect();
    format!(
        "// The device half of {name}.cu.\n\
         extern \"C\" const char* const krepro_symbols[];\n\
         extern \"C\" const char* const krepro_symbols[] = {{{}}};\n\
         asm(\".section .nv_fatbin, \\\"a\\\"\\n\"\n    \".balign 8\\n\"\n    \".globl krepro_image\\n\"\n    \"krepro_image:\\n\"\n    \
         \".incbin \\\"{name}.fatbin\\\"\\n\"\n    \".previous\\n\");\n",
        listed.join(", ")
    )
}

fn link(job: &Job<'_>, toolchain: &Toolchain) -> Vec<String> {
    let name = job.name;
    let mut words = vec![toolchain.host.path.to_string(), format!("{name}.host.o"), format!("{name}.image.cpp")];
    words.extend(["-o".to_owned(), name.to_owned(), format!("-L{LINK_FOLDER}"), "-lcudart".into(), "-lpthread".into()]);
    words.push(format!("-Wl,--enable-new-dtags,-rpath,$ORIGIN/{LINK_FOLDER},--as-needed"));
    if job.line.libcuda {
        words.extend([format!("-L{STUB_FOLDER}"), "-lcuda".to_owned()]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Wanted, stub};
    use crate::build::kernels::Kernel;

    fn kernel(symbol: &str) -> Kernel {
        Kernel { symbol: symbol.into(), text: vec![], registers: None }
    }

    #[test]
    fn a_kernel_is_found_by_its_arguments_and_only_when_it_is_the_only_one() {
        let wanted = |argument: &str| Wanted {
            wrapper: None,
            kernel: "foo".into(),
            arguments: vec!["__nv_bfloat16".into(), argument.into(), "true".into()],
        };
        let all = [
            kernel("_ZN6kernel3fooI13__nv_bfloat16Li64ELb1EEEvPT_PKS2_"),
            kernel("_ZN6kernel3fooI13__nv_bfloat16Li8ELb1EEEvPT_PKS2_"),
        ];
        assert_eq!(wanted("8").symbol(&all), Some(all[1].symbol.as_str()));
        assert_eq!(wanted("16").symbol(&all), None);
        assert_eq!(wanted("kSize").symbol(&all), None, "a name that only the compiler knows fits both");
        let wrapper = Wanted { wrapper: Some("kernel_1".into()), kernel: String::new(), arguments: vec![] };
        assert_eq!(wrapper.symbol(&[kernel("kernel_0"), kernel("kernel_1")]), Some("kernel_1"));
    }

    #[test]
    fn the_stub_is_one_section_and_one_table() {
        let text = stub("x", &["a", "b"]);
        assert!(
            text.contains("krepro_symbols[] = {\"a\", \"b\"};") && text.contains(".incbin \\\"x.fatbin\\\""),
            "{text}"
        );
    }
}
