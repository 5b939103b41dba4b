#@ case a flag that Python rewrites
#@ set ARCH=90
#@ set tile=64
#@ set packed=False
#@ set paged=False
#@ kernel run
#@ template 90 | 64 | false
#@ line template void run<90, 64, false>(Params &);
#@ case everything that is missing
#@ error --set ARCH=VALUE
#@ error --set tile=VALUE
#@ error --set packed=VALUE
def make(tile, packed, paged):
    return "template void run<{arch}, {tile}, {split}>(Params &);\n".format(
        arch=ARCH, tile=tile, split=str(packed or paged).lower()  # rewritten
    )
