"""How many bytes an access moves on each target, and how many tiles of memory its lanes touch: counted, not modelled.

On a TPU what a call's windows and DMAs move is read from the last IR, each block as often as it comes. On a GPU
Triton's interpreter says which addresses each load has. Tiles come from the numbers of the lanes alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from support.choices import grid_trips, window_traffic
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.transforms.canonicalization_patterns.utils import const_evaluate_operand

import kopt
from kopt.dialects.pallas import CallOp, DmaStartOp
from kopt.dialects.tile import ForOp, GridOp, IdOp, RangeType, RefType, TileType, WhenOp
from kopt.dialects.tile.memory import ref_block_type
from kopt.ir.ranges import binding
from kopt.lowered import Lowered
from kopt.passes.pipelines import pipeline

#: A tile of a TPU's memory, a sector of a GPU's; words of either.
TILE_BYTES, SECTOR_BYTES, WORDS, SUBLANES, LANES = 4096, 32, 32, 8, 128
#: The predicate of `arith.cmpi` that compares signed numbers for less.
_SLT = 2
Lanes = tuple[np.ndarray, ...]


def tiles(lanes: Lanes, bits: int) -> int:
    """How many tiles of a TPU's memory lanes touch: (8, 128) words of 32 bits, 1024 of an array of one dimension."""
    rows = SUBLANES * WORDS // bits
    if len(lanes) == 1:
        return len(np.unique(lanes[0] // (rows * LANES)))
    *outer, row, column = (index.reshape(-1) for index in lanes)
    return np.unique(np.stack([*outer, row // rows, column // LANES]), axis=1).shape[1]


def sectors(lanes: Lanes, shape: Sequence[int], bits: int) -> int:
    """How many 32-byte sectors of a GPU's memory lanes touch."""
    return len(np.unique(np.ravel_multi_index(lanes, tuple(shape)) * (bits // 8) // SECTOR_BYTES))


def moved_on_tpu(low: Lowered) -> Counter[str]:
    """The bytes that windows and DMAs of a lowered kernel bring of each array, by its name."""
    found: Counter[str] = Counter()
    for call in _calls(kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config))):
        grid = next(op for op in call.walk() if isinstance(op, GridOp))
        refs = (*call.input_refs, *call.output_refs)
        arrays = zip((*call.inputs, *call.outputs), call.windows.data, refs, strict=True)
        for array, window, ref in arrays:
            traffic = window_traffic(array.type, window, grid_trips(grid))
            found[ref.name_hint or ""] += _copied(ref, call, grid) if traffic is None else traffic
    return found


def _calls(module: ModuleOp) -> list[CallOp]:
    return [op for op in module.walk() if isinstance(op, CallOp)]


def _copied(ref: SSAValue, call: CallOp, grid: GridOp) -> int:
    """The bytes that DMAs bring of an array in HBM: each as often as the loops around it turn."""
    assert isinstance(ref.type, RefType) and isinstance(ref.type.element_type, FixedBitwidthType)
    elements = 0
    for op in call.walk():
        if isinstance(op, DmaStartOp) and op.source is ref:
            elements += math.prod(ref_block_type(ref.type, op.source_entries).shape) * _visits(op, grid)
    return elements * max(8, ref.type.element_type.bitwidth) // 8


def _visits(op: Operation, grid: GridOp) -> int:
    """How often an op of a grid runs, at most: without the cells, first or last, that a condition keeps it from."""
    count, around = math.prod(grid_trips(grid)), op.parent_op()
    while around is not None and around is not grid:
        if isinstance(around, ForOp):
            (lower, upper), range = around.bounds, around.range.type
            assert isinstance(lower, int) and isinstance(upper, int) and isinstance(range, RangeType | TileType)
            count *= -(-(upper - lower) // range.size)  # pyright: ignore[reportAttributeAccessIssue]
        elif isinstance(around, WhenOp):
            count //= math.prod(binding(range).trips or 1 for range in around.ranges)
        elif isinstance(around, scf.IfOp) and (trips := _cells_but_last(around.cond)) is not None:
            count = count // trips * (trips - 1)
        around = around.parent_op()
    return count


def _cells_but_last(condition: SSAValue) -> int | None:
    """The trips of a range whose next block there must be: ``id + 1 < trips``."""
    owner = condition.owner
    if not isinstance(owner, arith.CmpiOp) or owner.predicate.value.data != _SLT:
        return None
    following, limit = owner.lhs.owner, const_evaluate_operand(owner.rhs)
    is_next = isinstance(following, arith.AddiOp) and const_evaluate_operand(following.rhs) == 1
    return limit if is_next and isinstance(following.lhs.owner, IdOp) else None
