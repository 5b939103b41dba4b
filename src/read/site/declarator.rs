//! What a declarator declares: a value of its own, or a way to something else.

use tree_sitter::Node;

use crate::read::cxx::document::{Document, children, fields, squeeze};
use crate::read::cxx::evaluate::initializer;

/// What a local is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// A value of its own.
    #[default]
    Value,
    /// An array: its name is a pointer to its first element.
    Array,
    /// A reference.
    Reference,
    /// A pointer, an iterator, a view: its copies reach the same.
    Handle,
}

/// One declarator, taken apart.
#[derive(Debug)]
pub struct Declarator<'t> {
    /// Its name, or those of a structured binding.
    pub names: Vec<Node<'t>>,
    /// What it declares.
    pub form: Form,
    /// Whether what it refers or points to is `const`.
    pub guarded: bool,
    /// Whether it is itself `const`.
    pub constant: bool,
    /// Whether it binds the parts of its value.
    pub binds: bool,
    /// Its initialiser.
    pub value: Option<Node<'t>>,
    /// What stands in parentheses where the grammar sees a function: `Guard guard(n)`, `int &r(n)`.
    pub arguments: Vec<Node<'t>>,
}

/// Takes one of the declarators of a declaration, or of a range `for`, apart.
pub fn declarator<'t>(document: &Document, declaration: Node<'t>, node: Node<'t>) -> Declarator<'t> {
    let first = fields(declaration, "declarator").first().map_or(declaration.end_byte(), |first| first.start_byte());
    let head = String::from_utf8_lossy(&document.stripped[declaration.start_byte()..first]).into_owned();
    let says = |wanted: &[&str]| words(&head).any(|word| wanted.contains(&word));
    let value = initializer(node).filter(|_| node.kind() == "init_declarator");
    let mut inner = node.child_by_field_name("declarator").filter(|_| value.is_some()).unwrap_or(node);
    let (mut kinds, mut pinned, mut arguments) = (vec![], false, vec![]);
    let mut names = vec![inner];
    while inner.kind() != "identifier" {
        kinds.push(inner.kind());
        names = vec![inner];
        if inner.kind() == "structured_binding_declarator" {
            names = children(inner);
            break;
        }
        if let Some(list) = inner.child_by_field_name("parameters") {
            arguments = children(list).into_iter().map(|one| one.child_by_field_name("type").unwrap_or(one)).collect();
        }
        let all = children(inner);
        pinned = all.iter().any(|child| child.kind() == "type_qualifier" && document.text(*child) == "const");
        let next = inner.child_by_field_name("declarator");
        match next.or_else(|| all.into_iter().find(|child| child.kind() != "type_qualifier")) {
            Some(next) => (inner, names) = (next, vec![next]),
            None => break,
        }
    }
    let binds = kinds.contains(&"structured_binding_declarator");
    let pointers = kinds.iter().filter(|kind| **kind == "pointer_declarator").count();
    let form = match kinds.iter().rev().find(|kind| kind.ends_with("_declarator") && !kind.starts_with("parenthesized"))
    {
        Some(&"pointer_declarator") => Form::Handle,
        Some(&"array_declarator") => Form::Array,
        Some(_) if kinds.contains(&"reference_declarator") => Form::Reference,
        Some(&"function_declarator") if pointers > 0 => Form::Handle,
        _ => Form::Value,
    };
    let (fixed, always) = (says(&["const", "constexpr"]), says(&["constexpr"]));
    let guarded = fixed && pointers == usize::from(form == Form::Handle);
    let constant = always
        || match form {
            Form::Handle => pinned,
            Form::Reference => guarded,
            Form::Value | Form::Array => fixed && pointers == 0,
        };
    Declarator { names, form, guarded, constant, binds, value, arguments }
}

/// The words of a type outside its template arguments.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_')).filter_map(move |piece| {
        let outside = depth == 0;
        let (word, end) = match piece.char_indices().next_back() {
            Some((at, c)) if !(c.is_alphanumeric() || c == '_') => (&piece[..at], Some(c)),
            _ => (piece, None),
        };
        match end {
            Some('<') => depth += 1,
            Some('>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        (outside && !word.is_empty()).then_some(word)
    })
}

