# SPDX-License-Identifier: Apache-2.0
"""rows.py - the list of rows, and what the planner makes of one."""
import collections
import math
import re
import subprocess

from . import loops

Row = collections.namedtuple("Row", "name kernel native targets problem work")
Planned = collections.namedtuple("Planned", "options source phases")


class Declined(Exception):
    """The planner leaves the problem to another row there."""


def read(path, targets):
    """The rows of a file like tests/budget/rows.txt."""
    rows = []
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                fields = [f.strip() for f in line.split("|")]
                if len(fields) != 5:
                    raise SystemExit("%s: five fields are wanted: %s" %
                                     (path, line.strip()))
                rows.append(_row(targets, *fields))
    return rows


def _row(targets, name, kernel, where, problem, work):
    kernel, *more = kernel.split()
    if more not in ([], ["native"]):
        raise SystemExit("budget: %s: '%s' is no option of a row" %
                         (name, " ".join(more)))
    return Row(name, kernel, bool(more), _targets(where, targets), problem,
               work)


def _targets(text, targets):
    words = text.split()
    named = [t for t in targets.values()
             if "all" in words or t.vendor in words or t.name in words]
    if not named:
        raise SystemExit("budget: %s is no target" % text)
    return named


# The target's exponential, which flushes and rounds as it likes; libclc has none
# for NVIDIA's.
_NATIVE = {"nvidia": "float y; __asm__(\"ex2.approx.ftz.f32 %0, %1;\" "
                     ": \"=f\"(y) : \"f\"(x)); return y;"}


def _with_native(source, row, target):
    """The text with the target's own instruction for 2^x, to count with."""
    body = _NATIVE.get(target.vendor, "return native_exp2(x);")
    source, found = re.subn(r"(\b(?:V exp2_negative\(V|float weight_of\(float)"
                            r" x\)\n\{\n).*?\n\}\n",
                            lambda m: m[1] + body + "\n}\n", source,
                            flags=re.DOTALL)
    if not found:
        raise SystemExit("budget: %s: it has no 2^x of its own"
                         % row.name)
    return source


def plan(program, row, target, kernels):
    """The options, the text and the work of a row's kernel there."""
    words = ["local=%d" % target.local, "group=%d" % target.group]
    if kernels:
        words.append("kernels=" + kernels)
    done = subprocess.run([program, row.kernel, row.problem, *words],
                          capture_output=True, text=True)
    if done.returncode == 3:
        raise Declined(done.stderr.strip())
    if done.returncode:
        raise SystemExit("budget: %s: %s" % (row.name, done.stderr.strip()))
    first, source = done.stdout.split("\n", 1)
    if row.native:
        source = _with_native(source, row, target)
    group, options = first.split(" ", 1)
    values = {name: int(number) for name, number in
              re.findall(r"-D(\w+)=(\d+)(?:\s|$)", options)}
    values["group"] = int(group)
    return Planned(options, source, _phases(row.work, values))


def _product(text, values):
    """BR+BC*DC/group, from left to right; a whole number where it is one."""
    result = 1
    for sign, word in re.findall(r"([*/+]?)(\w+)", text):
        number = int(word) if word.isdigit() else values[word]
        result = result / number if sign == "/" else \
            result + number if sign == "+" else result * number
    return int(result) if result == int(result) else result


def _phases(work, values):
    phases = []
    for word in work.split():
        work, _, loaded = word.lstrip("~").partition("@")
        passes, _, terms = work.rpartition(":")
        phases.append(loops.Phase(
            math.ceil(_product(passes, values)), _product(terms, values),
            not word.startswith("~"),
            _product(loaded, values) if loaded else None))
    return tuple(phases)
