//! The other register instructions. They are compiled apart from the interpreter's loop, which keeps it small.
//!
//! For the spellings see [`super::table`].

// "not greater" differs from "less or equal" where NaN is.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

use half::f16;

use super::Form;
use super::bits::{
    clamped, differences4, dot2, dot4, extract, extract_signed, find, find_nth, insert, permute, permute_mode,
};
use super::define::alu;
use super::float::{
    Direction::{self, Down, Up, Zero},
    approximate, b, c, directed, directed_double, divide, f, flush, g, low, maximum, minimum, or_nan, s16, saturate,
};
use super::half::{
    Bf16, F16, extreme, extreme_nan, fma, fma_pair, fma_relu, half_to_single, pair, single_to_bf16, single_to_half, two,
};
use super::shape::*;
use crate::exec::op::Op;
use crate::exec::registers::Registers;
use crate::tensor::format::{E2M1, E2M3, E3M2, E4M3, E5M2, Narrow, tf32, to_ue8m0, ue8m0};

fn narrow_pair(format: Narrow, high: u32, low: u32) -> u32 {
    u32::from(format.encode(f(high))) << 8 | u32::from(format.encode(f(low)))
}

fn nibble_pair(high: u32, low: u32) -> u32 {
    u32::from(E2M1.encode(f(high))) << 4 | u32::from(E2M1.encode(f(low)))
}

fn widen_pair(format: Narrow, codes: u32) -> u32 {
    let half = |code: u32| u32::from(single_to_half(format.decode(code as u8)));
    half(codes & 0xff) | half(codes >> 8 & 0xff) << 16
}

fn scale_pair(high: u32, low: u32, up: bool) -> u32 {
    u32::from(to_ue8m0(f(high), up)) << 8 | u32::from(to_ue8m0(f(low), up))
}

fn sum(x: u64, y: u64, direction: Direction) -> u64 {
    let (x, y) = (g(x), g(y));
    let near = x + y;
    // What `near` leaves of the exact sum (Knuth's two-sum).
    let back = near - x;
    c(directed_double(near, (x - (near - back)) + (y - back), direction))
}

fn product(x: u64, y: u64, direction: Direction) -> u64 {
    let near = g(x) * g(y);
    c(directed_double(near, g(x).mul_add(g(y), -near), direction))
}

fn quotient(x: u64, y: u64, direction: Direction) -> u64 {
    let near = g(x) / g(y);
    let rest = (-near).mul_add(g(y), g(x));
    c(directed_double(near, if g(y) < 0.0 { -rest } else { rest }, direction))
}

fn relu(x: f32) -> f32 {
    if x > 0.0 || x.is_nan() { x } else { 0.0 }
}

