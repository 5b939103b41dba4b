fn make(arch: u32, tile: u32) -> String {
    format!(
        "\ntemplate void run<{arch}, {}, true>(Params &);\ntemplate void run<{arch}, {tile}, {no}>(Params &);\ntemplate void run<{arch}, {wide}, true>(Params &); // {{}}",
        tile,
        no = self.no,
        wide = tile * 2
    )
}
