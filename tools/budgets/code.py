# SPDX-License-Identifier: Apache-2.0
"""code.py - machine code as text, read into instructions of few kinds.

NVIDIA's comes from nvdisasm, AMD's from clang, Intel's from the graphics
compiler's dump.  A kind says which unit an instruction is for, as far as a
bound needs it; what is none of them is "other".
"""
import collections
import re

# kind: one of KINDS.  work: multiply-adds of one work-item that it does.
# target: the label it may jump to.  falls: whether the next one may follow.
# loaded: bytes that it brings from global memory.
Instruction = collections.namedtuple(
    "Instruction", "kind work target falls loaded")

KINDS = ("fma", "matrix", "float", "compare", "special", "scalar", "other",
         "local_copy_16", "local_load_16", "local_load_8", "local_load_4",
         "local_store_16", "local_store_8", "local_store_4",
         "global_load", "global_store", "spill", "barrier")


class Code:
    """Instructions in order, and where labels stand among them."""

    def __init__(self):
        self.instructions = []
        self.labels = {}

    def label(self, name):
        self.labels[name] = len(self.instructions)

    def add(self, kind, work=0, target=None, falls=True, loaded=0):
        self.instructions.append(
            Instruction(kind, work, target, falls, loaded))


def _width(name, words):
    """Bytes of an access by the first word that its name holds."""
    for word, width in words:
        if word in name:
            return width
    return 4


def _loaded(kind, name, words):
    brings = kind in ("global_load", "local_copy_16")
    return _width(name, words) if brings else 0


# ---- NVIDIA -----------------------------------------------------------------

_NV_KINDS = (
    (("FFMA",), "fma"), (("HMMA", "IMMA", "HGMMA"), "matrix"),
    (("FADD", "FMUL"), "float"), (("MUFU",), "special"),
    (("FMNMX", "FMNMX3", "FSETP", "FSEL", "F2FP", "F2F", "SHF"), "compare"),
    (("LDGSTS",), "local_copy_16"),
    (("LDG",), "global_load"), (("STG",), "global_store"),
    (("LDL", "STL"), "spill"), (("BAR",), "barrier"),
)
_NV_WIDTHS = (("128", 16), ("64", 8), (".M88.4", 16), (".M88.2", 8),
              (".MT88.4", 16), (".MT88.2", 8))
_NV_LOADS = (("128", 16), ("64", 8), ("16", 2), ("8", 1))
_NV_LINE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+\{?\s*(@!?U?P\w+\s+)?"
                      r"([A-Z0-9_.]+)\s*([^;]*);")


def _nv_kind(name):
    first = name.split(".")[0]
    if first in ("LDS", "LDSM"):
        return "local_load_%d" % _width(name, _NV_WIDTHS)
    if first == "STS":
        return "local_store_%d" % _width(name, _NV_WIDTHS)
    for names, kind in _NV_KINDS:
        if first in names:
            return kind
    return "other"


def _nv_work(name, kind):
    """m16n8k16 is 2048 multiply-adds of 32 items."""
    if kind == "fma":
        return 2 if name.startswith("FFMA2") else 1
    if kind != "matrix":
        return 0
    shape = re.search(r"\.(\d\d)(\d)(\d\d?)\.", name)
    return int(shape[1]) * int(shape[2]) * int(shape[3]) // 32 if shape else 64


def read_nvidia(text):
    code = Code()
    for line in text.splitlines():
        label = re.match(r"\s*(\.L_x_\d+):", line)
        if label:
            code.label(label[1])
            continue
        found = _NV_LINE.match(line)
        if not found:
            continue
        predicate, name, rest = found.groups()
        first = name.split(".")[0]
        kind = _nv_kind("FFMA" if first == "FFMA2" else name)
        jump = re.search(r"`\((\.L_x_\d+)\)", rest)
        jumps = first in ("BRA", "CALL") and jump
        ends = first in ("BRA", "EXIT", "RET", "JMP", "BRX", "KILL")
        always = not predicate and not re.match(r"\s*!?U?P\d", rest) and \
            ".DIV" not in name
        code.add(kind, _nv_work(name, kind), jump[1] if jumps else None,
                 not (ends and always), _loaded(kind, name, _NV_LOADS))
    return code


# ---- AMD --------------------------------------------------------------------

_AMD_FMA = re.compile(r"v_(pk_)?(dual_)?(fma|fmac|fmaak|fmamk|mad|mac|madak|"
                      r"madmk)_f32")
_AMD_WIDTHS = (("b128", 16), ("2_b64", 16), ("2st64_b64", 16),
               ("2addr_b64", 16), ("2addr_stride64_b64", 16), ("b64", 8),
               ("2_b32", 8), ("2st64_b32", 8), ("2addr", 8))
_AMD_LOADS = (("x4", 16), ("b128", 16), ("x3", 12), ("b96", 12), ("x2", 8),
              ("b64", 8), ("short", 2), ("16", 2), ("byte", 1), ("8", 1))
_AMD_MATRIX = re.compile(r"v_(?:mfma_f32|wmma_f32)_(\d+)x(\d+)x(\d+)")


