//! Instructions of a kernel, counted in the text of a disassembler.

use std::collections::BTreeMap;

use camino::Utf8Path;

use crate::sys::{Request, System};
use crate::toolchain::Toolchain;

/// Counts by mnemonic (`HGMMA`, `UTMALDG`) of every kernel, from `cuobjdump -sass`; empty without the tool.
pub fn count(
    system: &dyn System,
    toolchain: &Toolchain,
    executable: &Utf8Path,
) -> BTreeMap<String, BTreeMap<String, u64>> {
    let beside = toolchain.nvcc.parent().map(|folder| folder.join("cuobjdump")).filter(|path| system.is_file(path));
    let Some(tool) = beside.or_else(|| system.which("cuobjdump")) else { return BTreeMap::new() };
    // cuobjdump starts nvdisasm from PATH.
    let path = tool.parent().map_or_else(String::new, |folder| format!("{folder}:"));
    let request = Request::new(tool.as_str())
        .arguments(["-sass", executable.as_str()])
        .variable("PATH", path + &system.env("PATH").unwrap_or_default());
    system.run(&request).ok().filter(crate::sys::Finished::success).map(|f| parse(&f.text())).unwrap_or_default()
}

fn parse(text: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut out: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut counts: Option<&mut BTreeMap<String, u64>> = None;
    for line in text.lines().map(str::trim) {
        if let Some((_, symbol)) = line.split_once("Function : ") {
            counts = Some(out.entry(symbol.to_owned()).or_default());
        } else if let (Some(counts), Some(mnemonic)) = (&mut counts, mnemonic(line)) {
            *counts.entry(mnemonic.to_owned()).or_default() += 1;
        }
    }
    out
}

/// `/*0050*/  @!P0 HGMMA.64x8x16.F32.BF16 R24, … ;`
fn mnemonic(line: &str) -> Option<&str> {
    let (_, code) = line.strip_prefix("/*")?.split_once("*/")?;
    let mut words = code.split_whitespace();
    let first = words.next()?;
    let word = if first.starts_with('@') { words.next()? } else { first };
    let name = word.split(['.', ';']).next()?;
    name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn mnemonics_are_counted_for_each_kernel() {
        let text = "\t\tFunction : krepro_kernel\n\t.headerflags\t@\"EF\"\n\
            \x20       /*0000*/                   LDC R1, c[0x0][0x28] ;     /* 0x00000a00ff017b82 */\n\
            \x20                                                              /* 0x000fe20000000800 */\n\
            \x20       /*0010*/              @!P0 HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], !UPT ;  /* 0x1 */\n\
            \x20       /*0020*/                   HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], gsb0 ;\n\
            \t\tFunction : other\n        /*0000*/   EXIT ;\n";
        let counts = parse(text);
        assert_eq!(counts["krepro_kernel"]["HGMMA"], 2);
        assert_eq!(counts["krepro_kernel"]["LDC"], 1);
        assert_eq!(counts["other"].len(), 1);
    }
}
