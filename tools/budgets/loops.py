# SPDX-License-Identifier: Apache-2.0
"""loops.py - the loops of machine code, and the cheapest pass through one that
loads all it can and does a given amount of arithmetic.

A kernel's main loop holds branches that a usual pass does not take, for the
last keys or a mask's edge, and inner loops whose number of passes the code does
not show.  The row says how much arithmetic a pass of the main loop is; inner
loops that do arithmetic are passed through as often as that takes, the others
once.  Of the ways through, those that load most from global memory are usual:
not to load is for what lies beyond an edge.  Where the row says how much a pass
loads, all are usual that load as much: more than that is loaded again, by a
branch that is not taken together with the other.  Of these the cheapest counts.
"""
import collections


class Loop:
    """A natural loop: its first block and all blocks, inner loops' too."""

    def __init__(self, head, blocks):
        self.head = head
        self.blocks = blocks
        self.inner = []  # directly inside


def _blocks_of(code):
    """[(first, end)] of the basic blocks, and block -> successors."""
    instructions, n = code.instructions, len(code.instructions)
    starts = {0} | {at for at in code.labels.values() if at < n}
    for at, i in enumerate(instructions):
        if (i.target or not i.falls) and at + 1 < n:
            starts.add(at + 1)
    starts = sorted(starts)
    ends = starts[1:] + [n]
    block_at = {start: b for b, start in enumerate(starts)}
    following = []
    for b, end in enumerate(ends):
        last = instructions[end - 1]
        to = []
        if last.target in code.labels and code.labels[last.target] < n:
            to.append(block_at[code.labels[last.target]])
        if last.falls and b + 1 < len(starts):
            to.append(b + 1)
        following.append(to)
    return list(zip(starts, ends)), following


def _order(following):
    """Blocks that are reached from the first, each before its successors but
    along backward edges."""
    seen, order, stack = {0}, [], [(0, iter(following[0]))]
    while stack:
        block, rest = stack[-1]
        for to in rest:
            if to not in seen:
                seen.add(to)
                stack.append((to, iter(following[to])))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _dominators(following, order):
    """block -> its immediate dominator (Cooper, Harvey and Kennedy)."""
    rank = {b: n for n, b in enumerate(order)}
    before = collections.defaultdict(list)
    for b in order:
        for to in following[b]:
            before[to].append(b)
    above = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for b in order[1:]:
            known = [x for x in before[b] if x in above]
            new = known[0]
            for x in known[1:]:
                while x != new:
                    if rank[x] > rank[new]:
                        x = above[x]
                    else:
                        new = above[new]
            if above.get(b) != new:
                above[b] = new
                changed = True
    return above, before


def _dominates(above, a, b):
    while b != a and above[b] != b:
        b = above[b]
    return a == b


def _loops_of(following, order):
    above, before = _dominators(following, order)
    bodies = {}
    for b in order:
        for head in following[b]:
            if head in above and _dominates(above, head, b):
                body = bodies.setdefault(head, {head})
                stack = [b]
                while stack:
                    x = stack.pop()
                    if x not in body:
                        body.add(x)
                        stack.extend(before[x])
    loops = sorted((Loop(h, s) for h, s in bodies.items()),
                   key=lambda loop: len(loop.blocks))
    for n, loop in enumerate(loops):
        for outer in loops[n + 1:]:
            if loop.head in outer.blocks:
                outer.inner.append(loop)
                break
    return loops


class Pass:
    """What a path costs: instructions by kind, arithmetic that is not in an
    inner loop, and bytes from global memory; `left` are the phases that no
    inner loop has done, the first `skipped` of them for good, since loops are
    in the phases' order."""

    def __init__(self, count, straight, loaded, left, skipped=0):
        self.count = count
        self.loaded = loaded
        self.size = sum(count.values())
        self.straight = straight
        self.left = left
        self.skipped = skipped

    def rank(self, enough=float("inf")):
        """The usual before the unusual, then the cheap before the dear; as many
        bytes are enough."""
        return -min(self.loaded, enough), self.size

    def betters(self, other, enough):
        """What can follow the other one is no worse after this one."""
        return (self.loaded >= min(other.loaded, enough) and
                self.size <= other.size and self.straight >= other.straight)

    def then(self, count, straight, loaded):
        return Pass(self.count + count, self.straight + straight,
                    self.loaded + loaded, self.left, self.skipped)

    def then_phase(self, done, n, passes):
        """An inner loop that does so many passes of the n-th of those left."""
        rest = self.left[n].passes - passes
        left = self.left[:n] + self.left[n + 1:] if not rest else \
            self.left[:n] + (self.left[n]._replace(passes=rest),) + \
            self.left[n + 1:]
        return Pass(self.count + done.count, self.straight,
                    self.loaded + done.loaded, left, n)

    def times(self, n):
        """This pass n times."""
        return Pass(collections.Counter({k: c * n for k, c in
                                         self.count.items()}),
                    self.straight * n, self.loaded * n, self.left)


# Of a phase: `passes` of a loop, if one is left, with `work` multiply-adds
# each; useful: not the price of an exponential; loaded: bytes of a pass from
# global memory, None if the row does not say.
Phase = collections.namedtuple("Phase", "passes work useful loaded",
                               defaults=(None,))

# Arithmetic beyond the phases, as a share of all: an address, a rescaling.
MORE = 0.03
# Ways to the same place that are followed: where nothing says what is enough,
# and where it does.
FEW, MANY = 8, 500
UNROLLED = (1, 2, 4, 8)


def _whole(work, part):
    """How often a part makes the work, or 0: of leaves nothing is guessed."""
    times, rest = divmod(work, part) if part else (0, 1)
    return 0 if rest else int(times)


