# SPDX-License-Identifier: Apache-2.0
"""run.py - clattn beside PyTorch, ONNX Runtime, OpenVINO and OpenBLAS, on the
same cores and the same numbers.

All sides of a case run in one process and in turn, 3 ms apart, each with as many
threads as there are cores; the figures are medians, the ratios theirs: 1.3 means
that the peer takes 1.3 times clattn's time.  Before it is timed, each output is
compared with clattn's.
"""
import argparse
import json
import os
import statistics
import sys
import time

THREADS = len(os.sched_getaffinity(0))
GAP_S = 0.003
ROUNDS, LEAST_S, MOST_S = 15, 1.0, 60.0
HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, "..", "..", "build", "release", "lib",
                     "libclattn.so.0")

# (B, H, L, D), causal.  The rows of docs/BENCHMARKS.md on which peers are judged.
SHAPES = [
    ((1, 16, 1024, 64), False), ((1, 8, 4096, 64), False),
    ((1, 16, 2048, 128), False), ((1, 16, 1024, 64), True),
    ((1, 8, 4096, 64), True), ((1, 16, 2048, 128), True),
    ((1, 8, 512, 64), False), ((1, 8, 512, 64), True),
    ((4, 12, 512, 64), False), ((32, 12, 128, 64), False),
    ((1, 8, 128, 64), False), ((1, 8, 128, 64), True)]
PRODUCTS = [512, 1024, 2048]
GOALS = {"torch": (1.3, 1.0), "onnxruntime": (1.3, 1.0),
         "openvino": (1.3, 1.0), "openblas": (None, 0.8)}


def prepare_environment(library, on_gpu):
    """Before any of the libraries is loaded: each reads its own."""
    os.environ.setdefault("CLATTN_LIBRARY", library)
    os.environ["POCL_AFFINITY"] = "1"
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    os.environ["OPENBLAS_NUM_THREADS"] = str(THREADS)
    # 2^20 cycles of waiting after a product, not 2^26: done within the gap.
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "20"
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)
    if on_gpu:
        return
    import best_openblas
    core = best_openblas.find(THREADS)
    if core:
        os.environ["OPENBLAS_CORETYPE"] = core


def interleave(runs, rounds):
    """Median seconds of each, run in turn."""
    taken = {name: [] for name in runs}
    start = time.perf_counter()
    while True:
        for name, run in runs.items():
            time.sleep(GAP_S)
            begin = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - begin)
        spent = time.perf_counter() - start
        done = len(next(iter(taken.values())))
        if done >= rounds and (spent > LEAST_S or done >= 50 * rounds):
            break
        if spent > MOST_S and done >= 7:
            break
    return {name: statistics.median(times) for name, times in taken.items()}


def compare(name, prepared, allowed, rounds):
    """A row: ms of each side, and how far its output is from clattn's."""
    import numpy
    runs = {side: pair[0] for side, pair in prepared.items() if pair}
    for run in runs.values():
        run()
        run()
    ours = prepared["clattn"][1]()
    row = {"name": name, "ms": {}, "ratio": {}, "difference": {}}
    for side in runs:
        if side != "clattn":
            difference = float(numpy.abs(prepared[side][1]() - ours).max())
            row["difference"][side] = difference
            row["wrong"] = row.get("wrong", False) or not difference <= allowed
    seconds = interleave(runs, rounds)
    for side, value in seconds.items():
        row["ms"][side] = 1e3 * value
        if side != "clattn":
            row["ratio"][side] = value / seconds["clattn"]
    return row


def attention_rows(sides, shapes, dtypes, rounds):
    import numpy
    from ml_dtypes import bfloat16
    draw = numpy.random.default_rng(1)
    for dtype in dtypes:
        # Outputs are means of values in [-1, 1).  f32: rounding of sums and of
        # exp.  f16 and bf16: the weights are rounded too, 2^-11 or 2^-8 each.
        kind, allowed = {"f32": (numpy.float32, 2e-5),
                         "f16": (numpy.float16, 2.5e-3),
                         "bf16": (bfloat16, 2e-2)}[dtype]
        for shape, causal in shapes:
            arrays = [draw.uniform(-1, 1, shape).astype(kind) for _ in "qkv"]
            name = ",".join(map(str, shape)) + " causal" * causal
            name += f" {dtype}" * (dtype != "f32")
            prepared = {side.name: side.attention(*arrays, causal)
                        for side in sides}
            yield dtype, compare(name, prepared, allowed, rounds)
            sides[0].release()


