//! The macro that makes an instruction set out of a table.

/// From shapes, names, spellings and functions of one lane: the enum, its executor and the lookup by spelling.
macro_rules! alu {
    (
        $(#[$meta:meta])*
        $set:ident, $lanes:ident;
        $($shape:ident { $($name:ident: $($spelling:literal)|+ => $function:expr;)* })*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $set {
            $($($name($shape),)*)*
        }

        /// One function an instruction: in small functions the lanes become vectors, in one large function they do not.
        #[allow(non_snake_case)]
        mod $lanes {
            $($(pub(super) mod $name {
                #[allow(unused_imports)]
                use super::super::*;

                #[inline(never)]
                pub(in super::super) fn plain(operands: $shape, registers: &mut Registers, mask: u32) {
                    operands.run::<false>(registers, mask, $function);
                }

                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
                pub(in super::super) fn wide(operands: $shape, registers: &mut Registers, mask: u32) {
                    operands.run::<true>(registers, mask, $function);
                }
            })*)*
        }

        impl $set {
            /// Executes it in the lanes of `mask`. `WIDE` is only for code that runs where the processor was asked for the
            /// features of [`Self::run_wide`].
            #[inline(always)]
            pub fn execute<const WIDE: bool>(self, registers: &mut Registers, mask: u32) {
                #[cfg(target_arch = "x86_64")]
                if WIDE {
                    // SAFETY: that is what the caller promises.
                    #[allow(unsafe_code)]
                    return unsafe { self.run_wide(registers, mask) };
                }
                self.run(registers, mask);
            }

            /// Executes it in the lanes of `mask`.
            pub fn run(self, registers: &mut Registers, mask: u32) {
                match self {
                    $($($set::$name(operands) => $lanes::$name::plain(operands, registers, mask),)*)*
                }
            }

            /// As [`Self::run`], where the processor has these features.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
            pub fn run_wide(self, registers: &mut Registers, mask: u32) {
                match self {
                    $($($set::$name(operands) => $lanes::$name::wide(operands, registers, mask),)*)*
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
