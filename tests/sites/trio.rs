//@ case captured, named and positional
//@ set arch=90
//@ set tile=64
//@ set self.split=false
//@ kernel run
//@ template 90 | 64 | false
//@ line template void run<90, 64, false>(Params &);
//@ line // {}
fn make(arch: u32, tile: u32) -> String {
    format!("template void run<{arch}, {}, {split}>(Params &);\n// {{}}\n", tile, split = self.split)
}
