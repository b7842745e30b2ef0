# SPDX-License-Identifier: Apache-2.0
#
# mutations.py - what can be wrong by one step in a kernel: every mutant of a
# file, in the order of its source.

import re

from kernel_syntax import INTEGERS, PRECEDENCE, REALS, Parser

NEIGHBOUR = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=",
             "!=": "=="}
# A comparison's bound moved to the side that its neighbour does not cover.
OTHER_SIDE = {"<": "-", "<=": "+", ">": "+", ">=": "-"}
POSITION = {"get_local_id", "get_group_id", "get_global_id"}
# What they are asked for comes into a cache, and they read nothing: tuning.
AHEAD = {"fetch", "fetch_later", "fetch_to_write"}
REAL_FUNCTIONS = {"exp", "exp2", "log", "sqrt", "fma", "mad", "fmax", "fmin"}


class Mutant:
    """A file whose text [start, end) is replaced by `new`."""

    def __init__(self, source, start, end, new, kind):
        self.file, self.original = source.name, source.text
        self.function, self.kind = source.function, kind
        self.start, self.end, self.new = start, end, new
        before = self.original[:start]
        self.line = before.count("\n") + 1
        self.column = start - before.rfind("\n")

    def text(self):
        return self.original[:self.start] + self.new + \
            self.original[self.end:]

    def ident(self):
        return f"{self.file}:{self.line}:{self.column} {self.kind}"

    def key(self):
        """File, function and the changed line: lasts when lines move."""
        text = self.text()
        begin = text.rfind("\n", 0, self.start) + 1
        end = text.find("\n", self.start + len(self.new))
        line = " ".join(text[begin:end].split())
        return f"{self.file} {self.function}: {line}"