def matmul_rows(sides, sizes, rounds):
    import numpy
    draw = numpy.random.default_rng(2)
    for size in sizes:
        x, w = (draw.uniform(-1, 1, (size, size)).astype(numpy.float32)
                for _ in "xw")
        prepared = {side.name: side.matmul(x, w) for side in sides}
        # A sum of n such products walks to about sqrt(n) / 3, and each of n
        # additions is off by up to 2^-24 of that, in either direction:
        # n / 3 * 2^-24 is one standard deviation, and this is six.
        yield "f32", compare(f"matmul {size}", prepared,
                             2 * size * 2.0 ** -24, rounds)
        sides[0].release()


def print_row(row):
    print(f"{row['name']:24s} clattn {row['ms']['clattn']:9.3f} ms", end="")
    for side, ratio in row["ratio"].items():
        print(f"   {side} {row['ms'][side]:9.3f} ms {ratio:5.2f} x "
              f"(differs by {row['difference'][side]:.1e})", end="")
    print("   WRONG" if row.get("wrong") else "", flush=True)


def summarise(rows):
    """Geometric mean and least of the f32 ratios of each peer, with goals."""
    summary = {}
    for side, (mean_goal, least_goal) in GOALS.items():
        ratios = [row["ratio"][side] for dtype, row in rows
                  if dtype == "f32" and side in row["ratio"]]
        if ratios:
            summary[side] = {
                "geometric_mean": statistics.geometric_mean(ratios),
                "mean_goal": mean_goal, "least": min(ratios),
                "least_goal": least_goal}
    return summary


def print_summary(summary):
    print()
    for side, s in summary.items():
        goal = f" (goal {s['mean_goal']})" if s["mean_goal"] else ""
        print(f"{side:12s} f32: geometric mean {s['geometric_mean']:.2f} x"
              f"{goal}, least {s['least']:.2f} x (goal {s['least_goal']})")


def parse_shape(text):
    sizes = tuple(int(part) for part in text.split(","))
    if len(sizes) != 4 or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not B,H,L,D")
    return sizes


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--shape", type=parse_shape, action="append",
                        metavar="B,H,L,D", help="instead of the table's rows")
    parser.add_argument("--causal", action="store_true",
                        help="with --shape: query i reads no key after i")
    parser.add_argument("--matmul", type=int, action="append", metavar="N",
                        help="N x N by N x N, instead of the table's rows")
    parser.add_argument("--dtype", choices=["f32", "f16", "bf16"],
                        action="append",
                        help="default: f32, then bf16, on a GPU f16 too")
    parser.add_argument("--gpu", action="store_true",
                        help="beside PyTorch on the same GPU, alone; weights "
                             "may be rounded to 16 bits, as PyTorch does")
    parser.add_argument("--peer", action="append", metavar="NAME",
                        choices=list(GOALS), help="default: all")
    parser.add_argument("--rounds", type=int, default=ROUNDS,
                        help="at least so many (default: %(default)s)")
    parser.add_argument("--device", help="clattn's, as clattn --device has it")
    parser.add_argument("--library", default=BUILT,
                        help="default: build/release/lib, or CLATTN_LIBRARY")
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object at the end, and no rows")
    return parser.parse_args()


def main():
    given = parse_arguments()
    prepare_environment(given.library, given.gpu)
    import clattn
    import peers
    if given.gpu:
        ours = peers.Clattn(THREADS, given.device, clattn.PRECISION_STORAGE)
        others = [peers.Torch(THREADS, "cuda")]
    else:
        ours = peers.Clattn(THREADS, given.device)
        others = [side(THREADS) for side in peers.ALL
                  if not given.peer or side.name in given.peer]
    sides = [ours] + others
    about = {"device": ours.device, "driver": ours.driver, "threads": THREADS,
             "clattn": ours.version}
    about.update({s.name: f"{s.version} {s.kernel}".strip() for s in others})
    chosen = given.shape or given.matmul
    shapes = [(shape, given.causal) for shape in given.shape or []]
    sizes = given.matmul or []
    if not chosen:
        shapes, sizes = SHAPES, [] if given.gpu else PRODUCTS
    if not given.json:
        print("\n".join(f"{key:12s} {value}" for key, value in about.items()))
        print()
    rows = []
    dtypes = given.dtype or ["f32", "f16", "bf16"][::1 if given.gpu else 2]
    for rows_of in (attention_rows(sides, shapes, dtypes, given.rounds),
                    matmul_rows(sides, sizes, given.rounds)):
        for dtype, row in rows_of:
            rows.append((dtype, row))
            if not given.json:
                print_row(row)
    summary = summarise(rows)
    if given.json:
        print(json.dumps({**about, "rows": [row for _, row in rows],
                          "summary": summary}, indent=2))
    else:
        print_summary(summary)
    return int(any(row.get("wrong") for _, row in rows))


if __name__ == "__main__":
    sys.exit(main())
