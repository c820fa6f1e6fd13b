"""The process that compiles Triton modules for a chip and reads what came out, launch by launch.

It compiles as `kopt.runtime.gpu_worker` does, whose facts its own stand beside, and looks at each launch on the way:
its programs, options and block sizes, and the SASS. What cannot be told is None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from triton.runtime.jit import JITFunction
from triton.tools.tensor_descriptor import TensorDescriptor

from kopt.runtime import gpu_worker
from kopt.specs import TensorSpec
from kopt.targets.chips import GPU_CHIPS, GpuChip
from kopt.targets.costs import gpu_costs
from support import gcn, issue, ratio, sass
from support.occupancy import occupancy
from support.traffic import bytes_asked_for
from support.trips import lines_with_trips

Facts = dict[str, Any]
#: What is read from SASS only.
_UNREAD: Facts = dict.fromkeys(("loop", "loop_mma", "loop_per_work", "waits", "loads", "stores"))
#: Bytes of arrays from which on every multiprocessor should have a program.
_LARGE = 10**6
_BLOCK = re.compile(r"_?(BLOCK|block)_?\w*")


def compiled(source: str, entry: str, specs: tuple[TensorSpec, ...], chip_name: str) -> Facts:
    """``legal``, ``reason`` and ``launches`` of a module's function of tensors, for a chip that is not here."""
    launch, seen = JITFunction.run, []

    def noted(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        made = launch(kernel, *args, grid=grid, warmup=warmup, **kwargs)
        seen.append(_launch(kernel, made, grid, args, kwargs))
        return made

    JITFunction.run = noted  # pyright: ignore[reportAttributeAccessIssue]
    try:
        found = gpu_worker.compile_module(source, entry, specs, chip_name)
    finally:
        JITFunction.run = launch
    pairs = zip(found["launches"], seen, strict=True) if "launches" in found else ()
    launches = [_facts(said, GPU_CHIPS[chip_name], **own) for said, own in pairs]
    return {"legal": found["legal"], "reason": found["reason"], "launches": launches}


def _launch(kernel: Any, made: Any, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Facts:
    """What a launch says of itself."""
    named = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
    grid = grid(named) if callable(grid) else grid
    arrays = [getattr(value, "base", value) for value in named.values()]
    tensors = [array for array in arrays if isinstance(array, torch.Tensor)]
    return {
        "made": made,
        "grid": tuple(grid),
        "numbers": _numbers(named),
        "blocks": [value for name, value in named.items() if _BLOCK.match(name) and isinstance(value, int)],
        "array_bytes": array_bytes(tensors),
    }


def _numbers(named: Mapping[str, Any]) -> dict[str, int]:
    """Of the arguments, and the extents of those that are descriptors as Triton names them."""
    extents = {
        f"{name}.shape.{dim}": extent
        for name, value in named.items()
        if isinstance(value, TensorDescriptor)
        for dim, extent in enumerate(value.shape)
    }
    return extents | {name: value for name, value in named.items() if type(value) is int}


def array_bytes(tensors: Sequence[torch.Tensor]) -> int:
    """Of the arrays of a launch, each once, also where several arguments are views of it."""
    most: dict[int, int] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()._cdata
        most[storage] = max(most.get(storage, 0), tensor.nbytes)
    return sum(most.values())


def _facts(
    said: Facts,
    chip: GpuChip,
    made: Any,
    grid: tuple[int, ...],
    numbers: dict[str, int],
    blocks: list[int],
    array_bytes: int,
) -> Facts:
    metadata, programs = made.metadata, math.prod(grid)
    filled = occupancy(chip, said["registers"], said["shared_bytes"], metadata.num_warps)
    code, read = _machine_code(made.asm)
    lines = lines_with_trips(made.asm["ttir"], grid, numbers)
    warp = issue.executed(code, lines, metadata.num_warps)
    of_a_warp = None if warp is None else warp.instructions
    matrices, multiprocessors = read["mma"] != "none", gpu_costs(chip).multiprocessors
    asked = moved_bytes(bytes_asked_for(lines, programs), said["spill_bytes"], warp, programs * metadata.num_warps)
    return {
        "kernel": said["kernel"],
        "blocks": blocks or None,
        "programs": programs,
        "idle": idle(chip, programs, array_bytes),
        "warps": metadata.num_warps,
        "stages": metadata.num_stages,
        "registers": said["registers"],
        "spill_bytes": said["spill_bytes"],
        "shared_bytes": said["shared_bytes"],
        "occupancy": filled,
        "sass": said["instructions"],
        **read,
        "issue": issue.cycles(of_a_warp, programs, metadata.num_warps, multiprocessors, filled, matrices),
        "array_bytes": array_bytes,
        "moved": ratio(asked, array_bytes or None),
        "moved_busiest": ratio(issue.of_the_busiest(asked, programs, multiprocessors), array_bytes or None),
    }


def moved_bytes(asked: int | None, spilled: int, warp: issue.Executed | None, warps: int) -> float | None:
    """What programs ask memory for, and what so many warps spill; None where it is not known of code that spills."""
    if asked is None or not spilled:
        return asked
    return None if warp is None else asked + warps * warp.local_bytes


def idle(chip: GpuChip, programs: int, array_bytes: int) -> int:
    """Multiprocessors that get no program, of a launch whose arrays are large enough for all: more than 1 MB."""
    return max(0, gpu_costs(chip).multiprocessors - programs) if array_bytes > _LARGE else 0


def _machine_code(asm: Mapping[str, Any]) -> tuple[list[sass.Instruction], Facts]:
    """The instructions where they can be read, and what they say, of either vendor."""
    if "cubin" in asm:
        code = sass.instructions(gpu_worker._disassemble(asm["cubin"]))
        return code, _code(code, asm["ptx"])
    return [], {**_UNREAD, "mma": gcn.matrix_kind(asm["amdgcn"]), "tma": False, "read_from": "GCN"}


def _code(code: Sequence[sass.Instruction], ptx: str) -> Facts:
    """What the instructions say: those of the SASS, or where no tool lists it what the PTX tells."""
    if not code:
        return {**_UNREAD, "mma": sass.ptx_matrix_kind(ptx), "tma": sass.ptx_has_tma(ptx), "read_from": "PTX"}
    loop = sass.hot_loop(code)
    return {
        "loop": len(loop) if loop else None,
        "loop_mma": sass.matrix_instructions(loop) if loop else None,
        "loop_per_work": ratio(len(loop), sass.work(loop)) if loop else None,
        "waits": sass.waits(loop) if loop else None,
        "mma": sass.matrix_kind(code),
        "tma": sass.has_tma(code),
        "loads": sass.loads(code),
        "stores": sass.stores(code),
        "read_from": "SASS",
    }
