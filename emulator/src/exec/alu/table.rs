//! The frequent register instructions, which are compiled into the interpreter's loop.
//!
//! Spellings are normalised by the lowering: `.rn` of single-precision add, sub and mul, `.ftz` and `.sat` are taken off
//! first. A name that begins with `@` is not PTX; the lowering makes it.

// "not greater" differs from "less or equal" where NaN is.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

use super::Form;
use super::bits::{lop3, permute};
use super::define::alu;
use super::float::{approximate, b, f, low, maximum, minimum, s16};
use super::half::{Bf16, F16, half_to_single, pair, single_to_bf16, single_to_half, two};
use super::shape::*;
use crate::exec::op::Op;
use crate::exec::registers::Registers;

alu! {
    /// A frequent register instruction with its operands.
    Alu, frequent;
    WW {
        Mov32: "mov.b32" | "mov.u32" | "mov.s32" | "mov.f32" | "mov.b16" | "mov.u16" | "mov.s16" | "mov.f16" | "mov.bf16"
            | "cvt.u32.u32" | "cvt.s32.s32"
            | "cvt.u32.s32" | "cvt.s32.u32" | "mov.b8" | "mov.f16x2" | "mov.bf16x2" => |x| x;
        Low16: "cvt.u16.u32" | "cvt.u16.s32" | "cvt.s16.u32" | "cvt.s16.s32" | "cvt.u16.u16" | "cvt.s16.s16"
            | "cvt.u16.s16" | "cvt.s16.u16" | "cvt.u32.u16" | "cvt.s32.u16" | "@low16" => |x| x & 0xffff;
        High16: "@high16" => |x| x >> 16;
        Low8: "cvt.u8.u32" | "cvt.u8.u16" | "cvt.u8.s32" | "cvt.u8.s16" | "cvt.u32.u8" | "cvt.s32.u8"
            | "cvt.u16.u8" | "cvt.s16.u8" => |x| x & 0xff;
        Extend16: "cvt.s32.s16" | "cvt.u32.s16" => |x| s16(x) as u32;
        Not32: "not.b32" => |x| !x;
        Neg32: "neg.s32" => |x| x.wrapping_neg();
        NegF32: "neg.f32" => |x| x ^ 1 << 31;
        AbsF32: "abs.f32" => |x| x & !(1 << 31);
        Exp2: "ex2.approx.f32" => |x| approximate(x, f64::exp2);
        F32FromS32: "cvt.rn.f32.s32" => |x| b(x as i32 as f32);
        F32FromU32: "cvt.rn.f32.u32" => |x| b(x as f32);
        S32FromF32: "cvt.rzi.s32.f32" => |x| f(x) as i32 as u32;
        U32FromF32: "cvt.rzi.u32.f32" => |x| f(x) as u32;
        F32FromF16: "cvt.f32.f16" => |x| b(half_to_single(x as u16));
        F32FromBf16: "cvt.f32.bf16" => |x| x << 16;
        F16FromF32: "cvt.rn.f16.f32" => |x| single_to_half(f(x)).into();
        Bf16FromF32: "cvt.rn.bf16.f32" => |x| single_to_bf16(f(x)).into();
    }
    WWW {
        Add32: "add.s32" | "add.u32" => |x, y| x.wrapping_add(y);
        Sub32: "sub.s32" | "sub.u32" => |x, y| x.wrapping_sub(y);
        Mul32: "mul.lo.s32" | "mul.lo.u32" => |x, y| x.wrapping_mul(y);
        MulHighU32: "mul.hi.u32" => |x, y| (u64::from(x) * u64::from(y) >> 32) as u32;
        And32: "and.b32" | "and.b16" => |x, y| x & y;
        Or32: "or.b32" | "or.b16" => |x, y| x | y;
        Xor32: "xor.b32" | "xor.b16" => |x, y| x ^ y;
        Shl32: "shl.b32" => |x, y| if y > 31 { 0 } else { x << (y & 31) };
        ShrU32: "shr.u32" | "shr.b32" => |x, y| if y > 31 { 0 } else { x >> (y & 31) };
        ShrS32: "shr.s32" => |x, y| ((x as i32) >> y.min(31)) as u32;
        MinS32: "min.s32" => |x, y| (x as i32).min(y as i32) as u32;
        MinU32: "min.u32" | "min.u16" => |x, y| x.min(y);
        MaxS32: "max.s32" => |x, y| (x as i32).max(y as i32) as u32;
        MaxU32: "max.u32" | "max.u16" => |x, y| x.max(y);
        AddF32: "add.f32" => |x, y| b(f(x) + f(y));
        SubF32: "sub.f32" => |x, y| b(f(x) - f(y));
        MulF32: "mul.f32" => |x, y| b(f(x) * f(y));
        MinF32: "min.f32" => minimum;
        MaxF32: "max.f32" => maximum;
        AddF16x2: "add.f16x2" | "add.rn.f16x2" => |x, y| pair(x, y, |x, y| two::<F16>(x, y, |x, y| x + y));
        MulF16x2: "mul.f16x2" | "mul.rn.f16x2" => |x, y| pair(x, y, |x, y| two::<F16>(x, y, |x, y| x * y));
        AddBf16x2: "add.bf16x2" | "add.rn.bf16x2" => |x, y| pair(x, y, |x, y| two::<Bf16>(x, y, |x, y| x + y));
        MulBf16x2: "mul.bf16x2" | "mul.rn.bf16x2" => |x, y| pair(x, y, |x, y| two::<Bf16>(x, y, |x, y| x * y));
        PackHalves: "@pack" => |x, y| low(x) | y << 16;
        F16x2FromF32: "cvt.rn.f16x2.f32" => |x, y| u32::from(single_to_half(f(x))) << 16 | u32::from(single_to_half(f(y)));
        Bf16x2FromF32: "cvt.rn.bf16x2.f32" => |x, y| {
            u32::from(single_to_bf16(f(x))) << 16 | u32::from(single_to_bf16(f(y)))
        };
    }
    WWWW {
        Mad32: "mad.lo.s32" | "mad.lo.u32" => |x, y, z| x.wrapping_mul(y).wrapping_add(z);
        FmaF32: "fma.rn.f32" | "mad.f32" | "mad.rn.f32" => |x, y, z| b(f(x).mul_add(f(y), f(z)));
        Permute: "prmt.b32" => permute;
        FunnelLeft: "shf.l.wrap.b32" => |x, y, z| ((u64::from(y) << 32 | u64::from(x)) << (z & 31) >> 32) as u32;
    }
    WWWWW {
        Lop3: "lop3.b32" => lop3;
    }
    WWWP {
        Select32: "selp.b32" | "selp.u32" | "selp.s32" | "selp.f32" | "selp.b16" | "selp.u16" | "selp.s16" | "selp.f16"
            | "selp.bf16" => |x, y, p| if p { x } else { y };
    }
    WD {
        Word: "cvt.u32.u64" | "cvt.u32.s64" | "cvt.s32.u64" | "cvt.s32.s64" | "@low32" => |x| x as u32;
        HighWord: "@high32" => |x| (x >> 32) as u32;
    }
    DW {
        Zero64: "cvt.u64.u32" | "cvt.s64.u32" => |x| x.into();
        Sign64: "cvt.s64.s32" | "cvt.u64.s32" => |x| x as i32 as i64 as u64;
    }
    DD {
        Mov64: "mov.b64" | "mov.u64" | "mov.s64" | "mov.f64" | "cvt.u64.u64" | "cvt.s64.s64" | "cvt.u64.s64"
            | "cvt.s64.u64" => |x| x;
    }
    DDD {
        Add64: "add.s64" | "add.u64" => |x, y| x.wrapping_add(y);
        Sub64: "sub.s64" | "sub.u64" => |x, y| x.wrapping_sub(y);
        Mul64: "mul.lo.s64" | "mul.lo.u64" => |x, y| x.wrapping_mul(y);
        And64: "and.b64" => |x, y| x & y;
        Or64: "or.b64" => |x, y| x | y;
        Xor64: "xor.b64" => |x, y| x ^ y;
    }
    DDDD {
        Mad64: "mad.lo.s64" | "mad.lo.u64" => |x, y, z| x.wrapping_mul(y).wrapping_add(z);
    }
    DDW {
        Shl64: "shl.b64" => |x, y| if y > 63 { 0 } else { x << y };
        ShrU64: "shr.u64" | "shr.b64" => |x, y| if y > 63 { 0 } else { x >> y };
        ShrS64: "shr.s64" => |x, y| ((x as i64) >> y.min(63)) as u64;
    }
    DWW {
        MulWideU32: "mul.wide.u32" => |x, y| u64::from(x) * u64::from(y);
        MulWideS32: "mul.wide.s32" => |x, y| (i64::from(x as i32) * i64::from(y as i32)) as u64;
        Pack64: "@pack64" => |x, y| u64::from(y) << 32 | u64::from(x);
    }
    DWWD {
        MadWideU32: "mad.wide.u32" => |x, y, z| (u64::from(x) * u64::from(y)).wrapping_add(z);
        MadWideS32: "mad.wide.s32" => |x, y, z| ((i64::from(x as i32) * i64::from(y as i32)) as u64).wrapping_add(z);
    }
    DDDP {
        Select64: "selp.b64" | "selp.u64" | "selp.s64" | "selp.f64" => |x, y, p| if p { x } else { y };
    }
    PWW {
        Eq32: "@eq.b32" => |x, y| x == y;
        Ne32: "@ne.b32" => |x, y| x != y;
        LtU32: "@lt.u32" => |x, y| x < y;
        LeU32: "@le.u32" => |x, y| x <= y;
        LtS32: "@lt.s32" => |x, y| (x as i32) < y as i32;
        LeS32: "@le.s32" => |x, y| x as i32 <= y as i32;
        EqF32: "@eq.f32" => |x, y| f(x) == f(y);
        LtF32: "@lt.f32" => |x, y| f(x) < f(y);
        LeF32: "@le.f32" => |x, y| f(x) <= f(y);
        NeuF32: "@neu.f32" => |x, y| f(x) != f(y);
        LtuF32: "@ltu.f32" => |x, y| !(f(y) <= f(x));
        LeuF32: "@leu.f32" => |x, y| !(f(y) < f(x));
    }
    PDD {
        Eq64: "@eq.b64" => |x, y| x == y;
        Ne64: "@ne.b64" => |x, y| x != y;
        LtU64: "@lt.u64" => |x, y| x < y;
        LeU64: "@le.u64" => |x, y| x <= y;
        LtS64: "@lt.s64" => |x, y| (x as i64) < y as i64;
        LeS64: "@le.s64" => |x, y| x as i64 <= y as i64;
    }
    PP {
        MovP: "mov.pred" => |p| p;
        NotP: "not.pred" => |p| !p;
    }
    PPP {
        AndP: "and.pred" => |p, q| p & q;
        OrP: "or.pred" => |p, q| p | q;
        XorP: "xor.pred" => |p, q| p ^ q;
    }
}

impl Alu {
    /// Makes a comparison write the predicate `to` instead of `from`; false if it writes something else.
    pub fn retarget(&mut self, from: u32, to: u32) -> bool {
        match self {
            Alu::Eq32(o)
            | Alu::Ne32(o)
            | Alu::LtU32(o)
            | Alu::LeU32(o)
            | Alu::LtS32(o)
            | Alu::LeS32(o)
            | Alu::EqF32(o)
            | Alu::LtF32(o)
            | Alu::LeF32(o)
            | Alu::NeuF32(o)
            | Alu::LtuF32(o)
            | Alu::LeuF32(o) => o.retarget(from, to),
            Alu::Eq64(o) | Alu::Ne64(o) | Alu::LtU64(o) | Alu::LeU64(o) | Alu::LtS64(o) | Alu::LeS64(o) => {
                o.retarget(from, to)
            }
            _ => false,
        }
    }
}
