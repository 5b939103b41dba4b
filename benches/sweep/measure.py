#!/usr/bin/env python3
"""Builds COUNT instantiations of a CuTe kernel by `krepro sweep`, and by one nvcc a case through `ninja -j JOBS`; same machine, one run.

    measure.py KREPRO CUTLASS_INCLUDE COUNT [JOBS [OPTION of krepro sweep …]]

Prints wall and processor seconds of both, whether the machine code of every case is equal, and how many compilers a second sweep starts.
nvcc is krepro's choice ($NVCC); cuobjdump and ninja come from PATH. Nothing is kept.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

KREPRO, CUTLASS, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
JOBS = int(sys.argv[4]) if len(sys.argv) > 4 else 2
OPTIONS = sys.argv[5:]
HERE = os.path.dirname(os.path.abspath(__file__))


def cases():
    """64 x OUT x K with tiles of 16 to 128 columns, all different."""
    out = []
    for reduction in (256, 512, 1024, 2048):
        for tile in (16, 32, 64, 128):
            for outputs in (512, 1024):
                out.append({"output_size": outputs, "reduction_size": reduction, "tile_n": tile})
    return out[:COUNT]


def timed(command, **options):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command[:4]}…: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, time.time() - start, processor


def new(folder, case, log):
    values = {"batch_size": 64, **case}
    command = [KREPRO, "new", "--kernel", f"{HERE}/cute_linear.cuh:cute_linear", "--site", f"{HERE}/site.cc:emit_cute_linear",
               "--scaffold", f"{HERE}/scaffold.toml", "--log", log, "-o", folder]
    timed(command + [word for name, value in values.items() for word in ("--set", f"{name}={value}")])


def machine_code(path):
    """SASS by kernel, addresses of constants and line tables left out."""
    text = subprocess.run(["cuobjdump", "-sass", path], capture_output=True, text=True, check=True).stdout
    kernels, current = {}, None
    for line in text.splitlines():
        if "Function : " in line:
            current = kernels.setdefault(line.split("Function : ")[1], [])
        elif current is not None and re.match(r"\s+/\*[0-9a-f]{4,}\*/", line):
            current.append(re.sub(r"\s+", " ", line))
    return kernels


def main():
    with tempfile.TemporaryDirectory() as work:
        os.environ["KREPRO_CACHE"] = f"{work}/cache"
        log = f"{work}/jit.log"
        with open(log, "w") as file:
            file.write(f"nvcc -std=c++17 -O3 -DNDEBUG -I{HERE} -I{CUTLASS} -gencode arch=compute_90a,code=sm_90a "
                       "--expt-relaxed-constexpr -shared -o x.so x.cu\n")
        listed = cases()
        new(f"{work}/sweep", listed[0], log)
        with open(f"{work}/cases.json", "w") as file:
            json.dump(listed, file)
        sweep = [KREPRO, "sweep", f"{work}/sweep", "--cases", f"{work}/cases.json", "--build-only", "--jobs", str(JOBS), "--json", *OPTIONS]
        first, wall, processor = timed(sweep)
        print(f"krepro sweep {' '.join(OPTIONS)}: {COUNT} cases, {json.loads(first)['units']}, {wall:.1f} s wall, {processor:.1f} s processor", flush=True)
        second, again, _ = timed(sweep)
        print(f"second sweep: {json.loads(second)['units']}, {again:.1f} s")

        rules = ""
        for index, case in enumerate(listed):
            new(f"{work}/solo{index}", case, log)
            text, _, _ = timed([KREPRO, "build", f"{work}/solo{index}", "--emit", "ninja"])
            rules += text if index == 0 else text[text.index("\nbuild "):]
        os.makedirs(f"{work}/ninja")
        with open(f"{work}/ninja/build.ninja", "w") as file:
            file.write(rules)
        _, solo_wall, solo_processor = timed(["ninja", f"-j{JOBS}"], cwd=f"{work}/ninja")
        print(f"ninja -j{JOBS}: {solo_wall:.1f} s wall, {solo_processor:.1f} s processor")
        print(f"factor: {solo_wall / wall:.2f} wall, {solo_processor / processor:.2f} processor")

        batched = {}
        units = f"{work}/sweep/sweep/units"
        for unit in os.listdir(units):
            batched.update(machine_code(f"{units}/{unit}/build/sweep"))
        equal = 0
        for index in range(COUNT):
            (symbol, code), = machine_code(f"{work}/solo{index}/build/cute_linear").items()
            equal += batched.get(symbol) == code and len(code) > 0
        print(f"machine code equal: {equal} of {COUNT}")


main()
