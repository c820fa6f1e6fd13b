"""``triton:interpret`` and Triton on a real GPU: the emitted module on torch tensors.

Triton decides when it is imported whether ``@triton.jit`` interprets, and torch may import it at any time, so the
interpreter runs in a worker process. A process that itself was started with ``TRITON_INTERPRET=1`` interprets in
place, where a debugger can follow the kernel.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from kopt.errors import ArgumentError, CompileError
from kopt.runtime.emitted import load_module
from kopt.runtime.pallas_interpret import as_list
from kopt.runtime.time_limits import CALL_SECONDS, time_limit
from kopt.runtime.torch_tracing import without_autocast
from kopt.runtime.wire import Packed
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerTimeout
from kopt.specs import TensorSpec, contiguous_strides
from kopt.targets.target import Target

_worker = Worker("kopt.runtime.triton_worker", {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""})


def interprets_here() -> bool:
    """Whether ``@triton.jit`` interprets in this process."""
    if "triton" not in sys.modules:
        return os.environ.get("TRITON_INTERPRET") == "1"
    from triton import JITFunction, knobs, language

    return bool(knobs.runtime.interpret) and not isinstance(language.sum, JITFunction)


def relayout(tensor: Any, spec: TensorSpec) -> Any:
    """The tensor with the strides that the kernel was compiled for: itself, or a copy."""
    shape = tuple(tensor.shape)
    wanted = spec.strides or contiguous_strides(shape)
    if tensor.numel() == 0 or tuple(tensor.stride()) == wanted:
        return tensor
    import torch

    one = tensor[tuple(slice(0, 1) if step == 0 else slice(None) for step in wanted)]
    copy = torch.empty_strided(one.shape, wanted, dtype=tensor.dtype, device=tensor.device)
    return copy.copy_(one).expand(shape)


def device_index(devices: Sequence[Any]) -> int | None:
    """The number of the GPU that tensors are on, where Triton must launch; None on the CPU.

    Raises `ArgumentError` where they are on several.
    """
    gpus = sorted({device.index for device in devices if device.type == "cuda"})
    if len(gpus) > 1:
        found = " and ".join(f"cuda:{index}" for index in gpus)
        raise ArgumentError(f"the arguments are on {found}", notes=["a kernel runs on one GPU: move them to one"])
    return gpus[0] if gpus else None


def load_function(source: str, entry: str) -> Callable[..., Any]:
    """The host function of an emitted Triton module; mends the interpreter first where this process interprets."""
    function = getattr(load_module(source, entry), entry)
    if interprets_here():
        from kopt.runtime.triton_mend import mend_interpreter

        mend_interpreter()
    return function


class TritonRunner:
    """Runs an emitted Triton module on torch tensors in this process: on its GPU, or interpreted."""

    framework = "torch"

    def __init__(self, source: str, entry: str, target: Target, specs: Sequence[TensorSpec]):
        self.devices = ("cpu",) if target.interpreted else ("cuda",)
        self._specs = tuple(specs)
        self.function = load_function(source, entry)

    def run(self, arrays: Sequence[Any], **groups: Any) -> list[Any]:
        """Call the kernel, or a program with its process groups; arguments that it mutates are changed in place."""
        import torch

        index = device_index([array.device for array in arrays])
        with torch.no_grad(), without_autocast(), nullcontext() if index is None else torch.cuda.device(index):
            tensors = [relayout(array, spec) for array, spec in zip(arrays, self._specs, strict=True)]
            return as_list(self.function(*tensors, **groups))

    def launcher(self, arrays: Sequence[Any]) -> Callable[..., Any] | None:
        """The kernel as a function of tensors like these; None where they must be copied, or autograd would look on."""
        import torch

        if any(relayout(array, spec) is not array for array, spec in zip(arrays, self._specs, strict=True)):
            return None
        if torch.is_grad_enabled() and any(array.requires_grad for array in arrays):
            return None
        index = device_index([array.device for array in arrays])
        casts = torch._C._is_any_autocast_enabled()
        if index is None and not casts:
            return self.function
        function, current, device = self.function, torch.cuda.current_device, torch.cuda.device

        def launch(*tensors: Any) -> Any:
            if not casts and current() == index:
                return function(*tensors)
            with without_autocast(), nullcontext() if index is None else device(index):
                return function(*tensors)

        return launch


class TritonWorkerRunner:
    """Runs an emitted Triton module in the interpreting worker, on arrays as bits."""

    framework = "packed"
    devices = ("cpu",)

    def __init__(self, source: str, entry: str, specs: Sequence[TensorSpec], limit: float | None):
        self._job = (source, entry, tuple(specs))
        self._entry = entry
        self._limit = limit

    def run(self, arrays: Sequence[Packed]) -> list[Packed]:
        """Call the kernel; raises `CompileError` for what the interpreter raises, a hang or a crash."""
        limit = self._limit or time_limit(CALL_SECONDS)
        try:
            return _worker.call("run", *self._job, list(arrays), time_limit=limit)
        except WorkerTimeout:
            raise CompileError(
                f"triton:interpret: kernel '{self._entry}' did not end within {limit:g} s and was stopped",
                notes=["KOPT_TIME_LIMIT sets the seconds"],
            ) from None
        except WorkerCrash as error:
            raise CompileError(f"triton:interpret: kernel '{self._entry}' crashed: {error}") from None
        except RemoteError as error:
            raise CompileError(
                f"triton:interpret: kernel '{self._entry}': {error.kind}: {error.message.strip()}",
                notes=error.trace.strip().splitlines()[-6:-1],
            ) from None


def triton_runner(
    source: str, entry: str, target: Target, specs: Sequence[TensorSpec], limit: float | None
) -> TritonRunner | TritonWorkerRunner:
    """In this process for a GPU, or where this process interprets; else in the worker."""
    if target.mode == "chip" or interprets_here():
        return TritonRunner(source, entry, target, specs)
    return TritonWorkerRunner(source, entry, specs, limit)
