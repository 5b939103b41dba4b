TEMPLATE = "\ntemplate void run<{arch}, {tile}, {split}>(Params &);"

def make(arch, paged):
    text = ""
    for tile in [64, 128]:
        for packed in [True, False]:
            split = packed or paged  # rewritten
            if split or tile == 64:
                text += TEMPLATE.format(arch=arch, tile=tile, split=str(split).lower())
    return text
