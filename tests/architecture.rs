//! The rules of CONTRIBUTING that a parser can check: layers, constructors, sizes, documentation, marks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, File, ItemUse, UseTree, Visibility};

/// Folders that are one step of the way, and so never import one another.
const STAGES: [&str; 8] = ["read", "check", "render", "build", "run", "judge", "report", "explain"];
/// Stages that are text or model in, text or model out.
const PURE: [&str; 6] = ["read", "check", "render", "judge", "report", "explain"];
/// What every folder may use, beside its own files.
const SHARED: [&str; 5] = ["model", "source", "diag", "template", "exit"];
/// Folders that only shared folders may use: they hold no order of steps.
const FOUNDATION: [&str; 4] = ["model", "source", "diag", "template"];

struct SourceFile {
    path: PathBuf,
    /// Module path from the crate's root, for example `["read", "log", "scan"]`.
    module: Vec<String>,
    text: String,
    syntax: File,
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != "target" {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out.sort();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<SourceFile> {
    let base = root().join("src");
    let mut paths = vec![];
    rust_files(&base, &mut paths);
    let parse = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let syntax = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let relative = path.strip_prefix(&base).unwrap().with_extension("");
        let mut module: Vec<String> = relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        SourceFile { path, module, text, syntax }
    };
    paths.into_iter().map(parse).collect()
}

/// Every path that a file names, from the crate's root or from another crate, test modules included.
#[derive(Default)]
struct Paths {
    module: Vec<String>,
    found: Vec<String>,
}

impl Paths {
    fn of(file: &SourceFile) -> Vec<String> {
        let mut paths = Paths { module: file.module.clone(), found: vec![] };
        paths.visit_file(&file.syntax);
        paths.found
    }

    /// `super::x` and `self::x` from the crate's root, `a::b` as it is.
    fn add(&mut self, parts: &[String]) {
        let mut module = self.module.clone();
        let mut rest = parts;
        let mut relative = false;
        while let Some((first, tail)) = rest.split_first() {
            match first.as_str() {
                "super" => drop(module.pop()),
                "self" => {}
                _ => break,
            }
            relative = true;
            rest = tail;
        }
        let parts = if relative { [&["crate".to_owned()], &module[..], rest].concat() } else { parts.to_vec() };
        self.found.push(parts.join("::"));
    }

    fn add_tree(&mut self, tree: &UseTree, front: &[String]) {
        let with = |name: String| [front, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&path.tree, &with(path.ident.to_string())),
            UseTree::Name(name) => self.add(&with(name.ident.to_string())),
            UseTree::Rename(name) => self.add(&with(name.ident.to_string())),
            UseTree::Glob(_) => self.add(front),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(tree, front)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.content.is_some() {
            self.module.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if parts.len() > 1 {
            self.add(&parts);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let text = mac.tokens.to_string().replace(" :: ", "::");
        for word in text.split(|c: char| !c.is_alphanumeric() && c != ':' && c != '_') {
            let parts: Vec<String> = word.split("::").map(str::to_owned).collect();
            if parts.len() > 1 {
                self.add(&parts);
            }
        }
        visit::visit_macro(self, mac);
    }
}

/// Gives the places where it is broken.
type Rule = fn(&[SourceFile]) -> Vec<String>;

/// One test, since parsing all files takes longer than looking at them.
#[test]
fn layers_constructors_and_documentation() {
    let files = sources();
    let rules: [(&str, Rule); 5] = [
        ("stages do not import one another", stages_do_not_import_one_another),
        ("what is shared knows no stage", what_is_shared_knows_no_stage),
        (
            "pure stages touch no file, environment, process or clock",
            pure_stages_touch_no_file_environment_process_or_clock,
        ),
        ("only the checks make a Checked", only_the_checks_make_a_checked_reproducer),
        ("public items and files are documented", public_items_are_documented),
    ];
    let broken = rules.iter().flat_map(|(rule, look)| look(&files).into_iter().map(move |at| format!("{rule}: {at}")));
    report(&broken.collect::<Vec<_>>());
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} found:\n{}", wrong.len(), wrong.join("\n"));
}

fn stages_do_not_import_one_another(files: &[SourceFile]) -> Vec<String> {
    let mut wrong = vec![];
    for file in files {
        let Some(own) = file.module.first().filter(|own| STAGES.contains(&own.as_str())) else { continue };
        for path in Paths::of(file) {
            let Some(other) = path.strip_prefix("crate::").and_then(|p| p.split("::").next()) else { continue };
            let machine = !PURE.contains(&own.as_str()) && ["sys", "toolchain"].contains(&other);
            if other != own && !SHARED.contains(&other) && !machine {
                wrong.push(format!("{}: {path}", file.path.display()));
            }
        }
    }
    wrong
}

fn what_is_shared_knows_no_stage(files: &[SourceFile]) -> Vec<String> {
    let mut wrong = vec![];
    for file in files.iter().filter(|f| f.module.first().is_some_and(|m| FOUNDATION.contains(&m.as_str()))) {
        for path in Paths::of(file) {
            let Some(other) = path.strip_prefix("crate::").and_then(|p| p.split("::").next()) else { continue };
            if !FOUNDATION.contains(&other) {
                wrong.push(format!("{}: {path}", file.path.display()));
            }
        }
    }
    wrong
}

fn pure_stages_touch_no_file_environment_process_or_clock(files: &[SourceFile]) -> Vec<String> {
    const FORBIDDEN: [&str; 9] = [
        "std::fs",
        "std::env",
        "std::process",
        "std::time::Instant",
        "std::time::SystemTime",
        "std::net",
        "fs_err",
        "which",
        "tempfile",
    ];
    let mut wrong = vec![];
    let pure = |file: &&SourceFile| {
        file.module.first().is_some_and(|m| PURE.contains(&m.as_str()) || FOUNDATION.contains(&m.as_str()))
    };
    for file in files.iter().filter(pure) {
        for path in Paths::of(file) {
            if FORBIDDEN.iter().any(|f| path == *f || path.starts_with(&format!("{f}::"))) {
                wrong.push(format!("{}: {path}", file.path.display()));
            }
        }
    }
    wrong
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("test")
            || (a.path().is_ident("cfg") && a.meta.require_list().is_ok_and(|l| l.tokens.to_string() == "test"))
    })
}

