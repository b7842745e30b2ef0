# SPDX-License-Identifier: Apache-2.0
"""table.py - recorded budgets: the file, what is worse than recorded, and the
tables of the document."""
import collections
import csv

FIELDS = ("row", "target", "compiler", "outcome", "lanes", "registers", "spill",
          "local", "useful", "instructions", "matrix", "bound", "limit",
          "with_local", "alone", "reason")
NUMBERS = ("lanes", "registers", "spill", "local", "useful", "instructions",
           "matrix", "bound", "with_local", "alone")
Entry = collections.namedtuple("Entry", FIELDS)

# What a budget may grow by before it is worse.  Registers are handed out by the
# eight; instructions and the bound: what another order of them costs.
REGISTERS, INSTRUCTIONS, POINTS = 4, 1.02, 1.0


def key(entry):
    return entry.row, entry.target, entry.compiler


def without_loop(row, target, compiler, outcome):
    return Entry(row, target, compiler, outcome, *[None] * 11, "")


# ---- The file ----------------------------------------------------------------

def _number(text):
    return None if text == "-" else float(text) if "." in text else int(text)


def read(path):
    try:
        with open(path, newline="") as file:
            lines = [x for x in file if not x.startswith("#")]
    except FileNotFoundError:
        return {}
    entries = {}
    for fields in csv.reader(lines[1:], delimiter="\t"):
        named = dict(zip(FIELDS, fields))
        named.update((n, _number(named[n])) for n in NUMBERS)
        named["limit"] = None if named["limit"] == "-" else named["limit"]
        entry = Entry(**named)
        entries[key(entry)] = entry
    return entries


def _text(value):
    return "-" if value is None else str(value)


def write(path, entries):
    with open(path, "w", newline="") as file:
        file.write("# budget.tsv - what GPU compilers make of the kernels; "
                   "written by tools/budget --record REASON.\n"
                   "# See docs/GPU.md for what the columns mean.\n")
        file.write("\t".join(FIELDS) + "\n")
        for entry in entries:
            file.write("\t".join(map(_text, entry)) + "\n")


# ---- Comparing ---------------------------------------------------------------

def _grown(what, now, then, allowed):
    if then is None or now is None or now <= allowed:
        return []
    return ["%s %s, recorded are %s" % (what, now, then)]


def worse(now, then):
    """Sentences on what is worse than recorded."""
    if now.outcome != then.outcome:
        return ["%s, recorded is %s" % (now.outcome, then.outcome)] \
            if then.outcome == "built" else []
    said = []
    if then.registers is not None:
        said += _grown("registers", now.registers, then.registers,
                       then.registers + REGISTERS)
        said += _grown("bytes of spills", now.spill, then.spill, then.spill)
        said += _grown("bytes of local memory", now.local, then.local,
                       then.local)
        if now.lanes < then.lanes:
            said.append("%d work-items share an instruction, recorded are %d" %
                        (now.lanes, then.lanes))
    if then.instructions is not None and now.instructions is None:
        said.append("no loop that does its work is found any more")
    elif then.instructions is not None:
        said += _grown("instructions", now.instructions, then.instructions,
                       then.instructions * INSTRUCTIONS *
                       now.useful / then.useful)
    for what in ("bound", "with_local", "alone"):
        is_now, was = getattr(now, what), getattr(then, what)
        if is_now is not None and was is not None and is_now < was - POINTS:
            said.append("%s %.1f %%, recorded is %.1f" % (what, is_now, was))
    return said


# ---- Printing ----------------------------------------------------------------

HEADINGS = ("row", "target", "lanes", "registers", "spill", "local",
            "useful / all", "matrix", "bound", "with local memory", "low")


def cells(entry):
    """Of a line of a table."""
    if entry.outcome != "built":
        return (entry.row, entry.target, *["–"] * 8, entry.outcome)
    loop = "–" if entry.instructions is None else \
        "%d / %d" % (entry.useful, entry.instructions)
    bound = with_local = "–"
    matrix = str(entry.matrix) if entry.matrix else "–"
    alone = "–" if entry.alone is None else "%.0f %%" % entry.alone
    if entry.bound is not None:
        bound = "%.0f %% (%s)" % (entry.bound, entry.limit)
        with_local = "%.0f %%" % entry.with_local
    return (entry.row, entry.target, str(entry.lanes), str(entry.registers),
            str(entry.spill), str(entry.local), loop, matrix, bound, with_local,
            alone)


def as_text(entries):
    lines = [HEADINGS] + [cells(e) for e in entries]
    widths = [max(len(line[c]) for line in lines) for c in range(len(HEADINGS))]
    padded = ([t.ljust(w) for t, w in zip(line, widths)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def _as_markdown(entries):
    lines = ["| " + " | ".join(HEADINGS) + " |",
             "|---|---|" + "---:|" * (len(HEADINGS) - 2)]
    return lines + ["| " + " | ".join(cells(e)) + " |" for e in entries]


def as_document(entries):
    """A table for each compiler."""
    lines = []
    for compiler in dict.fromkeys(e.compiler for e in entries):
        lines += ["", "**%s**" % compiler, ""]
        lines += _as_markdown([e for e in entries if e.compiler == compiler])
    return "".join(line + "\n" for line in lines[1:])


BEGIN = "<!-- made by tools/budget --document: begin -->\n"
END = "<!-- made by tools/budget --document: end -->\n"


def in_document(text, entries):
    """The document with its tables made anew."""
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return before + BEGIN + as_document(entries) + END + after
