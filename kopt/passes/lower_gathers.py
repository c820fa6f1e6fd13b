"""The pass ``lower-gathers``: reads by computed row numbers become products or DMAs that a TPU has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp, IndexCastOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.read_back import may_see
from kopt.diagnostics import location_of
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ElementwiseOp,
    ExtractOp,
    FullOp,
    IndexOp,
    LoadOp,
    RangeType,
    ShiftOp,
    SplatOp,
    StoreOp,
    is_gather,
)
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.errors import LoweringError
from kopt.passes.gathers.access import Gathering
from kopt.passes.gathers.building import Arrays, array_type, element_bits, replace_load, type_of
from kopt.passes.gathers.chosen import by_choice
from kopt.passes.gathers.counted import load_counted
from kopt.passes.gathers.far import as_gather, is_far
from kopt.passes.gathers.flat import of_matrix
from kopt.passes.gathers.near import fetch_near
from kopt.passes.gathers.own_lanes import with_own_lanes
from kopt.passes.gathers.permuted import in_order
from kopt.passes.gathers.started import fetch_runs
from kopt.passes.scatters.access import apart
from kopt.runtime.targets import TPU_CHIPS


@dataclass(frozen=True)
class LowerGathersPass(ModulePass):
    """Rewrites each load with a tile among its indices into one that Mosaic can do.

    * an index that is a range's own lane numbers, plus or minus a scalar, is the range, shifted: an ordinary block; one
      that counts from a scalar on is a block that begins there, and so are several for one dimension each, or several
      dimensions that count one together, ``group.index[:, None] * 64 + arange(64)``: a block that is reshaped;
    * an index that is one number or another lane by lane, both of which count or are single ones, chooses from what is
      at both; of a bound that no lane reaches nothing is left;
    * of several indices, of which the last counts lanes that the others repeat, that one is a block; of every n-th lane
      all come;
    * indices that have a dimension of the block each, in another order, ``x[m.index[None, :], k.index[:, None]]``, are
      brought into order, and the block is transposed;
    * rows and lanes of an array that a host view flattens, ``rows * width + lanes`` with any sum of rows, are taken
      from its rows; of any flat storage blocks of them, and rows of 128 lanes or more, from a view of it;
    * rows of a matrix whose block is at most ``one-hot-bytes`` large: the block is loaded whole, and the rows taken by
      `tile.take_along`, which is printed as a one-hot product that is exact for every bit pattern;
    * elements that lie near one number, as the index tells: the block of memory that holds all of them, of which those
      are picked;
    * lanes that follow one another, or every n-th of such, from a computed element on for each place: the aligned rows
      of memory around them, which are shifted by powers of two;
    * anything else: one DMA a gathered place, and so for rows by a loaded number, or blocks of their lanes, of an array
      that does not fit half of VMEM, and for its single elements; but not what loops fetch a visit ahead. Single lanes
      are picked from whole rows, rows of 16 and 8 bits from groups of 8 and 32, elements of an array of one dimension
      from rows of 128 (host ops pad and reshape it).

    ``strategy`` forces products or DMAs. Row numbers are clamped to the array, so lanes outside their range fetch
    nothing outside it. Masked lanes take ``other`` by a select.

        %v = tile.load %x[%n, %j] : memref<300x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    becomes
        %t = tile.load %x[:, %j] …   %w = tile.broadcast %n dims [0] …   %v = tile.take_along %t, %w dim 0 …

    Refuses, with the access's place, gathers of single rows from an array that the same launch writes.
    """

    name = "lower-gathers"

    chip: str = "tpu7x"
    strategy: Literal["auto", "one-hot", "dma"] = "auto"
    one_hot_bytes: int = 256 * 1024

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in [inner for inner in op.walk() if isinstance(inner, LaunchOp)]:
            arrays = Arrays(launch)
            for access in [inner for inner in launch.walk() if isinstance(inner, LoadOp) and _gathers(inner)]:
                for load in filter(_gathers, by_choice(access)):
                    self._rewrite(load, launch, arrays)
            for access in [inner for inner in launch.walk() if isinstance(inner, LoadOp) and not _gathers(inner)]:
                if is_far(access, launch, TPU_CHIPS[self.chip]):
                    self._gather(as_gather(access), launch, arrays)

    def _rewrite(self, access: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
        load = with_own_lanes(as_blocks(of_matrix(in_order(access), launch, arrays)))
        moving = _sees_stores(load, launch)
        if not moving:
            _take_input(load, launch, arrays)
        if (value := load_counted(load)) is not None:
            replace_load(load, value)
        elif _gathers(load):
            if moving:
                _refuse(load)
            self._gather(load, launch, arrays)

    def _gather(self, load: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
        """Puts what DMAs or products pick in the place of a load."""
        if not self._picks_from_whole(load, arrays):
            if self.strategy == "auto" and fetch_near(load):
                return None
            if (rows := fetch_runs(load, arrays)) is not None:
                return self._rewrite(rows, launch, arrays) if _gathers(rows) else None
        replace_load(load, self._lower(load, launch, arrays))

    def _lower(self, load: LoadOp, launch: LaunchOp, arrays: Arrays) -> SSAValue:
        gathering = Gathering(load, arrays)
        gathering.clamp()
        if self._picks_from_whole(load, arrays):
            return gathering.take_elements()
        if self._is_product(load):
            return gathering.take_rows()
        gathering.through_reshape(launch)
        if len(gathering.shape) == 1:
            gathering.fold_flat()
        gathering.whole_rows()
        gathering.whole_groups()
        return gathering.load()

    def _picks_from_whole(self, load: LoadOp, arrays: Arrays) -> bool:
        """Whether elements are picked from a small array, or from a column of one."""
        return self.strategy != "dma" and Gathering(load, arrays).is_small_product()

    def _is_product(self, load: LoadOp) -> bool:
        """Rows of a matrix, by an index of one dimension, and few enough of them."""
        rows, *rest = load.entries
        if self.strategy == "dma" or len(rest) != 1 or not is_gather(rows) or is_gather(rest[0]):
            return False
        assert isinstance(rows, SSAValue)
        block = type_of(load.result)
        if type_of(rows).rank != 1 or block.rank != 2 or element_bits(load.memory) == 64:
            return False
        size = array_type(load.memory).get_shape()[0] * block.shape[1] * element_bits(load.memory) // 8
        return self.strategy == "one-hot" or size <= self.one_hot_bytes


def _gathers(load: LoadOp) -> bool:
    return any(is_gather(entry) for entry in load.entries)


def _sees_stores(load: LoadOp, launch: LaunchOp) -> bool:
    """Whether a load may see what its launch stores, or there is nothing else to see."""
    number = launch.body.block.args.index(load.memory)
    if number not in launch.written:
        return False
    stores = [use.operation for use in load.memory.uses if isinstance(use.operation, StoreOp)]
    return number >= len(launch.inputs) or any(may_see(load, store) for store in stores)


def _take_input(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
    """Lets a load that sees no stores of its launch read an array that the launch only reads: the version before."""
    if launch.body.block.args.index(load.memory) in launch.written:
        load.operands[0] = arrays.again(load.memory)


def _refuse(load: LoadOp) -> NoReturn:
    raise LoweringError(
        "a gather from an array that the same loop writes",
        location_of(load),
        notes=["gather before the loop writes, or from an array that another loop has written"],
    )


def as_blocks(load: LoadOp) -> LoadOp:
    """The load with each index that is a range's lane numbers as that range, and each scalar as an ``index``."""
    entries = [_as_block(entry, load) for entry in _apart(load)]
    if all(before is after for before, after in zip(load.entries, entries, strict=True)):
        return load
    replacement = LoadOp(load.memory, entries, load.mask, load.other, load.pad, load.attributes)
    replacement.location = load.location
    replacement.result.name_hint = load.result.name_hint
    Rewriter.replace_op(load, replacement)
    return replacement


