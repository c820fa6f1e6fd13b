"""The process that compiles Triton modules for GPUs that are not there.

The emitted host function runs on meta tensors with a driver that only names the target, so that Triton specialises
and compiles each launch exactly as on a machine with the GPU, and launches nothing.
"""

# ruff: noqa: TID253 - only worker processes import this module

from __future__ import annotations

import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from kopt.runtime import gpu_code
from kopt.runtime.emitted import load_module
from kopt.runtime.reasons import clean, located, reason_of
from kopt.specs import TensorSpec, contiguous_strides
from kopt.targets.chips import GPU_CHIPS, GpuChip

_NVIDIA_TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"


class TargetOnly:
    """A Triton driver for a device that is not there: it says what to compile for and nothing else."""

    def __init__(self, chip: GpuChip):
        self._target = GPUTarget(chip.backend, chip.arch, chip.warp_size)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_interface(self) -> Any:
        return torch.cuda


def compile_module(source: str, entry: str, specs: tuple[TensorSpec, ...], chip_name: str) -> dict[str, Any]:
    """Compile every launch of a module for a chip: ``legal``, ``reason``, and a list of the launches' facts."""
    chip = GPU_CHIPS[chip_name]
    start = time.perf_counter()
    launches: list[tuple[str, Any]] = []
    try:
        with _compiling_only(chip, launches):
            function = getattr(load_module(source, entry), entry)
            function(*[_meta(spec) for spec in specs])
    except Exception as error:  # whatever stops a module from compiling is this function's result
        return {"legal": False, "reason": _reason(error, source, entry), "compile_s": _since(start)}
    facts = [_facts(name, kernel, chip) for name, kernel in launches]
    reason = next((fact["reason"] for fact in facts if fact["reason"]), None)
    return {"legal": reason is None, "reason": reason, "compile_s": _since(start), "launches": facts}


def machine_code(source: str, entry: str, specs: tuple[TensorSpec, ...], chip_name: str) -> dict[str, str]:
    """The machine code of every kernel of a module by its name: SASS with the lines that it comes from, or GCN."""
    launches: list[tuple[str, Any]] = []
    with _compiling_only(GPU_CHIPS[chip_name], launches):
        getattr(load_module(source, entry), entry)(*[_meta(spec) for spec in specs])
    return {name: _listing(kernel) for name, kernel in launches}


def _listing(compiled: Any) -> str:
    tool = _NVIDIA_TOOLS / "nvdisasm"
    if "cubin" not in compiled.asm or not tool.exists():
        return compiled.asm.get("amdgcn", "")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.asm["cubin"])
        file.flush()
        found = subprocess.run([tool, "-gi", "-c", file.name], capture_output=True, text=True, timeout=60)
    return found.stdout


@contextmanager
def _compiling_only(chip: GpuChip, launches: list[tuple[str, Any]]) -> Any:
    """While it lasts, a launch compiles for ``chip`` and is noted in ``launches`` as (kernel, compiled)."""
    launch = JITFunction.run

    def compile_only(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        compiled = launch(kernel, *args, grid=grid, warmup=True, **kwargs)
        launches.append((kernel.__name__, compiled))
        return compiled

    driver.set_active(TargetOnly(chip))  # pyright: ignore[reportArgumentType]
    JITFunction.run = compile_only  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        JITFunction.run = launch


def _meta(spec: TensorSpec) -> torch.Tensor:
    strides = spec.strides or contiguous_strides(spec.shape)
    return torch.empty_strided(spec.shape, strides, dtype=getattr(torch, spec.dtype.torch), device="meta")


def _facts(name: str, compiled: Any, chip: GpuChip) -> dict[str, Any]:
    shared = compiled.metadata.shared
    over = f"needs {shared} bytes of shared memory, {chip.name} has {chip.shared_bytes}"
    fits = shared <= chip.shared_bytes
    facts = {"kernel": name, "legal": fits, "reason": None if fits else over, "shared_bytes": shared}
    if "cubin" in compiled.asm:
        return facts | gpu_code.nvidia_facts(_disassemble(compiled.asm["cubin"]))
    return facts | gpu_code.amd_facts(compiled.asm.get("amdgcn", ""))


def _disassemble(cubin: bytes) -> str:
    """Resource usage and SASS of a cubin by the tool that Triton ships; empty where it ships none."""
    tool = _NVIDIA_TOOLS / "cuobjdump"
    if not tool.exists():
        return ""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        outputs = [
            subprocess.run([tool, option, file.name], capture_output=True, text=True, timeout=60).stdout
            for option in ("-res-usage", "-sass")
        ]
    return "\n".join(outputs)


def _reason(error: BaseException, source: str, entry: str) -> str:
    """Triton names a line relative to the kernel's first; other exceptions carry a traceback."""
    from triton.compiler.errors import CompilationError

    if not isinstance(error, CompilationError):
        return reason_of(error, source, entry)
    while isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    message = getattr(error, "error_message", None) or str(error.__cause__ or str(error).splitlines()[-1])
    return located(clean(message), _line(error, source), source)


def _line(error: Any, source: str) -> int | None:
    """The emitted line of a CompilationError: its source is the kernel's text from the ``def`` on."""
    first = (getattr(error, "src", None) or "").lstrip("\n").split("\n")[0]
    lines = source.splitlines()
    start = next((i for i, line in enumerate(lines) if first and line.strip() == first.strip()), None)
    number = getattr(getattr(error, "node", None), "lineno", None)
    return start + number if start is not None and number else None


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 3)