/// Whether a parameter's text, or another type's, refers to something that it may not change.
pub fn is_guarded(text: &str) -> bool {
    let mut depth = 0usize;
    let mut indirections = 0;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '*' | '&' | '[' if depth == 0 => indirections += 1,
            _ => {}
        }
    }
    let head = match text.rfind('>') {
        Some(end) => format!("{}{}", &text[..text.find('<').unwrap_or(end)], &text[end + 1..]),
        None => text.to_owned(),
    };
    let head = squeeze(head.split(['*', '&', '[']).next().unwrap_or_default());
    let forwarding = usize::from(text.contains("&&"));
    indirections - forwarding.min(indirections) <= 1 && words(&head).any(|word| matches!(word, "const" | "constexpr"))
}

/// Classes of the standard library, and words at the end of others, whose objects reach what they are made from.
pub fn is_view(declared: &str) -> bool {
    let bare = declared.split('<').next().unwrap_or_default();
    let last = match declared.rsplit_once(">::") {
        Some((_, member)) => member,
        None => bare.rsplit("::").next().unwrap_or_default(),
    }
    .trim();
    matches!(last, "span" | "mdspan" | "reference_wrapper" | "initializer_list" | "string_view" | "basic_string_view")
        || ["Ref", "View", "_view", "_ref", "_span", "iterator", "pointer", "reference"]
            .iter()
            .any(|end| last.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{Form, declarator, is_guarded, is_view};
    use crate::read::cxx::document::{Document, Grammar, children, fields};
    use crate::read::cxx::mask::MaskOptions;
    use crate::source::Source;

    #[test]
    fn what_a_declarator_is_and_what_const_means() {
        for (text, form, guarded, constant) in [
            ("int a = b", Form::Value, false, false),
            ("const int a = b", Form::Value, true, true),
            ("int const &a = b", Form::Reference, true, true),
            ("auto &&a = b", Form::Reference, false, false),
            ("std::vector<const int *> &a = b", Form::Reference, false, false),
            ("const int *&a = b", Form::Reference, false, false),
            ("const int *a = b", Form::Handle, true, false),
            ("int *const a = b", Form::Handle, false, true),
            ("constexpr const char *a = \"b\"", Form::Handle, true, true),
            ("const int **a = b", Form::Handle, false, false),
            ("const int a[] = {1}", Form::Array, true, true),
            ("const char *a[2] = {b, c}", Form::Array, false, false),
            ("auto &[a, c] = b", Form::Reference, false, false),
            ("int &a(b)", Form::Reference, false, false),
            ("int &a{b}", Form::Reference, false, false),
        ] {
            let source = Source::new("x", format!("void f() {{ {text}; }}"));
            let document = Document::parse(&source, Grammar::Cpp, &MaskOptions::default());
            let body = children(document.root())[0].child_by_field_name("body").unwrap();
            let declaration = children(body)[0];
            let found = declarator(&document, declaration, fields(declaration, "declarator")[0]);
            assert_eq!((found.form, found.guarded, found.constant), (form, guarded, constant), "{text}");
            assert_eq!(document.text(found.names[0]), "a", "{text}");
            assert!(found.value.is_some() || !found.arguments.is_empty(), "{text}");
        }
    }

    #[test]
    fn parameters_that_cannot_change_what_they_are_given() {
        for text in ["const int &a", "int const a[2]", "std::vector<int> const &a", "const T *a", "auto const &&a"] {
            assert!(is_guarded(text), "{text}");
        }
        for text in ["int &a", "int *const a", "std::vector<const int *> &a", "const int *&a", "int a[2]", "T &&a"] {
            assert!(!is_guarded(text), "{text}");
        }
        assert!(is_view("std::span<int>") && is_view("std::vector<int>::iterator") && is_view("IntArrayRef"));
        assert!(!is_view("std::vector<std::string_view>") && !is_view("Config"));
    }
}
