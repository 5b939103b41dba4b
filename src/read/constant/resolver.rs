//! How names get their values.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use tree_sitter::Node;

use super::index::{Entry, Kind};
use super::lexical::{self, Found};
use super::scope::Header;
use super::{cute, function, member, type_name};
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children, fields};
use crate::read::cxx::evaluate::{Names, Outcome, evaluate, initializer, unsupported};
use crate::read::cxx::problem::{Problem, Unknown};
use crate::read::cxx::value::{Evaluated, TypeName, Value};
use crate::source::Source;

/// Names looked up at most in one evaluation.
const MOST_LOOKUPS: usize = 100_000;

/// What names are bound to beside what the text around an expression declares.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Template parameters, function parameters, aliases of the emitted text.
    pub bindings: Rc<BTreeMap<String, Outcome>>,
    /// Tells frames apart.
    pub id: usize,
}

/// One evaluation.
pub struct Resolver<'s> {
    /// The headers.
    pub headers: &'s [Header],
    /// The kernel's body, whose locals expressions from outside may name.
    pub body: Option<(&'s Document, Node<'s>)>,
    /// The current bindings.
    pub frame: Frame,
    frames: usize,
    depth: usize,
    lookups: usize,
    known: HashMap<(*const Document, usize, usize), Outcome>,
}

impl<'s> Resolver<'s> {
    /// With the bindings of one instantiation.
    pub fn new(
        headers: &'s [Header],
        body: Option<(&'s Document, Node<'s>)>,
        bindings: BTreeMap<String, Outcome>,
    ) -> Self {
        let frame = Frame { bindings: Rc::new(bindings), id: 1 };
        Resolver { headers, body, frame, frames: 1, depth: 0, lookups: 0, known: HashMap::new() }
    }

    /// Runs `inner` with other bindings.
    pub fn framed<T>(&mut self, bindings: BTreeMap<String, Outcome>, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.frames += 1;
        // All frames without bindings are the same one.
        let id = if bindings.is_empty() { 0 } else { self.frames };
        let frame = Frame { bindings: Rc::new(bindings), id };
        let outer = std::mem::replace(&mut self.frame, frame);
        let out = inner(self);
        self.frame = outer;
        out
    }

    /// The namespace-scope declarations of a name, those of `document` first.
    pub fn declarations(&self, document: &Document, name: &str) -> Vec<(&'s Document, Entry)> {
        let mut out = vec![];
        let own = |header: &&Header| header.is(document);
        let others = self.headers.iter().filter(|header| !own(header) && header.holds(name));
        for header in self.headers.iter().filter(own).chain(others) {
            out.extend(header.index().get(name).iter().map(|entry| (header.document(), *entry)));
        }
        out
    }

    /// A value that is computed once for each set of bindings.
    fn once(&mut self, document: &Document, node: Node<'_>, compute: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        if !self.headers.iter().any(|header| header.is(document)) {
            return compute(self);
        }
        let key = (std::ptr::from_ref(document), node.id(), self.frame.id);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.known.insert(key, unsupported(document, node, "a constant that is made of itself"));
        let out = compute(self);
        self.known.insert(key, out.clone());
        out
    }

    /// The value or type behind an unqualified name.
    pub fn lookup(&mut self, document: &Document, node: Node<'_>, name: &str) -> Option<Outcome> {
        self.lookups += 1;
        if self.lookups > MOST_LOOKUPS {
            return Some(unsupported(document, node, "an expression this long"));
        }
        if let Some(found) = lexical::find(document, node, name) {
            return Some(self.found(document, found, name));
        }
        if let Some(bound) = self.frame.bindings.get(name) {
            return Some(bound.clone());
        }
        if let Some((body_document, body)) = self.body
            && !std::ptr::eq(body_document, document)
            && let Some(found) = lexical::within(body_document, body, name)
        {
            return Some(self.found(body_document, found, name));
        }
        self.namespace(document, name)
    }

    /// The value of a declaration.
    pub fn found(&mut self, document: &Document, found: Found<'_>, name: &str) -> Outcome {
        match found {
            Found::Alias(node) => self.once(document, node, |this| type_name::alias(this, document, node)),
            Found::Unset(node) => unknown(document, node, name),
            Found::Value(node) => {
                if let Some(change) = changed(document, node, name) {
                    return Err(vec![Problem::Unsupported {
                        what: format!("`{name}`, which changes in line {},", line(document, change)),
                        at: document.spot(node),
                    }]);
                }
                self.once(document, node, |this| this.declared(document, node))
            }
        }
    }

    /// The value of a declarator or member with an initialiser, converted to its declared type.
    fn declared(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        let (holder, value) = if node.kind() == "field_declaration" {
            (node, node.child_by_field_name("default_value"))
        } else {
            (node.parent().unwrap_or(node), initializer(node))
        };
        let Some(value) = value else { return unsupported(document, node, "this initialiser") };
        let out = evaluate(document, value, self)?;
        let of = holder.child_by_field_name("type").map(|t| document.squeezed(t)).unwrap_or_default();
        let converted = out.value.clone().converted_to(&of);
        Ok(out.with(converted))
    }

    /// A constant, alias, enumerator or macro at namespace scope.
    pub fn namespace(&mut self, document: &Document, name: &str) -> Option<Outcome> {
        let found = self.declarations(document, name);
        let (header, entry) = *found.iter().find(|(_, e)| !matches!(e.kind, Kind::Function))?;
        let node = entry.node(header)?;
        Some(match entry.kind {
            Kind::Constant if !entry.is_template() => {
                self.framed(BTreeMap::new(), |this| this.found(header, Found::Value(node), name))
            }
            Kind::Alias if !entry.is_template() => {
                self.framed(BTreeMap::new(), |this| type_name::alias(this, header, node))
            }
            Kind::Class => Ok(type_value(name, vec![])),
            Kind::Enumerator => self.framed(BTreeMap::new(), |this| enumerator(this, header, node, name)),
            Kind::Macro => self.expanded(header, node),
            _ => return None,
        })
    }

    fn expanded(&mut self, header: &Document, node: Node<'_>) -> Outcome {
        let Some(value) = node.child_by_field_name("value") else {
            return unsupported(header, node, "a macro without a value");
        };
        let text = header.squeezed(value);
        self.framed(BTreeMap::new(), |this| {
            this.once(header, node, |this| super::scope::expression(this, &Source::new(header.source.name(), text)))
        })
    }
}

