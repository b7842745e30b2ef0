# SPDX-License-Identifier: Apache-2.0
#
# mutating.py - what mutate and mutate-host share: running test programs within
# processor time, explanations of survivors, reports, and the command line.
"""A caller has a bench, with check_unmutated(mutants) and judge(mutant), and a
list of mutants; main() does the rest."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPLAINED = ROOT / "tools" / "mutants.txt"
# A mutant that does not end is caught by processor time, which does not depend
# on what else the machine does: this many times what the program takes without
# any mutation, and so many seconds on top.  By the clock only where it sleeps.
CPU_TIMES, CPU_MORE, CLOCK_SECONDS = 4, 2, 1800
VERDICTS = ("caught", "oclgrind", "invalid", "explained", "SURVIVED")

# "oclgrind": all results are right, but it reports a race or a stray access.
Result = collections.namedtuple("Result", "verdict why")


# How the help of both ends.
EPILOG = """\
A mutant is caught by a test that fails, crashes or does not end.  tools/
mutants.txt explains those that no test can catch.  Exit status: 0 all others
are caught; 1 one survived without an explanation, or an explanation is out of
date; 2 the tests fail without any mutation, or wrong use."""


def stop(message):
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(2)


# ---- Running a test program --------------------------------------------------

def limited(cpu_seconds):
    """What a child does before it becomes the program."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def on_pocl(work):
    """An environment with PoCL alone and nothing of the caller's."""
    vendors = work / "vendors"
    vendors.mkdir(exist_ok=True)
    shutil.copy("/etc/OpenCL/vendors/pocl.icd", vendors)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("CLATTN_", "CK_"))}
    # One thread each: as many mutants run at a time as there are jobs.
    env.update(OCL_ICD_VENDORS=f"{vendors}/",
               POCL_CACHE_DIR=str(work / "cache"),
               CLATTN_CACHE="0", POCL_MAX_PTHREAD_COUNT="1",
               CK_VERBOSITY="silent", CK_TAP_LOG_FILE_NAME="-")
    return env


def first_failure(command, env, cpu_seconds):
    """Of a test program: None, or what failed first; the rest is not run."""
    with subprocess.Popen(
            ["stdbuf", "-oL", *command], env=env, text=True,
            errors="replace", stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=limited(cpu_seconds)) as child:
        def end():
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
        timer = threading.Timer(CLOCK_SECONDS, end)
        timer.start()
        try:
            passed = 0
            for line in child.stdout:
                if line.startswith("not ok"):
                    return line.split(": ", 1)[-1].strip()
                passed += line.startswith("ok")
            code = child.wait()
        finally:
            timer.cancel()
            end()
    if code == 0 and passed == 0:
        return "no test ran"
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "does not end"
    return f"ended with {code}" if code else None


def measured(run):
    """What a run without any mutation returns, which is to be None, and the
    seconds that it takes."""
    before = children_seconds()
    why = run()
    return why, children_seconds() - before


def limit_of(seconds):
    return CPU_MORE + int(CPU_TIMES * seconds)


# ---- Explanations ------------------------------------------------------------

ENTRY = re.compile(r"(\w+\.(?:clh?|c)) (\w+|-): .*")


def read_explanations():
    """Key of a mutant -> reason.  A paragraph is a reason and then the mutants
    that it explains, one a line."""
    reasons = {}
    for paragraph in EXPLAINED.read_text().split("\n\n"):
        lines = [s for s in paragraph.splitlines() if not s.startswith("#")]
        entries = [s.strip() for s in lines if ENTRY.match(s.strip())]
        reason = " ".join(s.strip() for s in lines
                          if not ENTRY.match(s.strip()))
        for entry in entries:
            reasons[entry] = reason
    return reasons


def explain(results, reasons, files):
    """Apply the explanations; returns those of the files, all of whose mutants
    were tried, that explain nothing."""
    used = set()
    for mutant, result in results.items():
        if result.verdict == "SURVIVED" and mutant.key() in reasons:
            used.add(mutant.key())
            results[mutant] = Result("explained", reasons[mutant.key()])
    return sorted(r for r in set(reasons) - used if r.split()[0] in files)


# ---- Reports -----------------------------------------------------------------

