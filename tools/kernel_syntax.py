# SPDX-License-Identifier: Apache-2.0
#
# kernel_syntax.py - reads the OpenCL C that kernels/ is written in, and tells
# a subclass of Parser what it finds.
"""Knows the subset of C that kernels/ needs, and says so by an error where a
file leaves it.  Function bodies only, those that a macro defines too, and #if
lines."""

import re

MARKS = (r"\+\+|--|<<=?|>>=?|[-+*/%&|^=!<>]=|&&|\|\||->|\.\.\."
         r"|[-+*/%&|^=!<>?:;,.(){}\[\]~]")
TOKEN = re.compile(rf"""
    (?P<space>(?:\s|\\\n)+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>0[xX][\da-fA-F.]+[pP][+-]?\d+[fF]?
             |0[xX][\da-fA-F]+[uUlL]*
             |(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[fFuUlLhH]*)
  | (?P<mark>{MARKS})
""", re.VERBOSE | re.DOTALL)

INTEGERS = {"int", "long", "size_t", "uint", "ulong", "short", "char", "uchar",
            "ushort", "VI", "VU"}
REALS = {"float", "half", "double", "V"}
TYPES = INTEGERS | REALS | {"void", "bool"}
QUALIFIERS = {"const", "restrict", "volatile", "static", "inline", "unsigned",
              "__global", "__local", "__private", "__constant", "__kernel"}
PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
              "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9,
              "-": 9, "*": 10, "/": 10, "%": 10}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=",
               ">>="}
# A macro that defines a function.
MAKER = re.compile(r"#\s*define\s+\w+\([^)]*\)(?=[\s\\]*(?:static|INLINE)\b)")


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start = kind, text, start
        self.end = start + len(text)


class Node:
    """An expression: its kind, the span of its text, and what the kind has."""

    def __init__(self, kind, start, end, parts=(), op=None, name=None):
        self.kind, self.start, self.end = kind, start, end
        self.parts, self.op, self.name = list(parts), op, name


def tokenize(text, fail, at=0, end=None):
    tokens = []
    end = len(text) if end is None else end
    while at < end:
        match = TOKEN.match(text, at, end)
        if not match:
            fail(at, "a character that is not known here")
        if match.lastgroup != "space":
            tokens.append(Token(match.lastgroup, match.group(), at))
        at = match.end()
    return tokens


