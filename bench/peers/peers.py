# SPDX-License-Identifier: Apache-2.0
"""peers.py - clattn and the libraries that it is compared with, each behind the
same few lines.

A side is made with the number of threads.  `attention(q, k, v, causal)` and
`matmul(x, w)` prepare a case from numpy arrays and return (run, result): run()
does the work once, result() is its last output as float32.  None: the side does
not do this.
"""
import ctypes
import os

import numpy
from ml_dtypes import bfloat16

import clattn
import opencl


def is_bf16(array):
    return array.dtype == bfloat16


class Clattn:
    """Planned once; what is timed is the enqueue and its end."""
    name = "clattn"

    def __init__(self, threads, spec=None, precision=clattn.PRECISION_F32):
        self.precision = precision
        self.context = clattn.Context(spec)
        self.queue = opencl.Queue(self.context)
        self.plans = []
        device = self.context.device
        self.version = clattn.version
        self.device = opencl.device_text(device, opencl.DEVICE_NAME)
        self.driver = opencl.device_text(device, opencl.DRIVER_VERSION)

    def _work(self, plan, args, out):
        self.plans.append(plan)
        mem = self.queue.buffer(size=out.nbytes)
        if plan.workspace_bytes:
            args.workspace.mem = self.queue.buffer(size=plan.workspace_bytes)

        def run():
            plan.enqueue(self.queue.handle, args)
            self.queue.finish()

        def result():
            self.queue.read(out, mem)
            return out.astype(numpy.float32)

        return mem, run, result

    def attention(self, q, k, v, causal):
        out = numpy.empty_like(q)
        plan = self.context.attention_plan(clattn.describe(
            q, k, v, out, causal=clattn.TOP_LEFT if causal else None,
            precision=self.precision))
        args = clattn.AttentionArgs()
        args.out.mem, run, result = self._work(plan, args, out)
        for name, array in (("q", q), ("k", k), ("v", v)):
            getattr(args, name).mem = self.queue.buffer(array)
        return run, result

    def matmul(self, x, w):
        y = numpy.empty((x.shape[0], w.shape[1]), x.dtype)
        plan = self.context.linear_plan(clattn.Linear(
            rows=x.shape[0], n_in=x.shape[1], n_out=w.shape[1],
            dtype=clattn.F32, weight_order=clattn.IN_OUT))
        args = clattn.LinearArgs()
        args.y.mem, run, result = self._work(plan, args, y)
        args.x.mem, args.w.mem = self.queue.buffer(x), self.queue.buffer(w)
        return run, result

    def release(self):
        self.queue.release_buffers()
        while self.plans:
            self.plans.pop().close()


class Torch:
    """torch.nn.functional.scaled_dot_product_attention, on the processor or, as
    "cuda", on a GPU."""
    name = "torch"

    def __init__(self, threads, place="cpu"):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.place = torch, place
        self.version = torch.__version__
        self.kernel = torch.backends.cpu.get_cpu_capability()
        if place == "cuda":
            self.kernel = torch.cuda.get_device_name()

    def _tensor(self, array):
        if is_bf16(array):
            words = self.torch.from_numpy(array.view(numpy.int16))
            return words.view(self.torch.bfloat16).to(self.place)
        return self.torch.from_numpy(array).to(self.place)

    def attention(self, q, k, v, causal):
        function = self.torch.nn.functional.scaled_dot_product_attention
        q, k, v = self._tensor(q), self._tensor(k), self._tensor(v)
        last = []

        def run():
            with self.torch.inference_mode():
                last[:] = [function(q, k, v, is_causal=causal)]
            if self.place == "cuda":
                self.torch.cuda.synchronize()

        return run, lambda: last[0].float().cpu().numpy()

    def matmul(self, x, w):
        return None