class Progress:
    def __init__(self, total):
        self.total, self.done, self.begin = total, 0, time.monotonic()
        self.count = collections.Counter()
        self.lock = threading.Lock()

    def step(self, mutant, result, verbose):
        with self.lock:
            self.done += 1
            self.count[result.verdict] += 1
            if verbose or result.verdict == "SURVIVED":
                self.clear()
                print(f"{result.verdict:9} {mutant.ident()}\n"
                      f"          {mutant.key()}"
                      + (f"\n          {result.why}" if result.why else ""),
                      flush=True)
            if sys.stderr.isatty():
                print(f"\r{self.done}/{self.total} "
                      f"{time.monotonic() - self.begin:.0f} s, "
                      f"{self.count['SURVIVED']} not caught ",
                      end="", file=sys.stderr, flush=True)

    @staticmethod
    def clear():
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def print_table(results):
    count = collections.Counter((m.file, r.verdict)
                                for m, r in results.items())
    heads = ("mutants", "caught", "by oclgrind", "not compiling", "explained",
             "SURVIVED")
    print(f"\n{'file':20}" + "".join(f"{h:>14}" for h in heads))
    files = list(dict.fromkeys(m.file for m in results))
    for file in files + ["all"]:
        row = [sum(n for (f, v), n in count.items()
                   if file in (f, "all") and v == verdict)
               for verdict in VERDICTS]
        print(f"{file:20}" + "".join(f"{n:14}" for n in [sum(row)] + row))


def print_survivors(results):
    by_reason = collections.defaultdict(list)
    for mutant, result in results.items():
        if result.verdict == "explained":
            by_reason[result.why].append(mutant)
    for reason, mutants in by_reason.items():
        print(f"\nExplained: {reason}")
        for mutant in mutants:
            print(f"    {mutant.ident()}\n        {mutant.key()}")
    for mutant, result in results.items():
        if result.verdict == "SURVIVED":
            print(f"\nSURVIVED  {mutant.ident()}\n    {mutant.key()}")


# ---- Command line ------------------------------------------------------------

def parser_of(description, files, build):
    """`files` and `build` are what the help says of them."""
    parser = argparse.ArgumentParser(
        prog=f"tools/{pathlib.Path(sys.argv[0]).name}",
        description=description, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help=files)
    parser.add_argument("--list", action="store_true",
                        help="print the mutants and run nothing")
    parser.add_argument("--only", metavar="REGEX", type=re.compile,
                        help="mutants whose listing matches")
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="a sample: one mutant in N, spread over the files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        metavar="N", help="mutants at a time (%(default)s)")
    parser.add_argument("--build", type=pathlib.Path, help=build[0],
                        default=ROOT / "build" / build[1])
    parser.add_argument("--verbose", action="store_true",
                        help="print each mutant and what caught it")
    return parser


def known_files(arguments, folder, pattern):
    """Of the names on the command line, as the folder has them; [] if there are
    none."""
    known = sorted(p.relative_to(folder).as_posix()
                   for p in folder.rglob(pattern))
    files = [f.removeprefix(f"{folder.name}/") for f in arguments.files]
    for file in files:
        if file not in known:
            stop(f"{file} is not in {folder.name}/, which has "
                 f"{', '.join(known)}")
    return files


def chosen(mutants, arguments):
    if arguments.every < 1 or arguments.jobs < 1:
        stop("--every and --jobs must be 1 or more")
    only = arguments.only
    return [m for m in mutants
            if not only or only.search(f"{m.ident()} {m.key()}")
            ][::arguments.every]


def run(mutants, bench, arguments):
    bench.check_unmutated(mutants)
    progress = Progress(len(mutants))
    results = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        def one(mutant):
            result = bench.judge(mutant)
            progress.step(mutant, result, arguments.verbose)
            return result
        try:
            for mutant, result in zip(mutants, pool.map(one, mutants)):
                results[mutant] = result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress.clear()
    return results


def main(arguments, files, mutants, make_bench):
    """`files`: those whose mutants are all among `mutants`, unless the arguments
    choose; make_bench(work) is called with a folder that is removed in the
    end.  Returns the exit status."""
    # An end asked for politely removes the folder of mutants, too.
    signal.signal(signal.SIGTERM, lambda *_: stop("ended by a signal"))
    mutants = chosen(mutants, arguments)
    if arguments.list:
        for mutant in mutants:
            print(f"{mutant.ident()}\n    {mutant.key()}")
        print(f"{len(mutants)} mutants")
        return 0
    if not mutants:
        stop("nothing to do: --only must match")
    with tempfile.TemporaryDirectory() as work:
        results = run(mutants, make_bench(pathlib.Path(work)), arguments)
    stale = explain(results, read_explanations(),
                    [] if arguments.only or arguments.every > 1 else files)
    print_survivors(results)
    print_table(results)
    for entry in stale:
        print(f"\ntools/mutants.txt explains what did not survive: {entry}")
    survived = any(r.verdict == "SURVIVED" for r in results.values())
    return 1 if survived or stale else 0
