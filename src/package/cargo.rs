//! A Cargo package whose test runs the reproducer.

use quote::quote;

use super::{File, Subject};

/// `Cargo.toml`, `build.rs`, `src/lib.rs` and `tests/NAME.rs`; the `.cu` stands beside them.
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
    let banner = "// Compiles the reproducer with production's flags, in production's order; made by krepro.\n\n";
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
/// flags and its `-G` of a debug profile would make another kernel.
fn build_script(subject: &Subject<'_>) -> Result<String, syn::Error> {
    let file = format!("{}.cu", subject.name);
    let library = subject.name;
    let own = ["-lineinfo"];
    let added = subject.line.additions.iter().flat_map(|a| &a.arguments).filter(|a| own.contains(&a.as_str()));
    let flags: Vec<&String> = subject.line.production.iter().chain(added).collect();
    let driver = if subject.line.libcuda {
        quote! { println!("cargo:rustc-link-lib=cuda"); }
    } else {
        quote! {}
    };
    pretty(quote! {
        use std::env;
        use std::path::Path;

        fn main() {
            println!("cargo:rerun-if-changed={}", #file);
            for name in ["NVCC", "CUDA_HOME"] {
                println!("cargo:rerun-if-env-changed={name}");
            }
            if env::var_os("NVCC").is_none()
                && let Some(home) = env::var_os("CUDA_HOME")
            {
                let nvcc = Path::new(&home).join("bin/nvcc");
                // A build script has one thread.
                unsafe { env::set_var("NVCC", nvcc) };
            }
            let mut build = cc::Build::new();
            build.cuda(true).cudart("shared").no_default_flags(true).warnings(false).debug(false).file(#file);
            for flag in [#(#flags),*] {
                build.flag(flag);
            }
            build.flag("-Dmain=krepro_main").compile(#library);
            // cc looks for libraries where an installed toolkit has them; a toolkit from PyPI has them in lib.
            let root = env::var("CUDA_HOME").ok().or_else(|| {
                let nvcc = env::var("NVCC").ok()?;
                Some(Path::new(&nvcc).parent()?.parent()?.to_str()?.to_owned())
            });
            if let Some(root) = root {
                for folder in ["lib64", "lib", "lib64/stubs", "lib/stubs"] {
                    println!("cargo:rustc-link-search=native={root}/{folder}");
                }
                println!("cargo:rustc-link-arg=-Wl,-rpath,{root}/lib64:{root}/lib");
            }
            #driver
        }
    })
}

fn library() -> Result<String, syn::Error> {
    pretty(quote! {
        use std::ffi::{CString, c_char, c_int};

        unsafe extern "C" {
            // `int main(int, char**)` of the reproducer, under the name that the build gives it.
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
            // The words live until the call returns, and the reproducer does not write to them.
            unsafe { krepro_main(count, pointers.as_mut_ptr()) }
        }
    })
}

fn test(subject: &Subject<'_>) -> Result<String, syn::Error> {
    let package = syn::parse_str::<syn::Ident>(&subject.name.to_lowercase())?;
    let text = pretty(quote! {
        #[test]
        fn the_kernel_is_right() {
            match #package::run(&[]) {
                125 => eprintln!("SKIPPED: no fit GPU"),
                code => assert_eq!(code, 0, "the reproducer's table says which rung failed"),
            }
        }
    })?;
    Ok(format!("//! Fails while the kernel is wrong; skipped without a fit GPU.\n\n{text}"))
}