class Kernel:
    """The loops of a kernel's code."""

    def __init__(self, code):
        self.code = code
        self.known = {}
        # Beside matrix units nothing else is useful, nor tells passes apart.
        kinds = {i.kind for i in code.instructions}
        self.working = ("matrix",) if "matrix" in kinds else tuple(kinds)
        self.blocks, self.following = _blocks_of(code)
        self.order = _order(self.following)
        self.loops = _loops_of(self.following, self.order)
        self.counts = {b: self._count(b) for b in self.order}

    def _count(self, block):
        first, end = self.blocks[block]
        inside = self.code.instructions[first:end]
        return (collections.Counter(i.kind for i in inside),
                sum(i.work for i in inside if i.kind in self.working), sum(i.loaded for i in inside))

    # ---- One pass ----------------------------------------------------------

    def _steps(self, loop):
        """The blocks and inner loops of a loop in order, and what follows
        each; None is the end of a pass."""
        owner = {b: inner for inner in loop.inner for b in inner.blocks}
        steps, after = [], collections.defaultdict(list)
        for b in self.order:
            if b not in loop.blocks:
                continue
            step = owner.get(b, b)
            if step not in after:
                steps.append(step)
            for to in self.following[b]:
                goal = None if to == loop.head else \
                    owner.get(to, to) if to in loop.blocks else step
                if goal is not step:
                    after[step].append(goal)
            after[step] = after[step]
        return steps, after

    def _through(self, inner, path):
        """The path on, through an inner loop: once, or as one of the phases
        that are left."""
        ways = []
        for n in range(path.skipped, len(path.left)):
            # A loop over passes may have become several, each with some.
            for passes in range(1, path.left[n].passes + 1):
                done = self._as_phase(
                    inner, path.left[n]._replace(passes=passes))
                if done:
                    ways.append(path.then_phase(done, n, passes))
        once = self.cheapest(inner, ())
        if once:
            ways.append(path.then(once.count, once.straight, once.loaded))
        return ways

    def _as_phase(self, inner, phase):
        """All passes of that loop if it does the phase, or None."""
        if not inner.inner:
            once = self.cheapest(inner, ())
            return once and self._as_leaf(once, phase)
        for unrolled in UNROLLED:
            if phase.passes % unrolled == 0:
                part = phase._replace(passes=unrolled)
                found = self.cheapest(inner, (part,))
                if found:
                    return found.times(phase.passes // unrolled)
        return None

    @staticmethod
    def _as_leaf(once, phase):
        """All passes of a loop without inner ones: as many as make one of the
        phase's, or each has some whole ones inside, unrolled.  Never both: keys
        one by one are another loop, for the last few."""
        if phase.passes == 1:
            times = _whole(phase.work, once.straight)
        else:
            times = _whole(phase.passes, _whole(once.straight, phase.work))
        return once.times(times) if times else None

    def cheapest(self, loop, phases):
        """The cheapest usual pass through a loop that does all phases; None:
        none does.  Without phases: the cheapest usual one."""
        key = (loop.head, phases)
        if key not in self.known:
            self.known[key] = self._cheapest(loop, phases)
        return self.known[key]

    def _cheapest(self, loop, phases):
        steps, after = self._steps(loop)
        enough = _enough(phases)
        reached = collections.defaultdict(list)
        reached[steps[0]] = [Pass(collections.Counter(), 0, 0, phases)]
        done = []
        for step in steps:
            paths = []
            for path in _best(reached[step], enough):
                if isinstance(step, Loop):
                    paths += self._through(step, path)
                else:
                    paths.append(path.then(*self.counts[step]))
            for goal in set(after[step]):
                if goal is None:
                    done += paths
                else:
                    reached[goal] += paths
        done = [p for p in done if _does(p, phases)]
        return min(done, key=lambda p: p.rank(enough)) if done else None

    # ---- The main loop ------------------------------------------------------

    def main_loop(self, phases):
        """(count, passes unrolled into it) of the smallest loop that does the
        phases; None: none does.  What is unrolled shows in arithmetic outside
        inner loops: they could be passed through twice as often anyway."""
        for loop in self.loops:
            for unrolled in UNROLLED:
                wanted = tuple(p._replace(passes=p.passes * unrolled)
                               for p in phases)
                found = self.cheapest(loop, wanted)
                if found and (unrolled == 1 or found.left):
                    return found.count, unrolled
        return None


def _does(path, phases):
    """Whether the straight part does what no inner loop did."""
    if not phases:
        return True
    left = sum(p.passes * p.work for p in path.left)
    most = left + MORE * sum(p.passes * p.work for p in phases)
    return left <= path.straight <= most


def _enough(phases):
    """Bytes that a usual pass loads, if the row says so."""
    said = [p.passes * p.loaded for p in phases if p.loaded is not None]
    return sum(said) if said else float("inf")


def _best(paths, enough):
    """Without those that another one betters: the same phases left, before it
    in rank, no less arithmetic; and few of each kind."""
    kept = collections.defaultdict(list)
    if enough < float("inf"):
        for path in sorted(paths, key=lambda p: p.size):
            alike = kept[path.left, path.skipped]
            if not any(k.betters(path, enough) for k in alike):
                alike.append(path)
        paths = [path for alike in kept.values() for path in alike]
        if len(paths) <= MANY:
            return paths
        kept.clear()
    for path in sorted(paths, key=lambda p: p.rank(enough)):
        alike = kept[path.left, path.skipped]
        if len(alike) < FEW and \
                all(k.straight < path.straight for k in alike):
            alike.append(path)
    return [path for alike in kept.values() for path in alike]