impl Names for Resolver<'_> {
    fn name(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        let text = document.squeezed(node);
        match node.kind() {
            "identifier" | "type_identifier" | "namespace_identifier" => {
                self.lookup(document, node, &text).unwrap_or_else(|| match node.kind() {
                    "type_identifier" => Ok(type_value(&text, vec![])),
                    _ => unknown(document, node, &text),
                })
            }
            "qualified_identifier" => member::qualified(self, document, node),
            "template_function"
            | "template_type"
            | "type_descriptor"
            | "primitive_type"
            | "sized_type_specifier"
            | "dependent_type" => type_name::named(self, document, node),
            "call_expression" | "field_expression" | "subscript_expression" | "pointer_expression" => {
                unknown(document, node, &text)
            }
            kind => unsupported(document, node, &format!("this construct ({kind})")),
        }
    }

    fn call(&mut self, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome> {
        cute::call(self, document, node, callee).or_else(|| function::call(self, document, node, callee))
    }

    fn size_of(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        type_name::size_of(self, document, node)
    }

    fn braced(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        cute::braced(self, document, node)
    }

    fn template_member(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        type_name::argument_text(self, &document.squeezed(node).replace(' ', ""))
    }

    fn depth(&mut self) -> &mut usize {
        &mut self.depth
    }
}

/// A type as a value.
pub fn type_value(name: &str, arguments: Vec<Value>) -> Evaluated {
    Value::Type(Rc::new(TypeName { name: name.to_owned(), arguments })).into()
}

/// A name without a value.
pub fn unknown(document: &Document, node: Node<'_>, name: &str) -> Outcome {
    Err(vec![Problem::Unknown(Unknown {
        name: name.to_owned(),
        used: document.spot(node),
        assigned: None,
        changed: false,
    })])
}

fn line(document: &Document, node: Node<'_>) -> usize {
    document.source.line_column(node.start_byte()).0
}

/// Where a declared variable that is no constant changes within its function.
fn changed<'t>(document: &Document, node: Node<'t>, name: &str) -> Option<Node<'t>> {
    let declaration = node.parent().filter(|p| p.kind() == "declaration")?;
    let constant = children(declaration)
        .iter()
        .any(|child| child.kind() == "type_qualifier" && matches!(&*document.text(*child), "const" | "constexpr"));
    if constant {
        return None;
    }
    let mut body = declaration;
    while let Some(outer) = body.parent().filter(|_| body.kind() != "function_definition") {
        body = outer;
    }
    (body.kind() == "function_definition").then(|| lexical::reassigned(document, body, name)).flatten()
}

/// The value of an enumerator: one of an unscoped enumeration is a number, one of a scoped enumeration stands for itself.
fn enumerator(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>, name: &str) -> Outcome {
    let holder = node.parent().and_then(|list| list.parent());
    let scoped = holder.is_some_and(|h| {
        document.squeezed(h).starts_with("enum class") || document.squeezed(h).starts_with("enum struct")
    });
    if scoped {
        let of = holder.and_then(|h| h.child_by_field_name("name")).map(|n| document.squeezed(n)).unwrap_or_default();
        return Ok(Value::Symbol(format!("{of}::{name}")).into());
    }
    if let Some(value) = fields(node, "value").first() {
        return evaluate(document, *value, resolver);
    }
    let siblings = node.parent().map(children).unwrap_or_default();
    let mut value = 0;
    for sibling in siblings {
        if let Some(explicit) = fields(sibling, "value").first() {
            value = evaluate(document, *explicit, resolver)?.value.as_integer().map_or(0, |i| i.value);
        }
        if sibling == node {
            break;
        }
        value += 1;
    }
    Ok(Value::int(value).into())
}
