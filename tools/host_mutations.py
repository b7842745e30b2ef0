# SPDX-License-Identifier: Apache-2.0
#
# host_mutations.py - what can be wrong by one step in the host's C: every mutant
# of a file, in the order of its source.

import re

from kernel_syntax import tokenize
from mutations import NEIGHBOUR, Mutant

# What lets go of something, as a statement of its own.
RELEASE = re.compile(r"clRelease\w+|free|close|fclose|closedir|dlclose|unlink"
                     r"|\w+_(free|destroy|close|release|forget|remove)")
STATUSES = {"CLATTN_INVALID": "CLATTN_UNSUPPORTED"}
STATUS = re.compile(r"CLATTN_(INVALID|UNSUPPORTED|NO_DEVICE|NO_MEMORY"
                    r"|BUILD_FAILED|DEVICE_ERROR|FORKED)")
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}


class HostMaker:
    """Goes over the tokens of a file's functions; needs no more of C than
    where brackets, statements and functions begin and end."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.tokens = [t for t in tokenize(text, self.fail)
                       if t.kind != "directive"]
        self.function, self.returns = "-", []
        self.mutants = []

    def fail(self, at, what):
        line = self.text.count("\n", 0, at) + 1
        raise SystemExit(f"mutate-host: {self.name}:{line}: {what}")

    def word(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def add(self, start, end, new, kind):
        self.mutants.append(Mutant(self, start, end, new, kind))

    def replace(self, at, new, kind):
        self.add(self.tokens[at].start, self.tokens[at].end, new, kind)

    def behind(self, at):
        """Where what follows the brackets at `at` begins."""
        depth = 0
        while at < len(self.tokens):
            depth += self.word(at) in OPENING
            depth -= self.word(at) in CLOSING
            at += 1
            if depth == 0:
                return at
        return at

    def end_of_statement(self, at):
        while self.word(at) not in (";", ""):
            at = self.behind(at) if self.word(at) in OPENING else at + 1
        return at

    # ---- Functions ---------------------------------------------------------

    def file(self):
        at = begin = 0
        while at < len(self.tokens):
            word = self.word(at)
            if word == "(":
                name, after = at - 1, self.behind(at)
                if self.word(after) == "{":
                    self.function = self.word(name)
                    self.returns = [self.word(i) for i in range(begin, name)]
                    self.body(after, self.behind(after))
                    after = self.behind(after)
                    begin = after
                at = after
            elif word == "{":
                at = self.behind(at)
            else:
                at += 1
                begin = at if word == ";" else begin
        return self.mutants

    def body(self, begin, end):
        for at in range(begin, end):
            word = self.word(at)
            if word in NEIGHBOUR:
                self.replace(at, NEIGHBOUR[word], "compare")
            elif word == "!":
                self.replace(at, "", "not-drop")
            elif word == "TRY":
                self.replace(at, "(void)", "status-ignored")
            elif STATUS.fullmatch(word):
                other = STATUSES.get(word, "CLATTN_INVALID")
                self.replace(at, other, "status")
            elif word == "return":
                self.on_return(at)
            elif self.is_release(at):
                self.on_release(at)

    def on_return(self, at):
        begin, end = at + 1, self.end_of_statement(at)
        if begin == end:
            return
        start, stop = self.tokens[begin].start, self.tokens[end].start
        words = self.text[start:stop]
        if "bool" in self.returns:
            self.add(start, stop, f"!({words})", "return-flip")
        elif "clattn_status" in self.returns and "*" not in self.returns \
                and words != "CLATTN_OK":
            self.add(start, stop, f"((void)({words}), CLATTN_OK)",
                     "status-ok")

    def on_release(self, at):
        """Not evaluated, and still to be read in the line."""
        start, stop = self.tokens[at].start, \
            self.tokens[self.behind(at + 1)].start
        self.add(start, stop, f"(void)sizeof({self.text[start:stop]}, 0)",
                 "release-drop")

    def is_release(self, at):
        return self.word(at + 1) == "(" and RELEASE.fullmatch(self.word(at)) \
            and self.word(at - 1) in ("{", "}", ";", ")", "else") \
            and self.word(self.behind(at + 1)) == ";"


def mutants_of(name, text):
    return HostMaker(name, text).file()
