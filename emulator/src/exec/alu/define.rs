//! The macro that makes an instruction set out of a table.

/// From shapes, names, spellings and functions of one lane: the enum, its executor and the lookup by spelling.
macro_rules! alu {
    (
        $(#[$meta:meta])*
        $set:ident, $run:meta;
        $($shape:ident { $($name:ident: $($spelling:literal)|+ => $function:expr;)* })*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $set {
            $($($name($shape),)*)*
        }

        impl $set {
            /// Executes it in the lanes of `mask`.
            #[$run]
            pub fn run(self, registers: &mut Registers, mask: u32) {
                match self {
                    $($($set::$name(operands) => operands.run(registers, mask, $function),)*)*
                }
            }
        }

        /// The instruction of a normalised spelling.
        pub(super) fn find_form(spelling: &str) -> Option<Form> {
            Some(match spelling {
                $($($($spelling)|+ => Form {
                    classes: $shape::CLASSES,
                    make: |operands| Op::$set($set::$name(operands.into())),
                },)*)*
                _ => return None,
            })
        }
    };
}
pub(super) use alu;
