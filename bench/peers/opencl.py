# SPDX-License-Identifier: Apache-2.0
"""opencl.py - one queue and its buffers, by ctypes: what a caller of an enqueue
needs of OpenCL."""
import ctypes
from ctypes import byref, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

READ_WRITE, COPY_HOST_PTR = 1 << 0, 1 << 5
DEVICE_NAME, DRIVER_VERSION = 0x102B, 0x102D

cl = ctypes.CDLL("libOpenCL.so.1")
cl.clCreateCommandQueue.restype = c_void_p
cl.clCreateBuffer.restype = c_void_p


def check(code, call):
    if code:
        raise RuntimeError(f"{call} failed with OpenCL code {code}")


def device_text(device, what):
    text = ctypes.create_string_buffer(512)
    check(cl.clGetDeviceInfo(device, c_uint32(what), c_size_t(512), text, None),
          "clGetDeviceInfo")
    return text.value.decode(errors="replace")


class Queue:
    def __init__(self, context):
        code = c_int32()
        self.context = context
        self.handle = c_void_p(cl.clCreateCommandQueue(
            context.cl, context.device, c_uint64(0), byref(code)))
        self.buffers = []
        check(code.value, "clCreateCommandQueue")

    def buffer(self, array=None, size=0):
        """A buffer with a copy of the array, or of so many bytes."""
        code = c_int32()
        flags = READ_WRITE | (COPY_HOST_PTR if array is not None else 0)
        data = c_void_p(array.ctypes.data) if array is not None else None
        size = array.nbytes if array is not None else size
        mem = c_void_p(cl.clCreateBuffer(self.context.cl, c_uint64(flags),
                                         c_size_t(size), data, byref(code)))
        check(code.value, f"clCreateBuffer of {size} bytes")
        self.buffers.append(mem)
        return mem

    def read(self, array, mem):
        check(cl.clEnqueueReadBuffer(
            self.handle, mem, c_uint32(1), c_size_t(0), c_size_t(array.nbytes),
            c_void_p(array.ctypes.data), c_uint32(0), None, None),
            "clEnqueueReadBuffer")

    def finish(self):
        check(cl.clFinish(self.handle), "clFinish")

    def release_buffers(self):
        for mem in self.buffers:
            cl.clReleaseMemObject(mem)
        self.buffers.clear()
