//! The operand shapes of register instructions: `W` word, `D` double word, `P` predicate, destination first.

use crate::exec::registers::{Doubles, Registers, Words};

/// One lane of a register.
trait Lane {
    type Value;
    fn lane(&self, lane: usize) -> Self::Value;
}

impl Lane for Words {
    type Value = u32;
    #[inline(always)]
    fn lane(&self, lane: usize) -> u32 {
        self[lane]
    }
}

impl Lane for Doubles {
    type Value = u64;
    #[inline(always)]
    fn lane(&self, lane: usize) -> u64 {
        self[lane]
    }
}

impl Lane for u32 {
    type Value = bool;
    #[inline(always)]
    fn lane(&self, lane: usize) -> bool {
        self >> lane & 1 != 0
    }
}

macro_rules! shape {
    ($name:ident, $classes:literal, $put:ident, $kind:ident -> $value:ty, $($source:ident: $file:ident as $type:ty),*) => {
        /// Register indices of an instruction of this shape.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            to: u32,
            $($source: u32,)*
        }

        impl $name {
            pub(super) const CLASSES: &'static str = $classes;

            #[inline(always)]
            pub(super) fn run(self, registers: &mut Registers, mask: u32, f: impl Fn($($type),*) -> $value) {
                $(let $source = &registers.$file[self.$source as usize];)*
                let mut out = shape!(@empty $kind);
                for lane in 0..32 {
                    shape!(@set $kind out, lane, f($($source.lane(lane)),*));
                }
                registers.$put(self.to, mask, out);
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
    (@empty word) => { [0u32; 32] };
    (@empty double) => { [0u64; 32] };
    (@empty predicate) => { 0u32 };
    (@set predicate $out:ident, $lane:ident, $value:expr) => { $out |= if $value { 1 << $lane } else { 0 } };
    (@set $kind:ident $out:ident, $lane:ident, $value:expr) => { $out[$lane] = $value };
}

shape!(WW, "ww", put_w, word -> u32, a: w as u32);
shape!(WWW, "www", put_w, word -> u32, a: w as u32, b: w as u32);
shape!(WWWW, "wwww", put_w, word -> u32, a: w as u32, b: w as u32, c: w as u32);
shape!(WWWWW, "wwwww", put_w, word -> u32, a: w as u32, b: w as u32, c: w as u32, e: w as u32);
shape!(WWWP, "wwwp", put_w, word -> u32, a: w as u32, b: w as u32, p: p as bool);
shape!(WD, "wd", put_w, word -> u32, a: d as u64);
shape!(DD, "dd", put_d, double -> u64, a: d as u64);
shape!(DW, "dw", put_d, double -> u64, a: w as u32);
shape!(DDD, "ddd", put_d, double -> u64, a: d as u64, b: d as u64);
shape!(DDDD, "dddd", put_d, double -> u64, a: d as u64, b: d as u64, c: d as u64);
shape!(DDW, "ddw", put_d, double -> u64, a: d as u64, b: w as u32);
shape!(DDWW, "ddww", put_d, double -> u64, a: d as u64, b: w as u32, c: w as u32);
shape!(DDDWW, "dddww", put_d, double -> u64, a: d as u64, b: d as u64, c: w as u32, e: w as u32);
shape!(DWW, "dww", put_d, double -> u64, a: w as u32, b: w as u32);
shape!(DWWD, "dwwd", put_d, double -> u64, a: w as u32, b: w as u32, c: d as u64);
shape!(DDDP, "dddp", put_d, double -> u64, a: d as u64, b: d as u64, p: p as bool);
shape!(PWW, "pww", put_p, predicate -> bool, a: w as u32, b: w as u32);
shape!(PDD, "pdd", put_p, predicate -> bool, a: d as u64, b: d as u64);
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

shape!(PW, "pw", put_p, predicate -> bool, a: w as u32);
shape!(WP, "wp", put_w, word -> u32, a: p as bool);
shape!(PP, "pp", put_p, predicate -> bool, a: p as bool);
shape!(PPP, "ppp", put_p, predicate -> bool, a: p as bool, b: p as bool);