class OnnxRuntime:
    """com.microsoft MultiHeadAttention; q rows first, as it wants them, k and v
    heads first, which spares it two transpositions.  Its threads stop spinning
    after each run, else they would take the cores from who comes next."""
    name = "onnxruntime"

    def __init__(self, threads):
        import onnx
        import onnxruntime
        self.onnx, self.runtime = onnx, onnxruntime
        self.version, self.kernel = onnxruntime.__version__, ""
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.add_session_config_entry(
            "session.force_spinning_stop", "1")

    def _session(self, B, H, L, D, causal):
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        rows, heads = [B, L, H * D], [B, H, L, D]
        node = helper.make_node(
            "MultiHeadAttention", ["q", "k", "v"], ["out"], num_heads=H,
            unidirectional=int(causal), domain="com.microsoft")
        graph = helper.make_graph(
            [node], "attention",
            [helper.make_tensor_value_info("q", kind, rows),
             helper.make_tensor_value_info("k", kind, heads),
             helper.make_tensor_value_info("v", kind, heads)],
            [helper.make_tensor_value_info("out", kind, rows)])
        model = helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 17),
            helper.make_opsetid("com.microsoft", 1)])
        return self.runtime.InferenceSession(
            model.SerializeToString(), self.options,
            providers=["CPUExecutionProvider"])

    def attention(self, q, k, v, causal):
        if is_bf16(q):
            return None
        B, H, L, D = q.shape
        session = self._session(B, H, L, D, causal)
        binding = session.io_binding()
        value = self.runtime.OrtValue.ortvalue_from_numpy
        rows = numpy.ascontiguousarray(q.transpose(0, 2, 1, 3))
        inputs = {"q": rows.reshape(B, L, H * D), "k": k, "v": v}
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, value(array))
        out = value(numpy.zeros((B, L, H * D), numpy.float32))
        binding.bind_ortvalue_output("out", out)

        def result():
            return out.numpy().reshape(B, L, H, D).transpose(0, 2, 1, 3)

        return lambda: session.run_with_iobinding(binding), result

    def matmul(self, x, w):
        return None


class OpenVino:
    """opset13 ScaledDotProductAttention, kept in f32."""
    name = "openvino"

    def __init__(self, threads):
        import openvino
        import openvino.opset13 as opset
        self.openvino, self.opset = openvino, opset
        self.core = openvino.Core()
        self.version, self.kernel = openvino.__version__.split("-")[0], ""
        self.config = {
            "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": threads}

    def attention(self, q, k, v, causal):
        if is_bf16(q):
            return None
        inputs = [self.opset.parameter(list(a.shape), numpy.float32)
                  for a in (q, k, v)]
        out = self.opset.scaled_dot_product_attention(*inputs, causal=causal)
        model = self.openvino.Model([out], inputs)
        request = self.core.compile_model(
            model, "CPU", self.config).create_infer_request()
        for i, array in enumerate((q, k, v)):
            request.set_input_tensor(
                i, self.openvino.Tensor(array, shared_memory=True))
        return request.infer, lambda: request.get_output_tensor(0).data.copy()

    def matmul(self, x, w):
        return None


class OpenBlas:
    """cblas_sgemm of the library that scipy ships."""
    name = "openblas"
    ROW_MAJOR, NO_TRANS = 101, 111

    def __init__(self, threads):
        import scipy_openblas32 as package
        self.blas = ctypes.CDLL(os.path.join(
            package.get_lib_dir(), package.get_library(fullname=True)))
        self.blas.scipy_openblas_get_corename.restype = ctypes.c_char_p
        self.blas.scipy_openblas_set_num_threads(threads)
        self.kernel = self.blas.scipy_openblas_get_corename().decode()
        self.version = package.__version__

    def attention(self, q, k, v, causal):
        return None

    def matmul(self, x, w):
        (m, k), n = x.shape, w.shape[1]
        y = numpy.zeros((m, n), numpy.float32)
        x, w, out = (ctypes.c_void_p(a.ctypes.data) for a in (x, w, y))
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        arguments = (self.ROW_MAJOR, self.NO_TRANS, self.NO_TRANS, m, n, k, one,
                     x, k, w, n, zero, out, n)
        return (lambda: self.blas.scipy_cblas_sgemm(*arguments)), y.copy


ALL = [Torch, OnnxRuntime, OpenVino, OpenBlas]