def _amd_kind(name):
    if name.startswith(("ds_read", "ds_load")):
        return "local_load_%d" % _width(name, _AMD_WIDTHS)
    if name.startswith(("ds_write", "ds_store")):
        return "local_store_%d" % _width(name, _AMD_WIDTHS)
    if _AMD_MATRIX.match(name):
        return "matrix"
    if _AMD_FMA.match(name):
        return "fma"
    if re.match(r"v_(exp|rcp|log|rsq|sqrt)_f32", name):
        return "special"
    if name.startswith(("global_load", "flat_load")):
        return "global_load"
    if name.startswith(("global_store", "flat_store")):
        return "global_store"
    if name.startswith("buffer_gl"):  # of caches, not of memory
        return "scalar"
    if name.startswith(("scratch_", "buffer_")):
        return "spill"
    if name == "s_barrier":
        return "barrier"
    if re.match(r"v_(pk_)?(dual_)?(add|sub|mul)_f32", name):
        return "float"
    return "scalar" if name.startswith("s_") else "other"


def _amd_work(name, rest, kind, wave):
    if kind == "matrix":
        rows, columns, depth = map(int, _AMD_MATRIX.match(name).groups())
        return rows * columns * depth // wave
    work = 0
    if _AMD_FMA.match(name):
        work = 2 if name.startswith("v_pk_") else 1
    # The second half of a pair that is issued as one.
    for half in re.findall(r"v_dual_\w+", rest):
        work += 1 if _AMD_FMA.match(half) else 0
    return work


def read_amd(text, wave):
    code = Code()
    for line in text.splitlines():
        label = re.match(r"(\.LBB\d+_\d+):", line)
        if label:
            code.label(label[1])
            continue
        found = re.match(r"\t([vsd]_?[a-z0-9_]+|global_\w+|flat_\w+|buffer_\w+|"
                         r"scratch_\w+)(.*)$", line)
        if not found:
            continue
        name, rest = found.groups()
        kind = _amd_kind(name)
        work = _amd_work(name, rest, kind, wave)
        if work and kind != "matrix":
            kind = "fma"
        jump = re.search(r"(\.LBB\d+_\d+)", rest)
        jumps = name == "s_branch" or name.startswith("s_cbranch")
        code.add(kind, work, jump[1] if jumps and jump else None,
                 name not in ("s_branch", "s_endpgm", "s_setpc_b64"),
                 _loaded(kind, name, _AMD_LOADS))
    return code


# ---- Intel ------------------------------------------------------------------

_INTEL_LINE = re.compile(r"(\([^)]*\))?\s+([a-z][a-z0-9_.]*)\s+"
                         r"(?:\((\d+)\|M\d+\)\s+)?(.*)$")
_INTEL_PREDICATE = re.compile(r"\((W&)?~?f\d")
_INTEL_SPILL = re.compile(r"scratch|\bss\[")
# Surface 254 is local memory; newer ones say so by name.
_INTEL_LOCAL = re.compile(r"\.slm\b|\.dc[01] .*0x[0-9A-F]+FE\s")
_INTEL_STORES = re.compile(r"store|write")
_INTEL_LOADS = re.compile(r"load|read")
_INTEL_BYTES = (("xyzw", 16), ("d32x4", 16), ("xyz", 12), ("d32x3", 12),
                ("xy", 8), ("d32x2", 8), ("d16", 2), ("d8", 1))


def _intel_access(name, text):
    if name.endswith(".gtwy"):
        return "barrier"
    local = _INTEL_LOCAL.search(text)
    width = _width(text, _INTEL_BYTES)
    if _INTEL_SPILL.search(text):
        return "spill"
    if _INTEL_STORES.search(text):
        return "local_store_%d" % max(width, 4) if local else "global_store"
    if _INTEL_LOADS.search(text):
        return "local_load_%d" % max(width, 4) if local else "global_load"
    return "other"


def _intel_kind(name, rest):
    if name.startswith("dpas"):
        return "matrix"
    if name == "mad" and re.match(r"\S+:f\s", rest):
        return "fma"
    if name.startswith("math"):
        return "special"
    if name.startswith(("send", "load", "store")):
        return _intel_access(name, name + " " + rest)
    if name in ("add", "mul") and re.match(r"\S+:f\s", rest):
        return "float"
    return "other"


def _intel_work(kind, name, size, lanes):
    """dpas.8xN: a depth of 16 halves for N rows and `size` columns."""
    if kind == "matrix":
        rows = re.search(r"8x(\d)", name)
        return 16 * int(rows[1] if rows else 8) * size // lanes
    return size / lanes if kind == "fma" and size > 1 else 0


def read_intel(text, lanes):
    """Jumps name two labels; where all items agree the second one counts."""
    code = Code()
    for line in text.splitlines():
        label = re.match(r"(\w+):\s*$", line)
        if label:
            code.label(label[1])
            continue
        found = _INTEL_LINE.match(line)
        if not found:
            continue
        predicate, name, size, rest = found.groups()
        operands = rest.split("//")[0]
        kind = _intel_kind(name, rest)
        jumps = name.split(".")[0] in ("goto", "jmpi", "while", "brc", "brd")
        always = not (predicate and _INTEL_PREDICATE.match(predicate))
        code.add(kind, _intel_work(kind, name, int(size or 1), lanes),
                 operands.split()[-1] if jumps else None,
                 not (jumps and always), _loaded(kind, line, _INTEL_BYTES))
    return code
