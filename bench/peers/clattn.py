# SPDX-License-Identifier: Apache-2.0
"""clattn.py - attention on OpenCL devices from Python, by the C library.

    import numpy, clattn

    q, k, v = numpy.random.default_rng(0).random((3, 1, 8, 128, 64), "float32")
    with clattn.Context() as context:
        out = context.attention(q, k, v, causal=clattn.TOP_LEFT)

Arrays are (B, H, L, D) in any strides, as long as those of a row's elements lie
side by side: float32, float16, or ml_dtypes' bfloat16.  include/clattn/clattn.h
tells what each field and function means; the structs here repeat its order.  The
library is searched as CLATTN_LIBRARY names it, else where the system has it.
"""
import ctypes
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_float, c_int32
from ctypes import c_size_t, c_uint32, c_uint64, c_void_p, sizeof

import numpy

F32, F16, BF16, BOOL = 1, 2, 3, 4
TOP_LEFT, BOTTOM_RIGHT = 1, 2
RETURN_LSE, KEY_LENGTHS = 1 << 0, 1 << 9
IN_OUT, OUT_IN = 1, 2
PRECISION_F32, PRECISION_STORAGE = 0, 1
DTYPES = {"float32": F32, "float16": F16, "bfloat16": BF16, "bool": BOOL}

library = ctypes.CDLL(os.environ.get("CLATTN_LIBRARY", "libclattn.so.0"))
library.clattn_version_text.restype = c_char_p
library.clattn_plan_describe.restype = c_char_p
library.clattn_plan_workspace_bytes.restype = c_size_t
library.clattn_context_cl.restype = c_void_p
library.clattn_context_device.restype = c_void_p
version = library.clattn_version_text().decode()


class Struct(ctypes.Structure):
    """A struct that knows its size, and is 0 but for what is given."""

    def __init__(self, **fields):
        super().__init__(**fields)
        if hasattr(self, "struct_size"):
            self.struct_size = sizeof(self)


class ErrorText(Struct):
    _fields_ = [("status", c_int32), ("cl_code", c_int32),
                ("message", c_char * 504)]


class Tensor(Struct):
    _fields_ = [("batch", c_size_t), ("head", c_size_t), ("row", c_size_t),
                ("dtype", c_int32), ("reserved", c_int32)]


class Mask(Struct):
    _fields_ = [("size", c_size_t * 4), ("stride", c_size_t * 4),
                ("dtype", c_int32), ("reserved", c_int32)]


class Place(Struct):
    """clattn_input and clattn_output: a buffer or a host pointer."""
    _fields_ = [("mem", c_void_p), ("host", c_void_p), ("offset", c_size_t)]


class Attention(Struct):
    _fields_ = [
        ("struct_size", c_size_t), ("B", c_size_t), ("Hq", c_size_t),
        ("Hkv", c_size_t), ("Lq", c_size_t), ("Lk", c_size_t),
        ("D", c_size_t), ("Dv", c_size_t), ("q_rows", c_size_t),
        ("k_rows", c_size_t), ("q", Tensor), ("k", Tensor), ("v", Tensor),
        ("out", Tensor), ("lse", Tensor), ("weights", Tensor), ("mask", Mask),
        ("alibi_slopes", POINTER(c_float)), ("kernel", c_char_p),
        ("disable", c_char_p), ("dtype", c_int32), ("flags", c_uint32),
        ("diagonal", c_int32), ("diagonal_offset", c_int32),
        ("causal", c_int32), ("window_left", c_int32),
        ("window_right", c_int32), ("has_scale", c_int32), ("scale", c_float),
        ("softcap", c_float), ("dropout_p", c_float), ("precision", c_int32)]

    def __init__(self, **fields):
        library.clattn_attention_init(byref(self), c_size_t(sizeof(self)))
        for name, value in fields.items():
            setattr(self, name, value)


class AttentionArgs(Struct):
    _fields_ = [("struct_size", c_size_t)] + [(name, Place) for name in (
        "out", "lse", "weights", "q", "k", "v", "mask", "sinks",
        "query_lengths", "key_lengths", "query_starts", "key_starts",
        "diagonal_offsets", "workspace")] + [
            ("dropout_seed", c_uint64), ("dropout_offset", c_uint64)]


class Linear(Struct):
    _fields_ = [
        ("struct_size", c_size_t), ("rows", c_size_t), ("n_in", c_size_t),
        ("n_out", c_size_t), ("x", Tensor), ("w", Tensor), ("y", Tensor),
        ("kernel", c_char_p), ("disable", c_char_p), ("dtype", c_int32),
        ("weight_order", c_int32), ("has_bias", c_int32),
        ("reserved", c_int32)]

    def __init__(self, **fields):
        library.clattn_linear_init(byref(self), c_size_t(sizeof(self)))
        for name, value in fields.items():
            setattr(self, name, value)


class LinearArgs(Struct):
    _fields_ = [("struct_size", c_size_t)] + [
        (name, Place) for name in ("y", "x", "w", "b", "workspace")]


