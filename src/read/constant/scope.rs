//! Everything that an expression about one instantiation may name.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::index::Index;
use super::resolver::Resolver;
use super::type_name;
use crate::model::{Instantiation, KernelSignature, Origin};
use crate::read::cxx::document::{Document, Grammar, children};
use crate::read::cxx::evaluate::{Outcome, evaluate, unsupported};
use crate::read::cxx::functions::{Function, functions};
use crate::read::cxx::mask::MaskOptions;
use crate::read::cxx::problem::Problem;
use crate::read::cxx::value::Value;
use crate::read::signature::SignatureOptions;
use crate::source::{Place, Source, Spot};

/// A header, parsed when something in it is asked for.
#[derive(Debug)]
pub struct Header {
    /// The header.
    pub source: Arc<Source>,
    mask: Arc<MaskOptions>,
    parsed: OnceLock<(Box<Document>, Index)>,
}

impl Header {
    fn new(source: &Arc<Source>, mask: &Arc<MaskOptions>) -> Self {
        Header { source: Arc::clone(source), mask: Arc::clone(mask), parsed: OnceLock::new() }
    }

    fn parsed(&self) -> &(Box<Document>, Index) {
        self.parsed.get_or_init(|| {
            let document = Box::new(Document::parse(&self.source, Grammar::Cuda, &self.mask));
            let index = Index::of(&document);
            (document, index)
        })
    }

    /// Its tree.
    pub fn document(&self) -> &Document {
        &self.parsed().0
    }

    /// Its declarations.
    pub fn index(&self) -> &Index {
        &self.parsed().1
    }

    /// Whether this is its tree.
    pub fn is(&self, document: &Document) -> bool {
        self.parsed.get().is_some_and(|(own, _)| std::ptr::eq(&**own, document))
    }

    /// Whether its text holds `word`; a header that does not declares nothing of that name, and need not be parsed.
    pub fn holds(&self, word: &str) -> bool {
        memchr::memmem::find(self.source.bytes(), word.as_bytes()).is_some()
    }
}

/// The headers, the kernel and the bindings of one instantiation.
#[derive(Debug)]
pub struct Scope {
    pub(super) headers: Vec<Header>,
    pub(super) bindings: BTreeMap<String, Outcome>,
    kernel: Option<(usize, String, Place)>,
}

impl Scope {
    /// Takes the headers (the kernel's own among them) and binds the kernel's template parameters, the aliases of the
    /// emitted text, and the call arguments that are constants.
    ///
    /// `#if` branches are chosen only when the options define `__CUDA_ARCH__`; otherwise all are read.
    pub fn new(
        headers: &[Arc<Source>],
        signature: &KernelSignature,
        instantiation: &Instantiation,
        options: &SignatureOptions,
    ) -> Self {
        let branches = options.defines.iter().any(|(name, _)| name == "__CUDA_ARCH__").then(|| options.defines.clone());
        let mask =
            Arc::new(MaskOptions { annotation_macros: options.annotation_macros.clone(), branches, dropped: vec![] });
        let headers: Vec<Header> = headers.iter().map(|source| Header::new(source, &mask)).collect();
        let place = match &signature.text.origin {
            Origin::Transcribed { at } | Origin::Read { at, .. } => Some(at.clone()),
            _ => None,
        };
        let kernel = place.and_then(|place| {
            let at = headers.iter().position(|h| h.source.name() == place.file)?;
            Some((at, signature.name.clone(), place))
        });
        let bindings = bindings(&headers, signature, instantiation);
        Scope { headers, bindings, kernel }
    }

    /// The kernel's definition.
    pub(super) fn function(&self) -> Option<(&Document, Function<'_>)> {
        let (at, name, place) = self.kernel.as_ref()?;
        let document = self.headers[*at].document();
        let same =
            |f: &Function<'_>| f.name == *name && Spot::new(&document.source, f.head(document)).place() == *place;
        functions(document).into_iter().find(same).map(|function| (document, function))
    }

