"""What kopt chose for a kernel, read from the IR that is printed last: grids, windows, accesses, host work, bytes.

``choices(module)`` is plain data for one line of a golden table. An access is named by its array and its source line,
which every rewrite hands on. Bytes that cannot be told from the IR, such as those of DMAs in loops, are None.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc, FixedBitwidthType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from kopt.analysis.vmem import buffer_bytes
from kopt.dialects.host import CallOp as HostCallOp
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import Access, ForOp, GridOp, RangeType, RefType, TileType, is_gather
from kopt.dialects.triton import LaunchOp, RangeOp
from kopt.plans.text import schedule_text

#: Grids of more steps are not walked: their windows' bytes are None.
_STEPS = 1 << 22


def blocks(module: ModuleOp) -> dict[str, int]:
    """The size of each block by its tag, in order of appearance."""
    found = (value.type for op in module.walk() for value in _values(op))
    return {type.tag: type.size for type in found if isinstance(type, RangeType)}


def choices(module: ModuleOp) -> dict[str, Any]:
    """The launches of a lowered module in order, and what the host does around them."""
    calls = [op for op in module.walk() if isinstance(op, CallOp | LaunchOp)]
    return {
        "launches": [_call(op) if isinstance(op, CallOp) else _launch(op) for op in calls],
        "host": dict(Counter(map(_host_op, _host_ops(module)))),
    }


def _values(op: Operation) -> Iterable[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _host_ops(module: ModuleOp) -> Iterable[Operation]:
    """The operations of functions themselves, without what launches hold."""
    for func in module.ops:
        for region in func.regions:
            for block in region.blocks:
                yield from (op for op in block.ops if not isinstance(op, CallOp | LaunchOp))


def _host_op(op: Operation) -> str:
    """What the host does, and the bytes of the arrays that it makes."""
    callee = op.callee.data if isinstance(op, HostCallOp) else op.name
    made = sum(_bytes(result.type) for result in op.results if isinstance(result.type, MemRefType))
    return f"{callee} {made}"


def _call(call: CallOp) -> dict[str, Any]:
    """A kernel of a TPU."""
    grid = next(op for op in call.walk() if isinstance(op, GridOp))
    trips = grid_trips(grid)
    arrays = [*call.inputs, *call.outputs]
    pairs = list(zip(arrays, call.windows.data, strict=True))
    moved = [
        0 if ref.first_use is None and window.space.data == "hbm" else window_traffic(array.type, window, trips)
        for (array, window), ref in zip(pairs, (*call.input_refs, *call.output_refs), strict=True)
    ]
    return {
        "grid": trips,
        "order": [_name(range) for range in grid.ranges],
        "semantics": [word.data for word in call.semantics.data],
        "windows": [f"{_name(array)} {_window(window)}" for array, window in pairs],
        "scratch": [str(ref.type) for ref in call.scratch],
        "loops": _loops(call),
        "accesses": _accesses(call),
        "aliases": list(call.aliased),
        "least_bytes": sum(_bytes(array.type) for array in arrays),
        "moved_bytes": None if None in moved else sum(moved),
        "vmem_bytes": buffer_bytes(call),
    }


def _launch(launch: LaunchOp) -> dict[str, Any]:
    """A kernel of a GPU."""
    ranges = [op for op in launch.walk() if isinstance(op, RangeOp)]
    return {
        "grid": [launch.programs.data],
        "order": [_name(op.result) for op in ranges],
        "num_warps": launch.num_warps.data,
        "num_stages": launch.num_stages.data,
        "loops": _loops(launch),
        "accesses": _accesses(launch),
        "least_bytes": sum(_bytes(array.type) for array in launch.inputs),
    }


def grid_trips(grid: GridOp) -> list[int]:
    walks = zip(grid.bounds, grid.ranges, strict=True)
    return [math.ceil((upper - lower) / range.type.size) for (lower, upper), range in walks]  # pyright: ignore


def _loops(body: Operation) -> list[str]:
    return [
        f"{_line(op)} {schedule_text(op.schedule.data) if op.schedule else '-'}"
        for op in body.walk()
        if isinstance(op, ForOp)
    ]


def _accesses(body: Operation) -> dict[str, int]:
    """How often each kind of access of each array stands in the kernel."""
    found = [op for op in body.walk() if isinstance(op, Access)]
    return dict(Counter(_access(op) for op in found))


def _access(op: Access) -> str:
    memory = op.memory.type
    space = memory.space.data if isinstance(memory, RefType) else "pointer"
    kind = "gather" if any(map(is_gather, op.entries)) else "block"
    value = next(value for value in (*op.results, *op.operands) if isinstance(value.type, TileType))
    return f"{op.name.partition('.')[2]} {_name(op.memory)}@{_line(op)} {kind} {space} {value.type}"


def _line(op: Operation) -> str:
    place = op.location
    return str(place.line.data) if isinstance(place, FileLineColLoc) else "?"


def _name(value: SSAValue) -> str:
    return value.name_hint or "_"


def _window(window: WindowAttr) -> str:
    sizes = ", ".join(str(size) if size else "_" for size in window.sizes)
    return f"[{sizes}] {window.index.data} {window.space.data}"


def _bytes(type: Attribute) -> int:
    assert isinstance(type, MemRefType)
    return math.prod(type.get_shape()) * _bits(type.element_type) // 8


def _bits(type: Attribute) -> int:
    assert isinstance(type, FixedBitwidthType)
    return max(8, type.bitwidth)


def window_traffic(type: Attribute, window: WindowAttr, trips: Sequence[int]) -> int | None:
    """Bytes of a window's blocks over the whole grid, each as often as its number changes; None for arrays in HBM."""
    assert isinstance(type, MemRefType)
    if window.space.data == "hbm" or math.prod(trips) > _STEPS:
        return None
    lanes = math.prod(size or 1 for size in window.sizes)
    return _changes(window, trips) * lanes * _bits(type.element_type) // 8


def _changes(window: WindowAttr, trips: Sequence[int]) -> int:
    """How often the number of a window's block changes along the steps of a grid, its first one included.

    Numbers that are loaded from different places count as different.
    """
    steps = math.prod(trips)
    if not steps:
        return 0
    dims = [numbers.reshape(-1) for numbers in np.indices(trips)] if trips else []
    numbers = [np.broadcast_to(np.asarray(result), steps) for result in _block_numbers(window, dims)]
    changed = np.zeros(max(steps - 1, 0), bool)
    for each in numbers:
        changed |= each[1:] != each[:-1]
    return 1 + int(changed.sum())


def _block_numbers(window: WindowAttr, dims: Sequence[Any]) -> list[Any]:
    known: list[Any] = []
    for number in window.numbers.data:
        known.append(sum(part * _STEPS**place for place, part in enumerate(_evaluate(number.of.data, dims, known))))
    return _evaluate(window.index.data, dims, known)


def _evaluate(index: AffineMap, dims: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    return [result.eval(dims, known) for result in index.results]
