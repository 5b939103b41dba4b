"""dgemm of OpenBLAS (through numpy) at 128 x 6144 x 7168 on one thread, best and median of ten: beside benches/diagnosis.rs."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import statistics
import time

import numpy

generator = numpy.random.default_rng(1)
a = generator.standard_normal((128, 7168))
b = generator.standard_normal((6144, 7168))
times = []
for _ in range(10):
    begin = time.process_time()
    a @ b.T
    times.append(time.process_time() - begin)
print(f"OpenBLAS dgemm, processor time: best {min(times):.4f} s, median {statistics.median(times):.4f} s")
