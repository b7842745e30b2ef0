# SPDX-License-Identifier: Apache-2.0
"""compilers.py - a kernel's text through the compiler of a target, from
build/gpu-compilers: what it says of registers and memory, and the machine code.
"""
import collections
import functools
import os
import re
import subprocess

from . import code

# registers of a work-item (Intel: of a hardware thread), bytes that a work-item
# keeps in memory for want of them, bytes of local memory, work-items that share
# an instruction.  code: None where the compiler shows none.
Built = collections.namedtuple("Built", "registers spill local lanes code")


class Failure(Exception):
    """A compiler refuses a kernel."""


class Absent(Exception):
    """A compiler is not there."""


class Compilers:
    def __init__(self, root, work):
        self.folder = os.path.join(root, "build", "gpu-compilers")
        self.work = work
        self.known_ptx = {}

    # ---- Which ---------------------------------------------------------------

    def _program(self, name):
        path = os.path.join(self.folder, "bin", name)
        if not os.path.exists(path):
            raise Absent("%s: tools/gpu-compilers installs it" % name)
        return path

    def _run(self, name, *arguments, cwd=None, **environment):
        done = subprocess.run(
            [self._program(name), *arguments], capture_output=True, text=True,
            env={**os.environ, **environment}, cwd=cwd, errors="replace")
        return done.returncode, done.stdout + done.stderr

    @functools.lru_cache(maxsize=None)
    def version(self, vendor):
        """Of all that makes the code: "clang 16.0.6, ptxas 13.2.78"."""
        if vendor == "intel":
            self._run("ocloc", "query", "OCL_DRIVER_VERSION", cwd=self.work)
            with open(os.path.join(self.work, "OCL_DRIVER_VERSION")) as file:
                return "ocloc " + file.read().strip(" \n\0")
        text = "clang " + self._says("clang", r"version (\S+)")
        if vendor == "nvidia":
            text += ", ptxas " + self._says("ptxas", r"V([\d.]+)")
        return text

    def _says(self, name, pattern):
        said = self._run(name, "--version")[1]
        found = re.search(pattern, said)
        if not found:
            raise Absent("%s does not start (%s): tools/gpu-compilers gets it "
                         "again" % (self._program(name), said.strip()[:200]))
        return found[1]

    # ---- Building -----------------------------------------------------------

    def build(self, target, options, source, name):
        """`name` tells files of builds at the same time apart."""
        return getattr(self, "_build_" + target.vendor)(
            target, options.split(), self._put(source, name))

    def _put(self, source, name):
        path = os.path.join(self.work, name)
        with open(path + ".cl", "w") as file:
            file.write(source)
        return path

    def _clang(self, triple, library, more, path, out):
        bitcode = os.path.join(self.folder, "usr", "lib", "clc", library)
        # What a device's compiler would define, clang alone does not.
        status, log = self._run(
            "clang", "-target", triple, "-x", "cl", "-cl-std=CL1.2",
            "-D__OPENCL_VERSION__=120", "-Xclang", "-finclude-default-header",
            "-Xclang", "-mlink-builtin-bitcode", "-Xclang", bitcode,
            "-nogpulib", "-O3", "-w", *more, "-S", path + ".cl", "-o", out)
        if status:
            raise Failure(_first(log, "error"))
        with open(out) as file:
            return file.read()

    def _ptx(self, target, options, path):
        """Of all targets that clang knows by the same name, made once."""
        with open(path + ".cl") as file:
            key = target.cpu, tuple(options), file.read()
        if key not in self.known_ptx:
            self.known_ptx[key] = self._clang(
                "nvptx64--nvidiacl", "nvptx64--nvidiacl.bc",
                ["-Xclang", "-target-cpu", "-Xclang", target.cpu, *options],
                path, path + ".ptx")
        with open(path + ".ptx", "w") as file:
            file.write(self.known_ptx[key])

    def check_ptx(self, target, options, source, name):
        """A failure unless the kernel becomes PTX."""
        self._ptx(target, options.split(), self._put(source, name))

    def _build_nvidia(self, target, options, path):
        self._ptx(target, options, path)
        status, log = self._run("ptxas", "-v", "-arch=" + target.name,
                                path + ".ptx", "-o", path + ".cubin")
        if status:
            raise Failure(_first(log, "error|fatal"))
        status, text = self._run("nvdisasm", "-c", path + ".cubin")
        if status:
            raise Failure("nvdisasm: " + _first(text, ""))
        return Built(_number(r"Used (\d+) registers", log),
                     _number(r"(\d+) bytes stack frame", log),
                     _number(r"(\d+) bytes smem", log), target.wave,
                     code.read_nvidia(text))

    def _build_amd(self, target, options, path):
        text = self._clang("amdgcn-amd-amdhsa", "amdgcn--amdhsa.bc",
                           ["-mcpu=" + target.cpu, *options], path, path + ".s")
        return Built(_number(r"; NumVgprs: (\d+)", text),
                     _number(r"; ScratchSize: (\d+)", text),
                     _number(r"; LDSByteSize: (\d+)", text), target.wave,
                     code.read_amd(text, target.wave))

    def _build_intel(self, target, options, path):
        dump, parts = path + ".igc", path + ".parts"
        os.makedirs(dump)
        os.makedirs(parts)
        status, log = self._run(
            "ocloc", "compile", "-file", path + ".cl", "-device", target.cpu,
            "-options", " ".join(["-cl-std=CL1.2", *options]),
            "-internal_options", "-cl-intel-allow-zebin", "-out_dir", parts,
            "-output", "k", IGC_ShaderDumpEnable="1",
            IGC_DumpToCustomDir=dump)
        binary = [f for f in os.listdir(parts) if f.endswith(".bin")]
        if status or not binary:
            raise Failure(_first(log, "error"))
        self._run("ocloc", "disasm", "-file", os.path.join(parts, binary[0]),
                  "-device", target.cpu, "-dump", parts)
        with open(os.path.join(parts, ".ze_info")) as file:
            about = file.read().split("kernels_misc_info")[0]
        lanes = _number(r"simd_size: +(\d+)", about)
        return Built(_number(r"grf_count: +(\d+)", about),
                     _intel_spill(about, lanes),
                     _number(r"slm_size: +(\d+)", about), lanes,
                     _intel_code(dump, lanes))


def _intel_spill(about, lanes):
    """Bytes of a work-item in memory: what a hardware thread has is for all of
    its work-items; what a "simt thread" has is one's own."""
    spill = 0
    for buffer in re.findall(r"- type: +(?:scratch|global)\n(?: {8}.*\n)*",
                             about):
        size = _number(r" size: +(\d+)", buffer)
        spill += size if "is_simt_thread:  true" in buffer else -(-size // lanes)
    return spill


def _intel_code(dump, lanes):
    """Of the width that was taken, and the last try."""
    files = [os.path.join(dump, f) for f in os.listdir(dump)
             if f.endswith(".asm") and "simd%d_" % lanes in f]
    if not files:
        return None
    with open(max(files, key=os.path.getmtime)) as file:
        return code.read_intel(file.read(), lanes)


def _number(pattern, text):
    """The largest: a file may hold more than one function."""
    return max((int(n) for n in re.findall(pattern, text)), default=0)


def _first(log, pattern):
    lines = [x for x in log.splitlines() if re.search(pattern, x, re.I)]
    return (lines or log.splitlines() or ["it says nothing"])[0].strip()