class Maker(Parser):
    def __init__(self, name, text):
        super().__init__(name, text)
        self.mutants = []

    def add(self, start, end, new, kind):
        self.mutants.append(Mutant(self, start, end, new, kind))

    def words(self, node):
        return self.text[node.start:node.end]

    def replace(self, node, new, kind):
        self.add(node.start, node.end, new, kind)

    def shift(self, node, kind, steps="+-"):
        """node + 1 and node - 1."""
        words = self.words(node)
        for step in steps:
            if re.fullmatch(r"\d+", words):
                new = str(int(words) + (1 if step == "+" else -1))
            elif node.kind == "ternary" or PRECEDENCE.get(node.op, 10) < 9:
                new = f"({words}) {step} 1"
            else:
                new = f"{words} {step} 1"
            self.replace(node, new, f"{kind}{step}1")

    def is_real(self, node):
        if node.kind == "name":
            return self.types.get(node.name) in REALS
        if node.kind == "number":
            return "." in node.name
        if node.kind == "index":
            return True  # an element: nearly all arrays are of floats
        if node.kind == "call":
            return node.name in REAL_FUNCTIONS
        return any(self.is_real(part) for part in node.parts)

    def is_whole(self, node):
        """Neither a float nor a pointer nor a struct."""
        other = node.kind == "name" and (
            self.types.get(node.name) in ("pointer", "struct")
            or node.name.isupper())  # a macro's option or type
        return not (self.is_real(node) or other or node.op == "&")

    # ---- Expressions -------------------------------------------------------

    def on_assignment(self, left, op, right):
        kind = self.types.get(left.name) if left.kind == "name" else \
            "float" if self.is_real(right) else "int"
        self.on_value(kind, right)
        if op.text == "+=" and kind in REALS:
            self.add(op.start, op.end, "=", "accumulate")
        if op.text == "/=":
            self.shift(right, "constant", "+")

    def on_ternary(self, node):
        condition, first, second = (self.words(p) for p in node.parts)
        self.replace(node, f"{condition} ? {second} : {first}",
                     "ternary-flip")
        self.replace(node, f"({first})", "ternary-first")
        self.replace(node, f"({second})", "ternary-second")

    def on_operator(self, left, op, right):
        if op.text in NEIGHBOUR:
            self.add(op.start, op.end, NEIGHBOUR[op.text], "compare")
            if op.text in OTHER_SIDE and not self.is_real(right):
                self.shift(right, "bound", OTHER_SIDE[op.text])
        elif op.text in ("&&", "||"):
            other = "||" if op.text == "&&" else "&&"
            self.add(op.start, op.end, other, "logic")
            self.add(left.start, right.start, "", "condition-drop")
            self.add(left.end, right.end, "", "condition-drop")
        elif op.text in ("/", "%"):
            self.add(left.end, right.end, "", "divide-drop")
            if not self.is_real(left):
                other = "%" if op.text == "/" else "/"
                self.add(op.start, op.end, other, "divide")
            if right.kind == "number":
                self.shift(right, "constant", "+")

    def on_chain(self, node):
        """Drop each term of a sum and each factor of a product."""
        names = {"+": "term-drop", "-": "term-drop", "*": "factor-drop"}
        if node.op not in names:
            return
        kind = names[node.op]
        left, right = node.parts
        self.add(left.end, right.end, "", kind)
        first = left.kind != "binary" or \
            PRECEDENCE[left.op] != PRECEDENCE[node.op]
        if first and node.op == "-":
            self.add(left.start, left.end, "0", kind)
        elif first or left.op in ("/", "%"):
            self.add(left.start, right.start, "", kind)

    def on_unary(self, node):
        part = node.parts[0]
        if node.op == "!":
            self.replace(node, self.words(part), "not-drop")
        if node.op == "-" and part.name == "INFINITY":
            self.replace(node, "0.0f", "constant")

    def on_primary(self, node):
        other = {"x": "y", "y": "x"}.get(node.name)
        if other in self.types:
            self.replace(node, other, "swap")
        if node.name == "0.0f":
            self.replace(node, "1.0f", "constant")

    def on_index(self, index):
        self.shift(index, "index")

    def on_call(self, function, node):
        name = function.name
        if name in AHEAD:
            self.mutants = [m for m in self.mutants if m.start < node.start]
        elif name == "barrier":
            self.replace(node, "", "barrier")
        elif name in POSITION:
            for other in "012":
                self.replace(node.parts[0], other, f"dimension-{other}")
        else:
            self.limits(function, node)
            for argument in node.parts:
                if self.is_whole(argument):
                    self.shift(argument, "argument")

    def limits(self, function, node):
        if function.name in ("min", "max"):
            other = "max" if function.name == "min" else "min"
            self.replace(function, other, "minmax")
        if function.name == "clamp":
            value, low, high = (self.words(a) for a in node.parts)
            self.replace(node, f"({value})", "clamp-drop")
            self.replace(node, f"min({value}, {high})", "clamp-low-drop")
            self.replace(node, f"max({value}, {low})", "clamp-high-drop")

    # ---- Statements --------------------------------------------------------

    def on_if_line(self, token):
        for match in re.finditer(r"[<>=!]=|<|>", token.text):
            self.add(token.start + match.start(), token.start + match.end(),
                     NEIGHBOUR[match.group()], "compare")

    def on_if(self, condition):
        self.replace(condition, "1", "condition-true")
        self.replace(condition, "0", "condition-false")

    def on_size(self, size):
        self.shift(size, "size", "-")

    def on_value(self, base, value):
        """Of a declaration or a return."""
        if base in INTEGERS or base == "pointer":
            self.shift(value, "value")


def mutants_of(name, text):
    """In order, none twice and none that changes nothing."""
    maker = Maker(name, text)
    maker.file()
    seen = set()
    mutants = []
    for mutant in sorted(maker.mutants, key=lambda m: (m.start, m.end)):
        change = (mutant.start, mutant.end, mutant.new)
        if change not in seen and text[mutant.start:mutant.end] != mutant.new:
            seen.add(change)
            mutants.append(mutant)
    return mutants