/// Calls of `Checked::new` outside tests.
#[derive(Default)]
struct Constructions(usize);

impl<'ast> Visit<'ast> for Constructions {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if names.ends_with(&["Checked".to_owned(), "new".to_owned()]) {
            self.0 += 1;
        }
    }
}

fn only_the_checks_make_a_checked_reproducer(files: &[SourceFile]) -> Vec<String> {
    let mut wrong = vec![];
    let mut made = 0;
    for file in files {
        let mut calls = Constructions::default();
        calls.visit_file(&file.syntax);
        if file.module.first().is_some_and(|m| m == "check") {
            made += calls.0;
        } else if calls.0 > 0 {
            wrong.push(file.path.display().to_string());
        }
    }
    assert!(made > 0, "nobody calls Checked::new: this test looks for the wrong thing");
    wrong
}

#[test]
fn files_are_small() {
    let mut paths = vec![];
    for folder in ["src", "tests", "emulator", "benches"] {
        if root().join(folder).is_dir() {
            rust_files(&root().join(folder), &mut paths);
        }
    }
    let count = |path: &PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let mut sizes: Vec<(usize, PathBuf)> = paths.iter().map(|p| (count(p), p.clone())).collect();
    sizes.sort();
    let large: Vec<String> = sizes
        .iter()
        .filter(|(lines, _)| *lines > 600)
        .map(|(lines, p)| format!("{}: {lines} lines", p.display()))
        .collect();
    report(&large);
    let (median, ninth) = (sizes[sizes.len() / 2].0, sizes[sizes.len() * 9 / 10].0);
    assert!(median < 150, "the median file has {median} lines");
    assert!(ninth < 350, "one file in ten has {ninth} lines or more");
}

/// Public items without a doc comment.
struct Undocumented<'f> {
    file: &'f SourceFile,
    wrong: Vec<String>,
}

impl Undocumented<'_> {
    fn look(&mut self, visibility: &Visibility, attributes: &[Attribute], name: &dyn ToString) {
        if matches!(visibility, Visibility::Public(_)) && !attributes.iter().any(|a| a.path().is_ident("doc")) {
            self.wrong.push(format!("{}: {}", self.file.path.display(), name.to_string()));
        }
    }
}

impl<'ast> Visit<'ast> for Undocumented<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.look(&item.vis, &item.attrs, &item.sig.ident);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.look(&item.vis, &item.attrs, &item.sig.ident);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.look(&item.vis, &item.attrs, &item.ident);
        for field in item.fields.iter().filter(|f| f.ident.is_some()) {
            self.look(&field.vis, &field.attrs, &format!("{}.{}", item.ident, field.ident.as_ref().unwrap()));
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.look(&item.vis, &item.attrs, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.look(&item.vis, &item.attrs, &item.ident);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.look(&item.vis, &item.attrs, &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.look(&item.vis, &item.attrs, &item.ident);
    }
}

fn public_items_are_documented(files: &[SourceFile]) -> Vec<String> {
    let mut wrong = vec![];
    for file in files {
        let mut visitor = Undocumented { file, wrong: vec![] };
        visitor.visit_file(&file.syntax);
        wrong.extend(visitor.wrong);
        if !file.text.starts_with("//!") {
            wrong.push(format!("{}: does not begin by saying what it is", file.path.display()));
        }
    }
    wrong
}

#[test]
fn nothing_is_left_for_later() {
    let marks =
        [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["todo", "!("].concat(), ["unimplemented", "!("].concat()];
    let mut wrong = vec![];
    let mut paths = vec![];
    for folder in ["src", "tests", "emulator"] {
        rust_files(&root().join(folder), &mut paths);
    }
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in
            text.lines().enumerate().filter(|(_, line)| marks.iter().any(|m| line.contains(m.as_str())))
        {
            wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
        }
    }
    report(&wrong);
}