    pub(super) fn resolver<'s>(&'s self, function: Option<&(&'s Document, Function<'s>)>) -> Resolver<'s> {
        let body = function.and_then(|(document, function)| Some((*document, function.body?)));
        Resolver::new(&self.headers, body, self.bindings.clone())
    }

    /// The value of an expression over template parameters, constexpr locals of the kernel's body, namespace constants and
    /// members of types; `extra` binds more names to expressions.
    ///
    /// # Errors
    ///
    /// A sentence that says what is not known.
    pub fn evaluate(&self, expr: &str, extra: &BTreeMap<String, String>) -> Result<Value, String> {
        let function = self.function();
        let mut resolver = self.resolver(function.as_ref());
        let mut bindings = self.bindings.clone();
        for (name, text) in extra {
            let value = expression(&mut resolver, &Source::new(name.as_str(), text.as_bytes()));
            bindings.insert(name.clone(), value);
        }
        let source = Source::new("expression", expr.as_bytes());
        let out = resolver.framed(bindings, |this| expression(this, &source));
        out.map(|evaluated| evaluated.value).map_err(|problems| sentence(&problems))
    }

    /// The same for an expression whose value is an integer or a truth value.
    ///
    /// # Errors
    ///
    /// A sentence that says what is not known, or that the value is no integer.
    pub fn integer(&self, expr: &str, extra: &BTreeMap<String, String>) -> Result<i128, String> {
        let value = self.evaluate(expr, extra)?;
        value.as_integer().map(|i| i.value).ok_or_else(|| format!("its value `{value}` is no integer"))
    }
}

/// Problems in one sentence.
pub(super) fn sentence(problems: &[Problem]) -> String {
    let mut phrases: Vec<String> = problems.iter().map(Problem::phrase).collect();
    phrases.dedup();
    phrases.join("; ")
}

/// Parses a text as device code.
pub(super) fn parse(source: &Arc<Source>) -> Document {
    Document::parse(source, Grammar::Cuda, &MaskOptions::default())
}

/// The value of an expression that stands alone.
pub(super) fn expression(resolver: &mut Resolver<'_>, source: &Arc<Source>) -> Outcome {
    const BEFORE: &str = "auto krepro_value = ";
    let text = format!("{BEFORE}{};", source.text());
    let document = parse(&Source::new(source.name(), text));
    let statements = children(document.root());
    let value = match statements[..] {
        [declaration] if declaration.kind() == "declaration" => {
            declaration.child_by_field_name("declarator").and_then(|d| d.child_by_field_name("value"))
        }
        _ => None,
    };
    match value.filter(|_| !document.root().has_error()) {
        Some(value) => evaluate(&document, value, resolver),
        None => unsupported(&document, document.root(), &format!("`{}`", source.text())),
    }
}

fn bindings(
    headers: &[Header],
    signature: &KernelSignature,
    instantiation: &Instantiation,
) -> BTreeMap<String, Outcome> {
    let mut resolver = Resolver::new(headers, None, BTreeMap::new());
    let mut emitted: BTreeMap<String, Outcome> = BTreeMap::new();
    for alias in &instantiation.aliases {
        let text = &alias.text.value;
        let value = resolver.framed(emitted.clone(), |this| type_name::argument_text(this, text));
        emitted.insert(alias.name.clone(), value);
    }
    for object in instantiation.objects.iter().filter(|object| object.text.value.contains('=')) {
        if let Some((_, value)) = object.text.value.split_once('=') {
            let source = Source::new(object.name.as_str(), value.trim().as_bytes());
            let value = resolver.framed(emitted.clone(), |this| expression(this, &source));
            if value.is_ok() {
                emitted.insert(object.name.clone(), value);
            }
        }
    }
    let mut out = emitted.clone();
    for (index, parameter) in signature.template_parameters.iter().enumerate() {
        if parameter.pack {
            break;
        }
        let value = match (instantiation.template_arguments.get(index), &parameter.default) {
            (Some(given), _) => resolver.framed(emitted.clone(), |this| type_name::argument_text(this, &given.value)),
            (None, Some(default)) => resolver.framed(out.clone(), |this| type_name::argument_text(this, default)),
            (None, None) => continue,
        };
        let value = value.map(|v| {
            let converted = v.value.clone().converted_to(&parameter.declared);
            v.with(converted)
        });
        out.insert(parameter.name.clone(), value);
    }
    for (parameter, given) in signature.parameters.iter().zip(&instantiation.arguments) {
        let source = Source::new(parameter.name.as_str(), given.value.as_bytes());
        let value = resolver.framed(emitted.clone(), |this| expression(this, &source));
        if let Ok(value) = value
            && !matches!(value.value, Value::Type(_) | Value::Symbol(_))
        {
            let converted = value.value.clone().converted_to(&parameter.declared);
            out.insert(parameter.name.clone(), Ok(value.with(converted)));
        }
    }
    out
}