class Parser:
    """A subclass has the methods on_..., called when the thing was read."""

    def __init__(self, name, text):
        self.name, self.text, self.at = name, text, 0
        self.tokens = tokenize(text, self.fail)
        self.function, self.returns = "-", ""
        self.types = {}  # of names in the function: a base type, or "pointer"

    def fail(self, at, what):
        line = self.text.count("\n", 0, at) + 1
        raise SystemExit(f"mutate: {self.name}:{line}: {what}: "
                         f"{self.text[at:at + 30]!r}")

    # ---- Tokens ------------------------------------------------------------

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def take(self, expected=None):
        if self.at >= len(self.tokens):
            self.fail(len(self.text), "the file ends too early")
        token = self.tokens[self.at]
        if expected and token.text != expected:
            self.fail(token.start, f"expected {expected!r}")
        self.at += 1
        return token

    def kind(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at].kind if at < len(self.tokens) else ""

    def behind_brackets(self, ahead):
        """How far ahead what follows the brackets at `ahead` is."""
        depth = 0
        while True:
            text = self.peek(ahead)
            depth += text in ("(", "[", "{")
            depth -= text in (")", "]", "}")
            ahead += 1
            if depth == 0 or not text:
                return ahead

    def last_end(self):
        return self.tokens[self.at - 1].end

    def skip_brackets(self):
        self.at += self.behind_brackets(0)

    # ---- Expressions -------------------------------------------------------

    def expression(self):
        """With assignments."""
        left = self.ternary()
        if self.peek() not in ASSIGNMENTS:
            return left
        op = self.take()
        right = self.expression()
        self.on_assignment(left, op, right)
        return Node("assign", left.start, right.end, [left, right], op.text)

    def ternary(self):
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.take("?")
        first = self.ternary()
        self.take(":")
        second = self.ternary()
        node = Node("ternary", condition.start, second.end,
                    [condition, first, second])
        self.on_ternary(node)
        return node

    def binary(self, least):
        left = self.unary()
        while PRECEDENCE.get(self.peek(), 0) >= least:
            op = self.take()
            right = self.binary(PRECEDENCE[op.text] + 1)
            self.on_operator(left, op, right)
            left = Node("binary", left.start, right.end, [left, right],
                        op.text)
        if least == 1:
            self.chains(left)
        return left

    def chains(self, node):
        if node.kind == "binary":
            for part in node.parts:
                self.chains(part)
            self.on_chain(node)

    def unary(self):
        token = self.tokens[self.at]
        if token.text in ("-", "!", "++", "--", "+", "~", "*", "&"):
            self.take()
            part = self.unary()
            node = Node("unary", token.start, part.end, [part], token.text)
            self.on_unary(node)
            return node
        if token.text == "(" and self.is_cast():
            self.skip_brackets()
            part = self.unary()
            return Node("cast", token.start, part.end, [part])
        return self.postfix(self.primary())

    def is_cast(self):
        """A type in brackets: before an operand a bracketed name can be nothing
        else."""
        behind = self.behind_brackets(0)
        inside = [self.peek(i) for i in range(1, behind - 1)]
        if not all(re.match(r"[A-Za-z_]|\*$", word) for word in inside):
            return False
        if inside[-1] == "*" or inside[-1] in TYPES:
            return True
        if len(inside) > 1:
            return False
        return self.kind(behind) in ("name", "number") or \
            self.peek(behind) == "("

    def primary(self):
        token = self.take()
        if token.text == "(":
            inner = [self.expression()]
            while self.peek() == ",":
                self.take(",")
                inner.append(self.expression())
            self.take(")")
            return Node("paren", token.start, self.last_end(), inner)
        if token.kind not in ("name", "number"):
            self.fail(token.start, "expected an expression")
        node = Node(token.kind, token.start, token.end, name=token.text)
        self.on_primary(node)
        return node

    def postfix(self, node):
        while self.peek() in ("[", "(", ".", "->", "++", "--"):
            if self.peek() == "[":
                self.take("[")
                index = self.expression()
                self.take("]")
                self.on_index(index)
                node = Node("index", node.start, self.last_end(),
                            [node, index])
            elif self.peek() == "(":
                node = self.call(node)
            else:
                dot = self.take()
                name = self.take().text if dot.text in (".", "->") \
                    else None
                node = Node("member", node.start, self.last_end(), [node],
                            name=name)
        return node

    def call(self, function):
        self.take("(")
        arguments = []
        while self.peek() != ")":
            arguments.append(self.expression())
            if self.peek() == ",":
                self.take(",")
        self.take(")")
        node = Node("call", function.start, self.last_end(), arguments,
                    name=function.name)
        self.on_call(function, node)
        return node

    # ---- Statements --------------------------------------------------------

    def file(self):
        for token in self.tokens:
            if token.kind == "directive" and \
                    re.match(r"#\s*(el)?if\b", token.text):
                self.on_if_line(token)
        self.tokens = [t for token in self.tokens for t in self.code_of(token)]
        while self.at < len(self.tokens):
            text = self.peek()
            if text == "__attribute__":
                self.take()
                self.skip_brackets()
            elif text == "(":
                self.function, self.returns = self.peek(-1), self.peek(-2)
                self.parameters()
            elif text == "{" and self.peek(-1) == ")":
                self.block()
            elif text == "{":  # of a struct
                self.skip_brackets()
            else:
                self.take()

    def code_of(self, token):
        """Itself, or of a directive the function that it defines."""
        if token.kind != "directive":
            return [token]
        head = MAKER.match(token.text)
        return tokenize(self.text, self.fail, token.start + head.end(),
                        token.end) if head else []

    def parameters(self):
        self.types = {}
        begin, depth = self.at, 0
        self.skip_brackets()
        words = []
        for token in self.tokens[begin:self.at]:
            depth += token.text == "("
            depth -= token.text == ")"
            if depth == 0 or (depth == 1 and token.text == ","):
                if words:
                    self.types[words[-1]] = kind_of(words)
                words = []
            elif token.start > self.tokens[begin].start:
                words.append(token.text)

    def block(self):
        self.take("{")
        while self.peek() != "}":
            self.statement()
        self.take("}")

    def statement(self):
        text = self.peek()
        if text == "{":
            self.block()
        elif text == "__attribute__":
            self.take()
            self.skip_brackets()
        elif text in ("for", "if", "while"):
            self.control()
        elif text in ("else", "do"):
            self.take()
        elif text == "__asm__":
            self.take()
            if self.peek() == "volatile":
                self.take()
            self.skip_brackets()
            self.take(";")
        elif text == "return":
            self.take()
            if self.peek() != ";":
                self.on_value(self.returns, self.expression())
            self.take(";")
        elif not self.macro():
            if text != ";":
                self.simple()
            self.take(";")

    def macro(self):
        """A macro that is no expression: nothing ends it."""
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", self.peek()):
            return False
        behind = self.behind_brackets(1) if self.peek(1) == "(" else 1
        if self.peek(behind) not in ("for", "}", "{") and \
                (behind == 1 or self.kind(behind) != "name" or
                 self.peek(behind + 1) in ("=", ";", ",", "[")):
            return False
        self.at += behind
        return True

    def control(self):
        keyword = self.take().text
        self.take("(")
        if keyword == "for":
            if self.peek() != ";":
                self.simple()
            self.take(";")
        condition = self.expression()
        if keyword == "if":
            self.on_if(condition)
        if keyword == "for":
            self.take(";")
            self.list()
        self.take(")")

    def list(self):
        self.expression()
        while self.peek() == ",":
            self.take(",")
            self.expression()

    def declares(self):
        """Whether a declaration begins here."""
        if self.peek() in TYPES | QUALIFIERS:
            return True
        # One name or more of the type, then that of what is declared.
        at = names = 0
        while self.kind(at) == "name":
            at, names = at + 1, names + 1
            if names == 1 and self.peek(at) == "(":
                at = self.behind_brackets(at)
        while self.peek(at) == "*":
            at, names = at + 1, 1
        if self.peek(at - 1) == "*" and self.kind(at) == "name":
            at, names = at + 1, 2
        return names > 1 and self.peek(at) in ("=", ";", ",", "[")

    def simple(self):
        """A declaration or an expression."""
        if not self.declares():
            self.list()
            return
        words = []
        while self.peek() in QUALIFIERS:
            self.take()
        words.append(self.take().text)
        if self.peek() == "(":
            self.skip_brackets()
        while self.kind() == "name" and \
                (self.kind(1) == "name" or self.peek(1) == "*"):
            words.append(self.take().text)
        self.declarator(words)
        while self.peek() == ",":
            self.take(",")
            self.declarator(words)

    def declarator(self, words):
        stars = []
        while self.peek() in ("*", "const", "restrict"):
            stars.append(self.take().text)
        kind = kind_of(words + stars)
        self.types[self.take().text] = kind
        while self.peek() == "[":
            self.take("[")
            self.on_size(self.expression())
            self.take("]")
        if self.peek() == "__attribute__":
            self.take()
            self.skip_brackets()
        if self.peek() == "=":
            self.take("=")
            self.initializer(kind)

    def initializer(self, kind):
        if self.peek() != "{":
            self.on_value(kind, self.ternary())
            return
        self.take("{")
        while self.peek() != "}":
            self.initializer(kind)
            if self.peek() == ",":
                self.take(",")
        self.take("}")


def kind_of(words):
    """Of a name declared so: a base type, "pointer" or "struct"."""
    if "*" in words:
        return "pointer"
    return next((w for w in words if w in TYPES), "struct")