def _apart(load: LoadOp) -> list[Entry]:
    """The index list with the lane numbers of several indices as ranges, where the block has the same dimensions."""
    found = apart(load)
    same = block_dims(found, array_type(load.memory).get_shape()) == type_of(load.result).dims.data
    return found if same else list(load.entries)


def _as_block(entry: Entry, load: LoadOp) -> Entry:
    if not isinstance(entry, SSAValue) or isinstance(entry.type, RangeType) or not is_gather(entry):
        return entry
    tiles = [o for o in load.entries if isinstance(o, SSAValue) and is_gather(o) and type_of(o).rank]
    if len(tiles) == 1 and (range := counted_range(entry, load)) is not None:
        return range
    if type_of(entry).rank:
        return entry
    scalar = ExtractOp(entry, IndexType())
    Rewriter.insert_op(scalar, InsertPoint.before(load))
    return scalar.result


def counted_range(entry: SSAValue, load: LoadOp) -> SSAValue | None:
    """The range whose lane numbers an index is, plus or minus one scalar for all lanes; else None."""
    op = entry.owner
    if isinstance(op, IndexOp):
        return op.range
    if not isinstance(op, ElementwiseOp) or op.ROW.name not in ("add", "sub"):
        return None
    first, second = op.inputs
    if op.ROW.name == "add" and isinstance(second.owner, IndexOp):
        first, second = second, first
    if not isinstance(first.owner, IndexOp) or not isinstance(second.owner, SplatOp | FullOp):
        return None
    offset = _offset(second.owner, op.ROW.name == "sub", load)
    shifted = _insert(ShiftOp(first.owner.range, offset), load)
    shifted.name_hint = first.owner.range.name_hint
    return shifted


def _offset(op: SplatOp | FullOp, negated: bool, load: LoadOp) -> SSAValue:
    """The number in every lane of a tile as an ``index``."""
    if isinstance(op, FullOp):
        return _insert(ConstantOp(IntegerAttr(-int(op.number) if negated else int(op.number), IndexType())), load)
    scalar = op.scalar
    if not isinstance(scalar.type, IndexType):
        scalar = _insert(IndexCastOp(scalar, IndexType()), load)
    return _insert(SubiOp(_insert(ConstantOp(IntegerAttr(0, IndexType())), load), scalar), load) if negated else scalar


def _insert(op: Operation, load: LoadOp) -> SSAValue:
    op.location = load.location
    Rewriter.insert_op(op, InsertPoint.before(load))
    return op.results[0]
