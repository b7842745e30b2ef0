# SPDX-License-Identifier: Apache-2.0
"""best_openblas.py - which of OpenBLAS's kernels is the fastest here.

OpenBLAS chooses by the processor's name when it is loaded, and not always the
best; OPENBLAS_CORETYPE overrides that.  A kernel that the processor cannot run
ends its process, so each is tried in a process of its own.  As a program: prints
"NAME SECONDS" for the kernel that this process has."""
import os
import subprocess
import sys
import time

CORES = [None, "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"]
SIZE, ROUNDS = 1024, 7


def measure(threads):
    import numpy
    from peers import OpenBlas
    side = OpenBlas(threads)
    x = numpy.ones((SIZE, SIZE), numpy.float32)
    run, _ = side.matmul(x, x)
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return side.kernel, min(seconds)


def find(threads):
    """The value for OPENBLAS_CORETYPE, None for OpenBLAS's own choice."""
    best, least = None, float("inf")
    for core in CORES:
        environment = dict(os.environ)
        environment.pop("OPENBLAS_CORETYPE", None)
        if core:
            environment["OPENBLAS_CORETYPE"] = core
        done = subprocess.run(
            [sys.executable, __file__, str(threads)], env=environment,
            capture_output=True, text=True, check=False)
        if done.returncode == 0 and float(done.stdout.split()[1]) < least:
            best, least = core, float(done.stdout.split()[1])
    return best


if __name__ == "__main__":
    print(*measure(int(sys.argv[1])))
