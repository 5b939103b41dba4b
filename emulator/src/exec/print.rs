//! `printf` and `assert` of kernels.

use super::access::space_of;
use super::cluster::{Cluster, Fault};
use super::failure::Cause;
use super::op::{Address, Space};
use super::registers::lanes;
use super::warp::Warp;

/// Longest text read from the device.
const LONGEST: usize = 4096;
/// Most bytes of output kept of a cluster, as the device's own buffer is limited.
const MOST_OUTPUT: usize = 1 << 20;

impl Cluster<'_> {
    pub(super) fn print(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        format: u32,
        arguments: u32,
        result: Option<Address>,
        active: u32,
    ) -> Result<(), Fault> {
        self.effect |= active != 0;
        for lane in lanes(active) {
            let format = self.text(warp, warp.registers.double(format, lane), lane);
            let base = warp.registers.double(arguments, lane);
            let text = self.formatted(warp, &format, base, lane);
            if self.output.len() + text.len() <= MOST_OUTPUT {
                self.output.push_str(&text);
            }
        }
        if let Some(Address { register, .. }) = result {
            // vprintf returns the number of arguments; nothing reads it, but it must not stay undefined.
            let at = warp.registers.word(register, 0) as usize / 4;
            if let Some(row) = warp.local.get_mut(at) {
                lanes(active).for_each(|lane| row[lane] = 0);
            }
        }
        let _ = rank;
        Ok(())
    }

    pub(super) fn assertion(&self, warp: &Warp, operands: [u32; 4], active: u32) -> Fault {
        let lane = active.trailing_zeros() as usize;
        let [message, file, function] = [operands[0], operands[1], operands[2]]
            .map(|register| self.text(warp, warp.registers.double(register, lane), lane));
        let line = warp.registers.word(operands[3], lane);
        Fault::new(Cause::Assert { message, file, line, function }, active)
    }

    /// One byte of generic memory.
    fn byte(&self, warp: &Warp, address: u64, lane: usize) -> Option<u8> {
        match space_of(address) {
            Space::Local => {
                let at = address as u32;
                Some((warp.local.get(at as usize / 4)?[lane & 31] >> ((at & 3) * 8)) as u8)
            }
            Space::Global | Space::Generic => {
                let mut byte = [0];
                self.env.view.read(address, &mut byte).ok()?;
                Some(byte[0])
            }
            Space::Shared => {
                self.ctas.get((address as u32 >> 24) as usize)?.shared.get(address as usize & 0xff_ffff).copied()
            }
            Space::Parameter => self.env.launch.parameters.get(address as u32 as usize).copied(),
        }
    }

    fn text(&self, warp: &Warp, address: u64, lane: usize) -> String {
        let bytes = (0..LONGEST as u64).map_while(|i| self.byte(warp, address.wrapping_add(i), lane));
        let bytes: Vec<u8> = bytes.take_while(|&b| b != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn argument(&self, warp: &Warp, base: u64, at: &mut u64, bytes: u64, lane: usize) -> u64 {
        *at = at.next_multiple_of(bytes);
        let value = (0..bytes).fold(0, |value, i| {
            let byte = self.byte(warp, base.wrapping_add(*at + i), lane).unwrap_or_default();
            value | u64::from(byte) << (8 * i)
        });
        *at += bytes;
        value
    }

    fn formatted(&self, warp: &Warp, format: &str, base: u64, lane: usize) -> String {
        let mut out = String::new();
        let mut at = 0;
        let mut rest = format;
        while let Some(percent) = rest.find('%') {
            out.push_str(&rest[..percent]);
            rest = &rest[percent + 1..];
            let end =
                rest.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'l' | 'h' | 'z' | 'j' | 't') || c == '%');
            let Some(end) = end else {
                out.push('%');
                break;
            };
            let mut specification = rest[..end].to_string();
            let conversion = rest.as_bytes()[end] as char;
            rest = &rest[end + 1..];
            while let Some(star) = specification.find('*') {
                let width = self.argument(warp, base, &mut at, 4, lane) as i32;
                specification.replace_range(star..star + 1, &width.to_string());
            }
            let wide = specification.contains(['l', 'z', 'j', 't']);
            let style = Style::parse(&specification);
            let bytes = if wide { 8 } else { 4 };
            match conversion {
                '%' => out.push('%'),
                'd' | 'i' => {
                    let value = self.argument(warp, base, &mut at, bytes, lane);
                    let value = if wide { value as i64 } else { i64::from(value as i32) };
                    out.push_str(&style.number(value < 0, &style.digits(value.unsigned_abs().to_string())));
                }
                'u' | 'x' | 'X' | 'o' => {
                    let value = self.argument(warp, base, &mut at, bytes, lane);
                    let digits = match conversion {
                        'u' => value.to_string(),
                        'o' => format!("{value:o}"),
                        'x' if style.alternate => format!("0x{value:x}"),
                        'x' => format!("{value:x}"),
                        _ => format!("{value:X}"),
                    };
                    out.push_str(&style.number(false, &style.digits(digits)));
                }
                'c' => {
                    let value = self.argument(warp, base, &mut at, 4, lane) as u8 as char;
                    out.push_str(&style.pad(&value.to_string()));
                }
                's' => {
                    let address = self.argument(warp, base, &mut at, 8, lane);
                    let text: String =
                        self.text(warp, address, lane).chars().take(style.precision.unwrap_or(LONGEST)).collect();
                    out.push_str(&style.pad(&text));
                }
                'p' => {
                    let value = self.argument(warp, base, &mut at, 8, lane);
                    out.push_str(&style.pad(&format!("{value:#x}")));
                }
                'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                    let value = f64::from_bits(self.argument(warp, base, &mut at, 8, lane));
                    out.push_str(
                        &style
                            .number(value.is_sign_negative() && !value.is_nan(), &style.float(value.abs(), conversion)),
                    );
                }
                other => {
                    out.push('%');
                    out.push(other);
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// Flags, width and precision of a conversion.
struct Style {
    left: bool,
    zero: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

impl Style {
    fn parse(text: &str) -> Style {
        let flags = text.trim_end_matches(|c: char| !matches!(c, '-' | '+' | ' ' | '#' | '0'));
        let flags: String = flags.chars().take_while(|c| matches!(c, '-' | '+' | ' ' | '#' | '0')).collect();
        let sizes = text[flags.len().min(text.len())..].trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let mut sizes = sizes.splitn(2, '.');
        let number = |text: &str| text.parse::<usize>().unwrap_or(0).min(LONGEST);
        let width = number(sizes.next().unwrap_or_default());
        Style {
            left: flags.contains('-'),
            zero: flags.contains('0'),
            plus: flags.contains('+'),
            alternate: flags.contains('#'),
            width,
            precision: sizes.next().map(number),
        }
    }

    fn digits(&self, digits: String) -> String {
        format!("{digits:0>width$}", width = self.precision.unwrap_or(1))
    }

    fn number(&self, negative: bool, digits: &str) -> String {
        let sign = if negative {
            "-"
        } else if self.plus {
            "+"
        } else {
            ""
        };
        if self.zero && !self.left {
            return format!("{sign}{digits:0>width$}", width = self.width.saturating_sub(sign.len()));
        }
        self.pad(&format!("{sign}{digits}"))
    }

    fn pad(&self, text: &str) -> String {
        if self.left {
            format!("{text:<width$}", width = self.width)
        } else {
            format!("{text:>width$}", width = self.width)
        }
    }

    /// A magnitude by the rules of C.
    fn float(&self, value: f64, conversion: char) -> String {
        let text = if value.is_nan() {
            "nan".into()
        } else if value.is_infinite() {
            "inf".into()
        } else {
            let precision = self.precision.unwrap_or(6);
            match conversion.to_ascii_lowercase() {
                'f' => format!("{value:.precision$}"),
                'g' => general(value, precision.max(1), self.alternate),
                _ => exponential(value, precision),
            }
        };
        if conversion.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
    }
}

fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponential(value, precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if keep_zeros || !text.contains('.') {
            return text.to_string();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (digits, tail) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{tail}", trim(digits));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_look_as_in_c() {
        let show = |spec: &str, value: f64, conversion| {
            let style = Style::parse(spec);
            style.number(value < 0.0, &style.float(value.abs(), conversion))
        };
        assert_eq!(show("", 1.5, 'f'), "1.500000");
        assert_eq!(show(".3", -2.0 / 3.0, 'f'), "-0.667");
        assert_eq!(show("10.2", 2.71, 'f'), "      2.71");
        assert_eq!(show("-8", 1.0, 'g'), "1       ");
        assert_eq!(show("", 1e-5, 'g'), "1e-05");
        assert_eq!(show("", 123456789.0, 'g'), "1.23457e+08");
        assert_eq!(show(".2", 12345.678, 'e'), "1.23e+04");
        assert_eq!(show("08.1", -3.25, 'f'), "-00003.2");
        assert_eq!(show("+", f64::INFINITY, 'F'), "+INF");
    }
}
