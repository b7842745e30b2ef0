# SPDX-License-Identifier: Apache-2.0
"""machine.py - the targets, and how fast each could at best go through counted
instructions.

A bound is useful multiply-adds over the slowest of issue slots and the units
that the instructions are for.  A second one also counts local memory as if no
two items read the same address.  Both leave out latency, barriers, caches,
global memory and how many groups fit: upper limits, no forecast.  A low
estimate, of matrix units alone: a warp that has its scheduler to itself, where
nothing else is done while the units multiply or wait for local memory, and 60
cycles of a block go to barriers.  Figures are per unit (multiprocessor, compute
unit) and cycle, from the vendors' guides.

Of matrix units: sm_75 8 tensor cores of 64 (Turing whitepaper; GeForce has half
with sums in f32), sm_80 4 of 256 (A100 whitepaper), sm_90 4 of 512 (H100
whitepaper, 989 TFLOP/s), which is for wgmma: of mma.sync, which the kernels use,
62.9 % is assumed (Luo et al., arXiv 2402.13499, from memory).  gfx90a 383 TFLOP/s of 220 units at 1.7
GHz (MI250X data sheet), gfx1100 123 TFLOP/s of 96 units at 2.5 GHz (RX 7900 XTX).
Of sm_100, sm_120 and Intel's we have none that we could check.
"""
import collections

# cpu: what clang is told.  wave: work-items that share an instruction; on
# Intel's the compiler chooses.  fma: multiply-adds of a unit in f32; matrix:
# the same in 16 bits; 0: not known, or none.  local, group: what the planner is
# told of a device's local memory and largest group.
Target = collections.namedtuple(
    "Target", "name vendor cpu wave fma matrix local group")


def _nvidia(name, cpu, fma, matrix):
    return Target(name, "nvidia", cpu, 32, fma, matrix, 48 << 10, 1024)


def _amd(name, wave, fma, matrix):
    return Target(name, "amd", name, wave, fma, matrix, 64 << 10, 256)


def _intel(name):
    return Target(name, "intel", name, 0, 0, 0, 64 << 10, 512)


# Clang knows no newer one than sm_90; ptxas takes its PTX for those.
TARGETS = {t.name: t for t in (
    _nvidia("sm_75", "sm_75", 64, 512),
    _nvidia("sm_80", "sm_80", 64, 1024),
    _nvidia("sm_90", "sm_90", 128, 2048),
    _nvidia("sm_100", "sm_90", 128, 0),
    _nvidia("sm_120", "sm_90", 128, 0),
    _amd("gfx906", 64, 64, 0),
    _amd("gfx90a", 64, 128, 512),
    _amd("gfx1030", 32, 64, 0),
    _amd("gfx1100", 32, 128, 256),
    _intel("dg2"),
    _intel("pvc"),
)}
SCHEDULERS = 4  # of an NVIDIA multiprocessor
SYNC_SHARE = {"sm_90": 0.629}  # of the matrix peak that mma.sync reaches
BARRIERS = 60  # cycles of a block
LOCAL_BYTES = 128  # of local memory in a cycle


def _local_cycles(count, wave):
    """Cycles in which a warp's accesses pass through local memory."""
    return sum(n * int(kind.rsplit("_", 1)[1]) * wave / LOCAL_BYTES
               for kind, n in count.items() if kind.startswith("local_"))


def _nvidia_cycles(target, count):
    """Of a warp, as if the whole unit were its own."""
    arithmetic = count["fma"] + count["float"]
    return {
        "issue": sum(count.values()) / SCHEDULERS,
        "float": arithmetic * target.wave / target.fma,
        "special": count["special"] * target.wave / 16,
    }


def _schedulers(target):
    return 2 if target.vendor == "amd" and target.wave == 32 else SCHEDULERS


def _alone_cycles(target, count, cycles):
    """Of a warp, between its products."""
    if target.vendor == "amd":
        between = cycles["issue"]
    else:
        between = max(cycles["special"], cycles["float"] +
                      count["compare"] * target.wave / 64)
    return between + BARRIERS / _schedulers(target)


def _amd_cycles(target, count):
    """A SIMD takes a vector instruction every fourth cycle with 64 items, every
    cycle with 32; a special one takes four times as long on GCN and CDNA."""
    vector = sum(count[k] for k in ("fma", "float", "compare", "other",
                                    "special"))
    if target.wave == 64:
        return {"issue": vector + 3 * count["special"]}
    return {"issue": vector / 2}


Bound = collections.namedtuple("Bound", "percent limit with_local alone")


def bound(target, count, useful):
    """Percent of the peak, what limits it, percent with local memory, and of
    matrix units the low estimate; None where the machine's figures are not
    known.  useful: multiply-adds of an item, in matrix units if the code uses
    them."""
    peak = target.matrix if count["matrix"] else target.fma
    if not peak:
        return None
    cycles = (_nvidia_cycles if target.vendor == "nvidia" else _amd_cycles)(
        target, count)
    least = useful * target.wave / peak
    alone = None
    in_local = _local_cycles(count, target.wave)
    if count["matrix"]:
        multiplying = least / SYNC_SHARE.get(target.name, 1)
        alone = round(100 * least / (
            max(multiplying, in_local) + _alone_cycles(target, count, cycles)),
            1)
        cycles["matrix"] = multiplying
    limit = max(cycles, key=cycles.get)
    local = max(cycles[limit], in_local)
    return Bound(round(100 * least / cycles[limit], 1), limit,
                 round(100 * least / local, 1), alone)
