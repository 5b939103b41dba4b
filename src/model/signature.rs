//! A kernel's signature, sliced out of its header.

use serde::{Deserialize, Serialize};

use super::Fact;

/// What a template parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateParameterKind {
    /// `typename T` or `class T`.
    Type,
    /// `int N`, `bool B`, `Enum E`, `float F`.
    Value,
    /// `template <...> class T`.
    Template,
}

/// One template parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateParameter {
    /// Type, value or template.
    pub kind: TemplateParameterKind,
    /// Its declared type (`int`, `bool`, `cute::UMMA::Major`), or the keyword `typename`.
    pub declared: String,
    /// Its name; empty when unnamed.
    pub name: String,
    /// Default, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// `typename... Ts`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pack: bool,
}

/// One function parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its type, as written, `__grid_constant__` and qualifiers included.
    pub declared: String,
    /// Its name; empty when unnamed.
    pub name: String,
    /// Default, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A kernel's declaration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSignature {
    /// Qualified name, for example `kernel::linear_swapAB_kernel_hopper`.
    pub name: String,
    /// The declaration up to the body, byte-equal.
    pub text: Fact<String>,
    /// Template parameters in order.
    pub template_parameters: Vec<TemplateParameter>,
    /// Function parameters in order.
    pub parameters: Vec<Parameter>,
    /// `__global__` (or a macro that stands for it).
    pub global: bool,
    /// The text within `__launch_bounds__( )`, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_bounds: Option<Fact<String>>,
    /// The text within `__cluster_dims__( )`, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_dims: Option<Fact<String>>,
}

impl KernelSignature {
    /// Template arguments that must be given.
    pub fn required_template_arguments(&self) -> usize {
        self.template_parameters.iter().filter(|p| p.default.is_none() && !p.pack).count()
    }

    /// Function arguments that must be given.
    pub fn required_arguments(&self) -> usize {
        self.parameters.iter().filter(|p| p.default.is_none()).count()
    }
}