alu! {
    /// A less frequent register instruction with its operands.
    Rare, rare;
    WW {
        Extend8: "cvt.s32.s8" | "cvt.s8.s32" | "cvt.u32.s8" => |x| x as i8 as i32 as u32;
        Extend8To16: "cvt.s16.s8" | "cvt.u16.s8" => |x| low(x as i8 as i32 as u32);
        Not16: "not.b16" => |x| !x & 0xffff;
        Neg16: "neg.s16" => |x| low(x.wrapping_neg());
        Abs32: "abs.s32" => |x| (x as i32).wrapping_abs() as u32;
        Abs16: "abs.s16" => |x| low(s16(x).unsigned_abs());
        CNot32: "cnot.b32" => |x| u32::from(x == 0);
        Popc32: "popc.b32" => |x| x.count_ones();
        Clz32: "clz.b32" => |x| x.leading_zeros();
        Reverse32: "brev.b32" => |x| x.reverse_bits();
        FindU32: "bfind.u32" => |x| find(x.into(), 32, false, false);
        FindS32: "bfind.s32" => |x| find(x.into(), 32, true, false);
        FindShiftU32: "bfind.shiftamt.u32" => |x| find(x.into(), 32, false, true);
        FindShiftS32: "bfind.shiftamt.s32" => |x| find(x.into(), 32, true, true);
        NegF16: "neg.f16" | "neg.bf16" => |x| x ^ 0x8000;
        AbsF16: "abs.f16" | "abs.bf16" => |x| x & 0x7fff;
        NegF16x2: "neg.f16x2" | "neg.bf16x2" => |x| x ^ 0x8000_8000;
        AbsF16x2: "abs.f16x2" | "abs.bf16x2" => |x| x & 0x7fff_7fff;
        Flush: "@flush" => flush;
        Saturate: "@saturate" => saturate;
        FlushF16x2: "@flush.f16x2" => |x| pair(x, 0, |x, _| if x & 0x7c00 == 0 { x & 0x8000 } else { x });
        SaturateF16x2: "@saturate.f16x2" => |x| pair(x, 0, |x, _| match x {
            0..0x3c00 => x,
            0x3c00..=0x7c00 => 0x3c00,
            _ => 0,
        });
        ReluF16x2: "@relu.f16x2" => |x| pair(x, 0, |x, _| if x & 0x8000 != 0 { 0 } else { x });
        Sqrt: "sqrt.rn.f32" | "sqrt.approx.f32" => |x| b(f(x).sqrt());
        SqrtZero: "sqrt.rz.f32" => |x| b(directed(f64::from(f(x)).sqrt(), 0.0, Zero));
        SqrtDown: "sqrt.rm.f32" => |x| b(directed(f64::from(f(x)).sqrt(), 0.0, Down));
        SqrtUp: "sqrt.rp.f32" => |x| b(directed(f64::from(f(x)).sqrt(), 0.0, Up));
        ReciprocalZero: "rcp.rz.f32" => |x| b(directed(1.0 / f64::from(f(x)), 0.0, Zero));
        ReciprocalDown: "rcp.rm.f32" => |x| b(directed(1.0 / f64::from(f(x)), 0.0, Down));
        ReciprocalUp: "rcp.rp.f32" => |x| b(directed(1.0 / f64::from(f(x)), 0.0, Up));
        Reciprocal: "rcp.rn.f32" | "rcp.approx.f32" => |x| b(1.0 / f(x));
        ReciprocalSqrt: "rsqrt.approx.f32" => |x| approximate(x, |x| 1.0 / x.sqrt());
        Log2: "lg2.approx.f32" => |x| approximate(x, f64::log2);
        Sine: "sin.approx.f32" => |x| approximate(x, f64::sin);
        Cosine: "cos.approx.f32" => |x| approximate(x, f64::cos);
        Tanh: "tanh.approx.f32" => |x| approximate(x, f64::tanh);
        Exp2F16: "ex2.approx.f16" => |x| two::<F16>(x, 0, |x, _| x.exp2());
        Exp2F16x2: "ex2.approx.f16x2" => |x| pair(x, 0, |x, y| two::<F16>(x, y, |x, _| x.exp2()));
        Exp2Bf16: "ex2.approx.bf16" => |x| two::<Bf16>(x, 0, |x, _| x.exp2());
        Exp2Bf16x2: "ex2.approx.bf16x2" => |x| pair(x, 0, |x, y| two::<Bf16>(x, y, |x, _| x.exp2()));
        TanhF16: "tanh.approx.f16" => |x| two::<F16>(x, 0, |x, _| x.tanh());
        TanhBf16: "tanh.approx.bf16" => |x| two::<Bf16>(x, 0, |x, _| x.tanh());
        TanhF16x2: "tanh.approx.f16x2" => |x| pair(x, 0, |x, y| two::<F16>(x, y, |x, _| x.tanh()));
        TanhBf16x2: "tanh.approx.bf16x2" => |x| pair(x, 0, |x, y| two::<Bf16>(x, y, |x, _| x.tanh()));
        F32FromU16: "cvt.rn.f32.u16" => |x| b(low(x) as f32);
        F32FromS16: "cvt.rn.f32.s16" => |x| b(s16(x) as f32);
        Floor: "cvt.rmi.f32.f32" => |x| b(f(x).floor());
        Ceil: "cvt.rpi.f32.f32" => |x| b(f(x).ceil());
        Round: "cvt.rni.f32.f32" => |x| b(f(x).round_ties_even());
        Truncate: "cvt.rzi.f32.f32" => |x| b(f(x).trunc());
        Tf32: "cvt.rna.tf32.f32" | "cvt.rna.satfinite.tf32.f32" => |x| tf32(x, true);
        Tf32Even: "cvt.rn.tf32.f32" | "cvt.rn.satfinite.tf32.f32" => |x| tf32(x, false);
        F16FromE4M3: "cvt.rn.f16x2.e4m3x2" => |x| widen_pair(E4M3, x);
        F16FromE5M2: "cvt.rn.f16x2.e5m2x2" => |x| widen_pair(E5M2, x);
        F16FromE2M3: "cvt.rn.f16x2.e2m3x2" => |x| widen_pair(E2M3, x);
        F16FromE3M2: "cvt.rn.f16x2.e3m2x2" => |x| widen_pair(E3M2, x);
        F16FromE2M1: "cvt.rn.f16x2.e2m1x2" => |x| widen_pair(E2M1, x & 0xf | (x & 0xf0) << 4);
        Bf16FromUe8m0: "cvt.rn.bf16x2.ue8m0x2" => |x| {
            u32::from(single_to_bf16(ue8m0(x as u8))) | u32::from(single_to_bf16(ue8m0((x >> 8) as u8))) << 16
        };
        E4M3FromF16: "cvt.rn.satfinite.e4m3x2.f16x2" => |x| {
            narrow_pair(E4M3, b(half_to_single((x >> 16) as u16)), b(half_to_single(x as u16)))
        };
        E5M2FromF16: "cvt.rn.satfinite.e5m2x2.f16x2" => |x| {
            narrow_pair(E5M2, b(half_to_single((x >> 16) as u16)), b(half_to_single(x as u16)))
        };
    }
    WWW {
        AddSat32: "@saturate.add.s32" => |x, y| (x as i32).saturating_add(y as i32) as u32;
        MulHighS32: "mul.hi.s32" => |x, y| (i64::from(x as i32) * i64::from(y as i32) >> 32) as u32;
        DivS32: "div.s32" => |x, y| if y == 0 { u32::MAX } else { (x as i32).wrapping_div(y as i32) as u32 };
        DivU32: "div.u32" => |x, y| x.checked_div(y).unwrap_or(u32::MAX);
        DivU16: "div.u16" => |x, y| x.checked_div(y).unwrap_or(0xffff);
        RemS32: "rem.s32" => |x, y| if y == 0 { x } else { (x as i32).wrapping_rem(y as i32) as u32 };
        RemU32: "rem.u32" | "rem.u16" => |x, y| x.checked_rem(y).unwrap_or(x);
        Add16: "add.s16" | "add.u16" => |x, y| low(x.wrapping_add(y));
        Add16x2: "add.s16x2" | "add.u16x2" => |x, y| pair(x, y, |x, y| x.wrapping_add(y));
        Sub16: "sub.s16" | "sub.u16" => |x, y| low(x.wrapping_sub(y));
        Mul16: "mul.lo.s16" | "mul.lo.u16" => |x, y| low(x.wrapping_mul(y));
        MulHighU16: "mul.hi.u16" => |x, y| x.wrapping_mul(y) >> 16;
        MulHighS16: "mul.hi.s16" => |x, y| low((s16(x) * s16(y) >> 16) as u32);
        MulWideU16: "mul.wide.u16" => |x, y| low(x).wrapping_mul(low(y));
        MulWideS16: "mul.wide.s16" => |x, y| s16(x).wrapping_mul(s16(y)) as u32;
        Shl16: "shl.b16" => |x, y| if y > 15 { 0 } else { low(x << y) };
        ShrU16: "shr.u16" | "shr.b16" => |x, y| if y > 15 { 0 } else { low(x) >> y };
        ShrS16: "shr.s16" => |x, y| low((s16(x) >> y.min(15)) as u32);
        MinS16: "min.s16" => |x, y| low(s16(x).min(s16(y)) as u32);
        MaxS16: "max.s16" => |x, y| low(s16(x).max(s16(y)) as u32);
        DivS16: "div.s16" => |x, y| if y == 0 { 0xffff } else { low((s16(x) / s16(y)) as u32) };
        RemS16: "rem.s16" => |x, y| if y == 0 { x } else { low((s16(x) % s16(y)) as u32) };
        AddFtzF32: "@ftz.add.f32" => |x, y| flush(b(f(flush(x)) + f(flush(y))));
        SubFtzF32: "@ftz.sub.f32" => |x, y| flush(b(f(flush(x)) - f(flush(y))));
        MulFtzF32: "@ftz.mul.f32" => |x, y| flush(b(f(flush(x)) * f(flush(y))));
        DivF32: "div.rn.f32" | "div.full.f32" | "div.approx.f32" => divide;
        DivZeroF32: "div.rz.f32" => |x, y| b(directed(f64::from(f(x)) / f64::from(f(y)), 0.0, Zero));
        DivDownF32: "div.rm.f32" => |x, y| b(directed(f64::from(f(x)) / f64::from(f(y)), 0.0, Down));
        DivUpF32: "div.rp.f32" => |x, y| b(directed(f64::from(f(x)) / f64::from(f(y)), 0.0, Up));
        MinNanF32: "min.NaN.f32" => |x, y| or_nan(x, y, minimum(x, y));
        MaxNanF32: "max.NaN.f32" => |x, y| or_nan(x, y, maximum(x, y));
        CopySign: "copysign.f32" => |x, y| y & 0x7fff_ffff | x & 0x8000_0000;
        AddZeroF32: "add.rz.f32" => |x, y| b(directed(f(x).into(), f(y).into(), Zero));
        AddDownF32: "add.rm.f32" => |x, y| b(directed(f(x).into(), f(y).into(), Down));
        AddUpF32: "add.rp.f32" => |x, y| b(directed(f(x).into(), f(y).into(), Up));
        SubZeroF32: "sub.rz.f32" => |x, y| b(directed(f(x).into(), (-f(y)).into(), Zero));
        SubDownF32: "sub.rm.f32" => |x, y| b(directed(f(x).into(), (-f(y)).into(), Down));
        SubUpF32: "sub.rp.f32" => |x, y| b(directed(f(x).into(), (-f(y)).into(), Up));
        MulZeroF32: "mul.rz.f32" => |x, y| b(directed(f64::from(f(x)) * f64::from(f(y)), 0.0, Zero));
        MulDownF32: "mul.rm.f32" => |x, y| b(directed(f64::from(f(x)) * f64::from(f(y)), 0.0, Down));
        MulUpF32: "mul.rp.f32" => |x, y| b(directed(f64::from(f(x)) * f64::from(f(y)), 0.0, Up));
        AddF16: "add.f16" | "add.rn.f16" => |x, y| two::<F16>(x, y, |x, y| x + y);
        SubF16: "sub.f16" | "sub.rn.f16" => |x, y| two::<F16>(x, y, |x, y| x - y);
        MulF16: "mul.f16" | "mul.rn.f16" => |x, y| two::<F16>(x, y, |x, y| x * y);
        AddBf16: "add.bf16" | "add.rn.bf16" => |x, y| two::<Bf16>(x, y, |x, y| x + y);
        SubBf16: "sub.bf16" | "sub.rn.bf16" => |x, y| two::<Bf16>(x, y, |x, y| x - y);
        MulBf16: "mul.bf16" | "mul.rn.bf16" => |x, y| two::<Bf16>(x, y, |x, y| x * y);
        SubF16x2: "sub.f16x2" | "sub.rn.f16x2" => |x, y| pair(x, y, |x, y| two::<F16>(x, y, |x, y| x - y));
        SubBf16x2: "sub.bf16x2" | "sub.rn.bf16x2" => |x, y| pair(x, y, |x, y| two::<Bf16>(x, y, |x, y| x - y));
        MinF16: "min.f16" => |x, y| extreme::<F16>(x, y, minimum);
        MaxF16: "max.f16" => |x, y| extreme::<F16>(x, y, maximum);
        MinBf16: "min.bf16" => |x, y| extreme::<Bf16>(x, y, minimum);
        MaxBf16: "max.bf16" => |x, y| extreme::<Bf16>(x, y, maximum);
        MinNanF16: "min.NaN.f16" => |x, y| extreme_nan::<F16>(x, y, minimum);
        MaxNanF16: "max.NaN.f16" => |x, y| extreme_nan::<F16>(x, y, maximum);
        MinNanBf16: "min.NaN.bf16" => |x, y| extreme_nan::<Bf16>(x, y, minimum);
        MaxNanBf16: "max.NaN.bf16" => |x, y| extreme_nan::<Bf16>(x, y, maximum);
        MinNanF16x2: "min.NaN.f16x2" => |x, y| pair(x, y, |x, y| extreme_nan::<F16>(x, y, minimum));
        MaxNanF16x2: "max.NaN.f16x2" => |x, y| pair(x, y, |x, y| extreme_nan::<F16>(x, y, maximum));
        MinNanBf16x2: "min.NaN.bf16x2" => |x, y| pair(x, y, |x, y| extreme_nan::<Bf16>(x, y, minimum));
        MaxNanBf16x2: "max.NaN.bf16x2" => |x, y| pair(x, y, |x, y| extreme_nan::<Bf16>(x, y, maximum));
        MinU16x2: "min.u16x2" => |x, y| pair(x, y, u32::min);
        MaxU16x2: "max.u16x2" => |x, y| pair(x, y, u32::max);
        MinS16x2: "min.s16x2" => |x, y| pair(x, y, |x, y| s16(x).min(s16(y)) as u32);
        MaxS16x2: "max.s16x2" => |x, y| pair(x, y, |x, y| s16(x).max(s16(y)) as u32);
        ExtendClampU32: "szext.clamp.u32" => |x, y| clamped(x, y, false);
        ExtendClampS32: "szext.clamp.s32" => |x, y| clamped(x, y, true);
        ExtendWrapU32: "szext.wrap.u32" => |x, y| clamped(x, y & 31, false);
        ExtendWrapS32: "szext.wrap.s32" => |x, y| clamped(x, y & 31, true);
        MinF16x2: "min.f16x2" => |x, y| pair(x, y, |x, y| extreme::<F16>(x, y, minimum));
        MaxF16x2: "max.f16x2" => |x, y| pair(x, y, |x, y| extreme::<F16>(x, y, maximum));
        MinBf16x2: "min.bf16x2" => |x, y| pair(x, y, |x, y| extreme::<Bf16>(x, y, minimum));
        MaxBf16x2: "max.bf16x2" => |x, y| pair(x, y, |x, y| extreme::<Bf16>(x, y, maximum));
        F16x2ReluFromF32: "cvt.rn.relu.f16x2.f32" => |x, y| {
            u32::from(single_to_half(relu(f(x)))) << 16 | u32::from(single_to_half(relu(f(y))))
        };
        Bf16x2ReluFromF32: "cvt.rn.relu.bf16x2.f32" => |x, y| {
            u32::from(single_to_bf16(relu(f(x)))) << 16 | u32::from(single_to_bf16(relu(f(y))))
        };
        F16x2ZeroFromF32: "cvt.rz.f16x2.f32" => |x, y| {
            let zero = |x: u32| {
                let near = f16::from_f32(f(x));
                let beyond = near.to_f32().abs() > f(x).abs();
                u32::from(near.to_bits() - u16::from(beyond))
            };
            zero(x) << 16 | zero(y)
        };
        Bf16x2ZeroFromF32: "cvt.rz.bf16x2.f32" => |x, y| x & 0xffff_0000 | y >> 16;
        E4M3FromF32: "cvt.rn.satfinite.e4m3x2.f32" => |x, y| narrow_pair(E4M3, x, y);
        E5M2FromF32: "cvt.rn.satfinite.e5m2x2.f32" => |x, y| narrow_pair(E5M2, x, y);
        E2M3FromF32: "cvt.rn.satfinite.e2m3x2.f32" => |x, y| narrow_pair(E2M3, x, y);
        E3M2FromF32: "cvt.rn.satfinite.e3m2x2.f32" => |x, y| narrow_pair(E3M2, x, y);
        E2M1FromF32: "cvt.rn.satfinite.e2m1x2.f32" => nibble_pair;
        Ue8m0UpFromF32: "cvt.rp.satfinite.ue8m0x2.f32" => |x, y| scale_pair(x, y, true);
        Ue8m0FromF32: "cvt.rz.satfinite.ue8m0x2.f32" => |x, y| scale_pair(x, y, false);
        AbsDiffU32: "@sad.u32" => |x, y| x.abs_diff(y);
        BitMask: "bmsk.clamp.b32" => |x, y| if x > 31 { 0 } else { (((1u64 << y.min(32)) - 1) << x) as u32 };
    }
    WWWW {
        MadHighU32: "mad.hi.u32" => |x, y, z| ((u64::from(x) * u64::from(y) >> 32) as u32).wrapping_add(z);
        MadHighS32: "mad.hi.s32" => |x, y, z| ((i64::from(x as i32) * i64::from(y as i32) >> 32) as u32).wrapping_add(z);
        Mad16: "mad.lo.s16" | "mad.lo.u16" => |x, y, z| low(x.wrapping_mul(y).wrapping_add(z));
        MadWideU16: "mad.wide.u16" => |x, y, z| low(x).wrapping_mul(low(y)).wrapping_add(z);
        MadWideS16: "mad.wide.s16" => |x, y, z| (s16(x).wrapping_mul(s16(y)) as u32).wrapping_add(z);
        SadU32: "sad.u32" => |x, y, z| x.abs_diff(y).wrapping_add(z);
        SadS32: "sad.s32" => |x, y, z| (x as i32).abs_diff(y as i32).wrapping_add(z);
        FmaFtzF32: "@ftz.fma.rn.f32" => |x, y, z| flush(b(f(flush(x)).mul_add(f(flush(y)), f(flush(z)))));
        FmaZeroF32: "fma.rz.f32" => |x, y, z| b(directed(f64::from(f(x)) * f64::from(f(y)), f(z).into(), Zero));
        FmaDownF32: "fma.rm.f32" => |x, y, z| b(directed(f64::from(f(x)) * f64::from(f(y)), f(z).into(), Down));
        FmaUpF32: "fma.rp.f32" => |x, y, z| b(directed(f64::from(f(x)) * f64::from(f(y)), f(z).into(), Up));
        FmaF16: "fma.rn.f16" => fma::<F16>;
        FmaBf16: "fma.rn.bf16" => fma::<Bf16>;
        FmaReluF16: "fma.rn.relu.f16" => fma_relu::<F16>;
        FmaReluBf16: "fma.rn.relu.bf16" => fma_relu::<Bf16>;
        FmaReluF16x2: "fma.rn.relu.f16x2" => |x, y, z| {
            fma_relu::<F16>(low(x), low(y), low(z)) | fma_relu::<F16>(x >> 16, y >> 16, z >> 16) << 16
        };
        FmaReluBf16x2: "fma.rn.relu.bf16x2" => |x, y, z| {
            fma_relu::<Bf16>(low(x), low(y), low(z)) | fma_relu::<Bf16>(x >> 16, y >> 16, z >> 16) << 16
        };
        FmaF16x2: "fma.rn.f16x2" => fma_pair::<F16>;
        FmaBf16x2: "fma.rn.bf16x2" => fma_pair::<Bf16>;
        Min3S32: "min3.s32" => |x, y, z| (x as i32).min(y as i32).min(z as i32) as u32;
        Min3F32: "min.f32.3" => |x, y, z| minimum(minimum(x, y), z);
        Max3F32: "max.f32.3" => |x, y, z| maximum(maximum(x, y), z);
        ExtractU32: "bfe.u32" => |x, y, z| extract(x.into(), y, z, 32) as u32;
        ExtractS32: "bfe.s32" => |x, y, z| extract_signed(x.into(), y, z, 32) as u32;
        PermuteF4e: "prmt.b32.f4e" => |x, y, z| permute(x, y, permute_mode("f4e", z));
        PermuteB4e: "prmt.b32.b4e" => |x, y, z| permute(x, y, permute_mode("b4e", z));
        PermuteRc8: "prmt.b32.rc8" => |x, y, z| permute(x, y, permute_mode("rc8", z));
        PermuteEcl: "prmt.b32.ecl" => |x, y, z| permute(x, y, permute_mode("ecl", z));
        PermuteEcr: "prmt.b32.ecr" => |x, y, z| permute(x, y, permute_mode("ecr", z));
        PermuteRc16: "prmt.b32.rc16" => |x, y, z| permute(x, y, permute_mode("rc16", z));
        FunnelRight: "shf.r.wrap.b32" => |x, y, z| ((u64::from(y) << 32 | u64::from(x)) >> (z & 31)) as u32;
        FunnelLeftClamp: "shf.l.clamp.b32" => |x, y, z| {
            ((u64::from(y) << 32 | u64::from(x)) << z.min(32) >> 32) as u32
        };
        FunnelRightClamp: "shf.r.clamp.b32" => |x, y, z| ((u64::from(y) << 32 | u64::from(x)) >> z.min(32)) as u32;
        Dot4UU: "dp4a.u32.u32" => |x, y, z| dot4(x, y, z, false, false);
        Dot4SS: "dp4a.s32.s32" => |x, y, z| dot4(x, y, z, true, true);
        Dot4SU: "dp4a.s32.u32" => |x, y, z| dot4(x, y, z, true, false);
        Dot4US: "dp4a.u32.s32" => |x, y, z| dot4(x, y, z, false, true);
        Dot2LowUU: "dp2a.lo.u32.u32" => |x, y, z| dot2(x, y & 0xffff, z, false, false);
        Dot2LowSS: "dp2a.lo.s32.s32" => |x, y, z| dot2(x, y & 0xffff, z, true, true);
        Dot2LowSU: "dp2a.lo.s32.u32" => |x, y, z| dot2(x, y & 0xffff, z, true, false);
        Dot2LowUS: "dp2a.lo.u32.s32" => |x, y, z| dot2(x, y & 0xffff, z, false, true);
        Dot2HighUU: "dp2a.hi.u32.u32" => |x, y, z| dot2(x, y >> 16, z, false, false);
        Dot2HighSS: "dp2a.hi.s32.s32" => |x, y, z| dot2(x, y >> 16, z, true, true);
        Dot2HighSU: "dp2a.hi.s32.u32" => |x, y, z| dot2(x, y >> 16, z, true, false);
        Dot2HighUS: "dp2a.hi.u32.s32" => |x, y, z| dot2(x, y >> 16, z, false, true);
        AbsDiff4: "vabsdiff4.u32.u32.u32" => |x, y, _| u32::from_le_bytes(differences4(x, y));
        AbsDiff4Add: "vabsdiff4.u32.u32.u32.add" => |x, y, z| {
            differences4(x, y).into_iter().fold(z, |sum, byte| sum.wrapping_add(byte.into()))
        };
        FindNth: "fns.b32" => find_nth;
        SelectSign: "slct.b32.s32" | "slct.u32.s32" | "slct.s32.s32" | "slct.f32.s32" => |x, y, z| {
            if z as i32 >= 0 { x } else { y }
        };
        SelectSignF32: "slct.b32.f32" | "slct.f32.f32" => |x, y, z| if f(z) >= 0.0 { x } else { y };
    }
    WWWWW {
        Insert32: "bfi.b32" => |x, y, z, w| insert(x.into(), y.into(), z, w, 32) as u32;
    }
    WD {
        Low16Of64: "cvt.u16.u64" | "cvt.u16.s64" | "cvt.s16.u64" | "cvt.s16.s64" => |x| low(x as u32);
        Low8Of64: "cvt.u8.u64" | "cvt.u8.s64" => |x| x as u32 & 0xff;
        Popc64: "popc.b64" => |x| x.count_ones();
        Clz64: "clz.b64" => |x| x.leading_zeros();
        FindU64: "bfind.u64" => |x| find(x, 64, false, false);
        FindS64: "bfind.s64" => |x| find(x, 64, true, false);
        F32FromF64: "cvt.rn.f32.f64" => |x| b(g(x) as f32);
        S32FromF64: "cvt.rzi.s32.f64" => |x| g(x) as i32 as u32;
        U32FromF64: "cvt.rzi.u32.f64" => |x| g(x) as u32;
        F32FromS64: "cvt.rn.f32.s64" => |x| b(x as i64 as f32);
        F32FromU64: "cvt.rn.f32.u64" => |x| b(x as f32);
    }
    DW {
        Zero64Of16: "cvt.u64.u16" | "cvt.s64.u16" => |x| low(x).into();
        Zero64Of8: "cvt.u64.u8" | "cvt.s64.u8" => |x| (x & 0xff).into();
        Sign64Of16: "cvt.s64.s16" | "cvt.u64.s16" => |x| x as i16 as i64 as u64;
        Sign64Of8: "cvt.s64.s8" | "cvt.u64.s8" => |x| x as i8 as i64 as u64;
        F64FromF32: "cvt.f64.f32" => |x| c(f(x).into());
        F64FromS32: "cvt.rn.f64.s32" => |x| c((x as i32).into());
        F64FromU32: "cvt.rn.f64.u32" => |x| c(x.into());
    }
    DD {
        Not64: "not.b64" => |x| !x;
        Neg64: "neg.s64" => |x| x.wrapping_neg();
        Abs64: "abs.s64" => |x| (x as i64).wrapping_abs() as u64;
        Reverse64: "brev.b64" => |x| x.reverse_bits();
        NegF64: "neg.f64" => |x| x ^ 1 << 63;
        AbsF64: "abs.f64" => |x| x & !(1 << 63);
        SqrtF64: "sqrt.rn.f64" => |x| c(g(x).sqrt());
        ReciprocalF64: "rcp.rn.f64" => |x| c(1.0 / g(x));
        ReciprocalApproxF64: "rcp.approx.f64" => |x| c(1.0 / g(x)) & 0xffff_ffff_0000_0000;
        ReciprocalSqrtF64: "rsqrt.approx.f64" => |x| c(1.0 / g(x).sqrt()) & 0xffff_ffff_0000_0000;
        F64FromS64: "cvt.rn.f64.s64" => |x| c(x as i64 as f64);
        F64FromU64: "cvt.rn.f64.u64" => |x| c(x as f64);
        S64FromF64: "cvt.rzi.s64.f64" => |x| g(x) as i64 as u64;
        U64FromF64: "cvt.rzi.u64.f64" => |x| g(x) as u64;
    }
    DDD {
        MulHighU64: "mul.hi.u64" => |x, y| (u128::from(x) * u128::from(y) >> 64) as u64;
        MulHighS64: "mul.hi.s64" => |x, y| (i128::from(x as i64) * i128::from(y as i64) >> 64) as u64;
        MinS64: "min.s64" => |x, y| (x as i64).min(y as i64) as u64;
        MinU64: "min.u64" => |x, y| x.min(y);
        MaxS64: "max.s64" => |x, y| (x as i64).max(y as i64) as u64;
        MaxU64: "max.u64" => |x, y| x.max(y);
        DivS64: "div.s64" => |x, y| if y == 0 { u64::MAX } else { (x as i64).wrapping_div(y as i64) as u64 };
        DivU64: "div.u64" => |x, y| x.checked_div(y).unwrap_or(u64::MAX);
        RemS64: "rem.s64" => |x, y| if y == 0 { x } else { (x as i64).wrapping_rem(y as i64) as u64 };
        RemU64: "rem.u64" => |x, y| x.checked_rem(y).unwrap_or(x);
        AddF64: "add.f64" | "add.rn.f64" => |x, y| c(g(x) + g(y));
        SubF64: "sub.f64" | "sub.rn.f64" => |x, y| c(g(x) - g(y));
        MulF64: "mul.f64" | "mul.rn.f64" => |x, y| c(g(x) * g(y));
        DivF64: "div.rn.f64" => |x, y| c(g(x) / g(y));
        CopySignF64: "copysign.f64" => |x, y| y & !(1 << 63) | x & 1 << 63;
        AddZeroF64: "add.rz.f64" => |x, y| sum(x, y, Zero);
        AddDownF64: "add.rm.f64" => |x, y| sum(x, y, Down);
        AddUpF64: "add.rp.f64" => |x, y| sum(x, y, Up);
        SubZeroF64: "sub.rz.f64" => |x, y| sum(x, y ^ 1 << 63, Zero);
        SubDownF64: "sub.rm.f64" => |x, y| sum(x, y ^ 1 << 63, Down);
        SubUpF64: "sub.rp.f64" => |x, y| sum(x, y ^ 1 << 63, Up);
        MulZeroF64: "mul.rz.f64" => |x, y| product(x, y, Zero);
        MulDownF64: "mul.rm.f64" => |x, y| product(x, y, Down);
        MulUpF64: "mul.rp.f64" => |x, y| product(x, y, Up);
        DivZeroF64: "div.rz.f64" => |x, y| quotient(x, y, Zero);
        DivDownF64: "div.rm.f64" => |x, y| quotient(x, y, Down);
        DivUpF64: "div.rp.f64" => |x, y| quotient(x, y, Up);
        MinF64: "min.f64" => |x, y| c(g(x).min(g(y)));
        MaxF64: "max.f64" => |x, y| c(g(x).max(g(y)));
        AddF32x2: "add.rn.f32x2" | "add.f32x2" => |x, y| lanes2(|h| b(f(h(x)) + f(h(y))));
        MulF32x2: "mul.rn.f32x2" | "mul.f32x2" => |x, y| lanes2(|h| b(f(h(x)) * f(h(y))));
    }
    DDDD {
        FmaF64: "fma.rn.f64" => |x, y, z| c(g(x).mul_add(g(y), g(z)));
        FmaF32x2: "fma.rn.f32x2" => |x, y, z| lanes2(|h| b(f(h(x)).mul_add(f(h(y)), f(h(z)))));
    }
    DDWW {
        ExtractU64: "bfe.u64" => |x, y, z| extract(x, y, z, 64);
        ExtractS64: "bfe.s64" => |x, y, z| extract_signed(x, y, z, 64);
    }
    DDDWW {
        Insert64: "bfi.b64" => |x, y, z, w| insert(x, y, z, w, 64);
    }
    PWW {
        LtS16: "@lt.s16" => |x, y| s16(x) < s16(y);
        LeS16: "@le.s16" => |x, y| s16(x) <= s16(y);
        NeF32: "@ne.f32" => |x, y| f(x) < f(y) || f(x) > f(y);
        EquF32: "@equ.f32" => |x, y| !(f(x) < f(y) || f(x) > f(y));
        NumF32: "@num.f32" => |x, y| !f(x).is_nan() && !f(y).is_nan();
        NanF32: "@nan.f32" => |x, y| f(x).is_nan() || f(y).is_nan();
    }
    PDD {
        EqF64: "@eq.f64" => |x, y| g(x) == g(y);
        NeF64: "@ne.f64" => |x, y| g(x) < g(y) || g(x) > g(y);
        LtF64: "@lt.f64" => |x, y| g(x) < g(y);
        LeF64: "@le.f64" => |x, y| g(x) <= g(y);
        EquF64: "@equ.f64" => |x, y| !(g(x) < g(y) || g(x) > g(y));
        NeuF64: "@neu.f64" => |x, y| g(x) != g(y);
        LtuF64: "@ltu.f64" => |x, y| !(g(y) <= g(x));
        LeuF64: "@leu.f64" => |x, y| !(g(y) < g(x));
        NumF64: "@num.f64" => |x, y| !g(x).is_nan() && !g(y).is_nan();
        NanF64: "@nan.f64" => |x, y| g(x).is_nan() || g(y).is_nan();
    }
    PW {
        NonZero: "@nonzero" => |x| x != 0;
        FiniteF32: "testp.finite.f32" => |x| f(x).is_finite();
        InfiniteF32: "testp.infinite.f32" => |x| f(x).is_infinite();
        NotANumberF32: "testp.notanumber.f32" => |x| f(x).is_nan();
        NumberF32: "testp.number.f32" => |x| !f(x).is_nan();
        NormalF32: "testp.normal.f32" => |x| f(x).is_normal();
        SubnormalF32: "testp.subnormal.f32" => |x| f(x).is_subnormal();
    }
    WP {
        AllOnes: "@allones" => |p| if p { u32::MAX } else { 0 };
        One: "@one" => |p| p.into();
    }
}

/// Applies a function to the low and the high word of the operands.
#[inline(always)]
fn lanes2(function: impl Fn(&dyn Fn(u64) -> u32) -> u32) -> u64 {
    let low = function(&|x| x as u32);
    let high = function(&|x| (x >> 32) as u32);
    u64::from(high) << 32 | u64::from(low)
}
