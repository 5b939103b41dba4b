//! A Cargo package whose test runs the reproducer.

use quote::quote;

use super::{File, Subject, options};

/// `Cargo.toml`, `build.rs`, `src/lib.rs` and `tests/NAME.rs`; the `.cu` and the reproducer's record stand beside them.
///
/// # Errors
/// A generated file that is no Rust (a defect of krepro).
pub fn cargo(subject: &Subject<'_>) -> Result<Vec<File>, syn::Error> {
    let name = subject.name;
    let manifest = format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [build-dependencies]\n# Runs nvcc.\ncc = \"1\"\n",
        name.replace('_', "-").to_lowercase()
    );
    let about = format!("//! A kernel reproducer, kept as a regression test: {name}.cu.\n\n");
    let banner = "//! Compiles the reproducer with production's flags, in production's order; made by krepro.\n\n";
    Ok(vec![
        ("Cargo.toml".to_owned(), manifest),
        ("build.rs".to_owned(), banner.to_owned() + &build_script(subject)?),
        ("src/lib.rs".to_owned(), about + &library()?),
        (format!("tests/{name}.rs"), test(subject)?),
    ])
}

fn pretty(tokens: proc_macro2::TokenStream) -> Result<String, syn::Error> {
    Ok(prettyplease::unparse(&syn::parse2(tokens)?))
}

/// Every flag goes through `.flag`, since cc would put `-I` first, `-D` last, and `-std` to the host compiler alone; its own host
/// flags and its `-G` of a debug profile would make another kernel. cc gives the same flags to the device link.
fn build_script(subject: &Subject<'_>) -> Result<String, syn::Error> {
    let file = format!("{}.cu", subject.name);
    let library = subject.name;
    let flags: Vec<&str> = options(subject.line).concat();
    let own_compiler = subject.line.host_compiler().is_none();
    let driver = if subject.line.libcuda {
        quote! { println!("cargo:rustc-link-lib=cuda"); }
    } else {
        quote! {}
    };
    pretty(quote! {
        use std::path::{Path, PathBuf};
        use std::{env, fs};

        fn main() {
            println!("cargo:rerun-if-changed={}", #file);
            for name in ["NVCC", "CUDA_HOME"] {
                println!("cargo:rerun-if-env-changed={name}");
            }
            if env::var_os("NVCC").is_none()
                && let Some(home) = env::var_os("CUDA_HOME")
            {
                let nvcc = Path::new(&home).join("bin/nvcc");
                unsafe { env::set_var("NVCC", nvcc) };
            }
            let mut build = cc::Build::new();
            build
                .cuda(true)
                .cudart("shared")
                .ccbin(#own_compiler)
                .no_default_flags(true)
                .warnings(false)
                .debug(false)
                .file(#file);
            for flag in [#(#flags),*] {
                build.flag(flag);
            }
            build.flag("-Dmain=krepro_main").compile(#library);
            if let Some(root) = toolkit() {
                link(&root);
            }
            #driver
        }

        /// The toolkit's folder.
        fn toolkit() -> Option<PathBuf> {
            if let Some(home) = env::var_os("CUDA_HOME") {
                return Some(home.into());
            }
            let nvcc = PathBuf::from(env::var_os("NVCC")?);
            Some(nvcc.canonicalize().ok()?.parent()?.parent()?.to_owned())
        }

        /// cc looks for libraries where an installed toolkit has them. One from PyPI has them in `lib`, and the run-time library only
        /// under the name with its version.
        fn link(root: &Path) {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
            for folder in [root.join("lib64"), root.join("lib")] {
                println!("cargo:rustc-link-search=native={}", folder.display());
                println!("cargo:rustc-link-search=native={}/stubs", folder.display());
                println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
                let versioned = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
                let library = versioned.filter(|path| path.to_string_lossy().contains("/libcudart.so.")).min();
                let plain = out.join("libcudart.so");
                if let Some(library) = library
                    && !folder.join("libcudart.so").exists()
                    && !plain.exists()
                {
                    std::os::unix::fs::symlink(library, plain).expect("a link in OUT_DIR");
                }
            }
            println!("cargo:rustc-link-search=native={}", out.display());
        }
    })
}

fn library() -> Result<String, syn::Error> {
    pretty(quote! {
        use std::ffi::{CString, c_char, c_int};

        unsafe extern "C" {
            /// `int main(int, char**)` of the reproducer, under the name that the build gives it.
            #[link_name = "_Z11krepro_mainiPPc"]
            fn krepro_main(count: c_int, words: *mut *mut c_char) -> c_int;
        }

        /// Runs the reproducer with these options, and gives back its exit code: 0 every rung passed, 1 a rung failed, 125 no fit
        /// GPU. A launch that hangs ends the process with 4.
        pub fn run(options: &[&str]) -> i32 {
            let words = std::iter::once("reproducer").chain(options.iter().copied());
            let words: Vec<CString> = words.map(|word| CString::new(word).expect("an option holds no NUL")).collect();
            let mut pointers: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
            pointers.push(std::ptr::null_mut());
            let count = c_int::try_from(words.len()).expect("few options");
            unsafe { krepro_main(count, pointers.as_mut_ptr()) }
        }
    })
}

/// The package is a reproducer's folder too, so a krepro that is at hand runs it where there is no GPU.
fn test(subject: &Subject<'_>) -> Result<String, syn::Error> {
    let package = syn::parse_str::<syn::Ident>(&subject.name.to_lowercase())?;
    let text = pretty(quote! {
        use std::io::Write;
        use std::process::Command;

        #[test]
        fn the_kernel_is_right() {
            let code = #package::run(&[]);
            if code != 125 {
                assert_eq!(code, 0, "the reproducer's table says which rung failed");
                return;
            }
            let krepro = std::env::var("KREPRO").unwrap_or_else(|_| "krepro".to_owned());
            let ran = Command::new(krepro).args(["run", env!("CARGO_MANIFEST_DIR"), "--backend", "cpu"]).status();
            let said = match ran.map(|status| status.code()) {
                Err(_) => "SKIPPED: no fit GPU, and no krepro (on PATH, or $KREPRO) to run it on the CPU",
                Ok(Some(125)) => "SKIPPED: no fit GPU, and krepro cannot run it on the CPU here",
                Ok(code) => {
                    assert_eq!(code, Some(0), "no fit GPU; krepro's answer on the CPU is above");
                    "no fit GPU; right on the CPU backend of krepro (emulated)"
                }
            };
            writeln!(std::io::stderr(), "{said}").expect("standard error");
        }
    })?;
    let about = "//! Fails while the kernel is wrong. Without a fit GPU, krepro's CPU backend runs it where krepro is at hand; else it is\n\
        //! skipped, and says so past the test harness, which keeps back what a passing test prints.\n\n";
    Ok(format!("{about}{text}"))
}