class Error(Exception):
    """What the library says went wrong; status is a clattn_status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def call(function, *arguments):
    """Call what takes a clattn_error at its end and returns a status."""
    error = ErrorText()
    status = function(*arguments, byref(error))
    if status:
        raise Error(status, error.message.decode(errors="replace"))


def tensor(array):
    """The strides and dtype of a (B, H, L, D) array."""
    *strides, last = (step // array.itemsize for step in array.strides)
    if last != 1 and array.shape[-1] > 1:
        raise ValueError("the elements of a row must lie side by side")
    return Tensor(batch=strides[0], head=strides[1], row=strides[2],
                  dtype=DTYPES[array.dtype.name])


def host(array):
    return Place(host=array.ctypes.data)


def describe(q, k, v, out, causal=None, mask=None, scale=None, softcap=0.0,
             window=(-1, -1), key_lengths=None, lse=None, kernel=None,
             precision=PRECISION_F32):
    """The descriptor of one attention; arrays lend their shapes and strides.

    causal: TOP_LEFT or BOTTOM_RIGHT.  mask: bool (true may attend), or added to
    the scores; its sizes are those of (B, H, Lq, Lk), or 1."""
    # The library sees pointers, not arrays: only here can they be compared.
    if k.shape != q.shape[:1] + k.shape[1:3] + q.shape[3:] or \
            v.shape[:3] != k.shape[:3] or out.shape != q.shape[:3] + v.shape[3:]:
        raise ValueError(f"q {q.shape}, k {k.shape}, v {v.shape} and out "
                         f"{out.shape} do not belong together")
    a = Attention(B=q.shape[0], Hq=q.shape[1], Hkv=k.shape[1], Lq=q.shape[2],
                  Lk=k.shape[2], D=q.shape[3], Dv=v.shape[3], q=tensor(q),
                  k=tensor(k), v=tensor(v), out=tensor(out),
                  dtype=DTYPES[q.dtype.name], softcap=softcap,
                  precision=precision,
                  window_left=window[0], window_right=window[1])
    if causal is not None:
        a.causal, a.diagonal = 1, causal
    elif window != (-1, -1):
        a.diagonal = TOP_LEFT
    if mask is not None:
        a.mask.dtype = DTYPES[mask.dtype.name]
        a.mask.size[:] = mask.shape
        a.mask.stride[:] = [step // mask.itemsize for step in mask.strides]
    if scale is not None:
        a.has_scale, a.scale = 1, scale
    if key_lengths is not None:
        a.flags |= KEY_LENGTHS
    if lse is not None:
        a.flags |= RETURN_LSE
    if kernel is not None:
        a.kernel = kernel.encode()
    return a


class Plan:
    """What was decided and compiled for one descriptor."""

    def __init__(self, context, make, enqueue, descriptor):
        self.handle = c_void_p()
        self.function = enqueue
        call(make, byref(self.handle), context.handle, byref(descriptor))
        self.text = library.clattn_plan_describe(self.handle).decode()
        self.workspace_bytes = library.clattn_plan_workspace_bytes(self.handle)

    def enqueue(self, queue, args):
        """Queue the work and return at once.  The buffers in args must live
        until it is done."""
        call(self.function, self.handle, queue, byref(args), c_uint32(0), None,
             None)

    def close(self):
        library.clattn_plan_destroy(self.handle)
        self.handle = c_void_p()


class Context:
    """One OpenCL device.  spec: as `clattn devices` lists them, such as "0" or
    "pocl"; None: the best."""

    def __init__(self, spec=None):
        self.handle = c_void_p()
        call(library.clattn_context_create, byref(self.handle),
             spec.encode() if spec else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        library.clattn_context_destroy(self.handle)
        self.handle = c_void_p()

    @property
    def cl(self):
        return c_void_p(library.clattn_context_cl(self.handle))

    @property
    def device(self):
        return c_void_p(library.clattn_context_device(self.handle))

    def attention(self, q, k, v, mask=None, key_lengths=None, lse=None,
                  **options):
        """Attention of arrays in host memory; blocks.  lse: an array (B, H, Lq)
        of float32 that is filled.  The options are those of `describe`."""
        out = numpy.empty(q.shape[:3] + v.shape[3:], q.dtype)
        args = AttentionArgs(out=host(out), q=host(q), k=host(k), v=host(v))
        given = {"mask": mask, "key_lengths": key_lengths, "lse": lse}
        for name, array in given.items():
            if array is not None:
                setattr(args, name, host(array))
        call(library.clattn_attention_host, self.handle,
             byref(describe(q, k, v, out, **given, **options)), byref(args))
        return out

    def attention_plan(self, descriptor):
        return Plan(self, library.clattn_attention_plan,
                    library.clattn_attention_enqueue, descriptor)

    def linear_plan(self, descriptor):
        return Plan(self, library.clattn_linear_plan,
                    library.clattn_linear_enqueue, descriptor)
