//! The operand shapes of register instructions: `W` word, `D` double word, `P` predicate, destination first.

use crate::exec::registers::{Registers, gathered, spread};

macro_rules! shape {
    ($name:ident, $classes:literal, $kind:ident -> $value:ty, $($source:ident: $file:ident as $type:ty),*) => {
        /// Register indices of an instruction of this shape.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            to: u32,
            $($source: u32,)*
        }

        impl $name {
            pub(super) const CLASSES: &'static str = $classes;

            /// Applies a function to every lane and keeps the results of those in `mask`. Whole registers are read before
            /// anything else happens: so the lanes become vectors.
            #[inline(always)]
            pub(super) fn run<const WIDE: bool>(
                self,
                registers: &mut Registers,
                mask: u32,
                f: impl Fn($($type),*) -> $value,
            ) {
                $(let $source = shape!(@read $file registers, self.$source);)*
                let mut out = shape!(@empty $kind);
                for lane in 0..32 {
                    out[lane] = shape!(@value $kind f($(shape!(@lane $file $source, lane)),*));
                }
                shape!(@keep $kind registers, self.to, mask, out);
            }
        }

        impl From<[u32; 5]> for $name {
            fn from(operands: [u32; 5]) -> Self {
                let [to, rest @ ..] = operands;
                let mut rest = rest.into_iter();
                $(let $source = rest.next().unwrap_or_default();)*
                Self { to, $($source,)* }
            }
        }
    };
    (@read w $registers:ident, $index:expr) => { $registers.w[$index as usize] };
    (@read d $registers:ident, $index:expr) => { $registers.d[$index as usize] };
    (@read p $registers:ident, $index:expr) => { spread($registers.p[$index as usize]) };
    (@lane p $source:ident, $lane:ident) => { $source[$lane] != 0 };
    (@lane $file:ident $source:ident, $lane:ident) => { $source[$lane] };
    (@empty double) => { [0u64; 32] };
    (@empty $kind:ident) => { [0u32; 32] };
    (@value predicate $value:expr) => { u32::from($value).wrapping_neg() };
    (@value $kind:ident $value:expr) => { $value };
    (@keep word $registers:ident, $to:expr, $mask:ident, $out:ident) => { $registers.merge_w($to, $mask, $out) };
    (@keep double $registers:ident, $to:expr, $mask:ident, $out:ident) => { $registers.merge_d($to, $mask, $out) };
    (@keep predicate $registers:ident, $to:expr, $mask:ident, $out:ident) => {
        $registers.put_p($to, $mask, gathered::<WIDE>(&$out))
    };
}

/// Operations on predicates alone: a mask is all lanes of one.
macro_rules! masks {
    ($name:ident, $classes:literal, $($source:ident),*) => {
        /// Register indices of an instruction on predicates.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            to: u32,
            $($source: u32,)*
        }

        impl $name {
            pub(super) const CLASSES: &'static str = $classes;

            #[inline(always)]
            pub(super) fn run<const WIDE: bool>(
                self,
                registers: &mut Registers,
                mask: u32,
                f: impl Fn($(masks!(@mask $source)),*) -> u32,
            ) {
                let out = f($(registers.p[self.$source as usize]),*);
                registers.put_p(self.to, mask, out);
            }
        }

        impl From<[u32; 5]> for $name {
            fn from(operands: [u32; 5]) -> Self {
                let [to, rest @ ..] = operands;
                let mut rest = rest.into_iter();
                $(let $source = rest.next().unwrap_or_default();)*
                Self { to, $($source,)* }
            }
        }
    };
    (@mask $source:ident) => { u32 };
}

shape!(WW, "ww", word -> u32, a: w as u32);
shape!(WWW, "www", word -> u32, a: w as u32, b: w as u32);
shape!(WWWW, "wwww", word -> u32, a: w as u32, b: w as u32, c: w as u32);
shape!(WWWWW, "wwwww", word -> u32, a: w as u32, b: w as u32, c: w as u32, e: w as u32);
shape!(WWWP, "wwwp", word -> u32, a: w as u32, b: w as u32, p: p as bool);
shape!(WD, "wd", word -> u32, a: d as u64);
shape!(DD, "dd", double -> u64, a: d as u64);
shape!(DW, "dw", double -> u64, a: w as u32);
shape!(DDD, "ddd", double -> u64, a: d as u64, b: d as u64);
shape!(DDDD, "dddd", double -> u64, a: d as u64, b: d as u64, c: d as u64);
shape!(DDW, "ddw", double -> u64, a: d as u64, b: w as u32);
shape!(DDWW, "ddww", double -> u64, a: d as u64, b: w as u32, c: w as u32);
shape!(DDDWW, "dddww", double -> u64, a: d as u64, b: d as u64, c: w as u32, e: w as u32);
shape!(DWW, "dww", double -> u64, a: w as u32, b: w as u32);
shape!(DWWD, "dwwd", double -> u64, a: w as u32, b: w as u32, c: d as u64);
shape!(DDDP, "dddp", double -> u64, a: d as u64, b: d as u64, p: p as bool);
shape!(PWW, "pww", predicate -> bool, a: w as u32, b: w as u32);
shape!(PDD, "pdd", predicate -> bool, a: d as u64, b: d as u64);
impl PWW {
    /// Makes it write `to` if it writes the predicate `from`.
    pub(super) fn retarget(&mut self, from: u32, to: u32) -> bool {
        let fits = self.to == from;
        self.to = if fits { to } else { self.to };
        fits
    }
}

impl PDD {
    /// As [`PWW::retarget`].
    pub(super) fn retarget(&mut self, from: u32, to: u32) -> bool {
        let fits = self.to == from;
        self.to = if fits { to } else { self.to };
        fits
    }
}

shape!(PW, "pw", predicate -> bool, a: w as u32);
shape!(WP, "wp", word -> u32, a: p as bool);
masks!(PP, "pp", a);
masks!(PPP, "ppp", a, b);
