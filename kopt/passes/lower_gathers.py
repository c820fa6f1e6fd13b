"""The pass ``lower-gathers``: reads by computed row numbers become products or DMAs that a TPU has."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp, IndexCastOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.read_back import may_see, writes_to
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
    is_gather,
)
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.errors import LoweringError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.access import Gathering
from kopt.passes.gathers.building import Arrays, array_type, replace_load, type_of
from kopt.passes.gathers.by_place import fetch_flat, fetch_rows
from kopt.passes.gathers.cases import by_cases
from kopt.passes.gathers.chosen import by_choice
from kopt.passes.gathers.counted import load_counted
from kopt.passes.gathers.far import as_gather, is_far
from kopt.passes.gathers.flat import of_matrix
from kopt.passes.gathers.held import pick_from_held
from kopt.passes.gathers.near import fetch_near
from kopt.passes.gathers.own_lanes import with_own_lanes
from kopt.passes.gathers.permuted import in_order
from kopt.passes.gathers.places import comes_by_dma, memory_for, row_places
from kopt.passes.gathers.repeated import once
from kopt.passes.gathers.started import fetch_runs
from kopt.passes.scatters.access import apart
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk


@dataclass(frozen=True)
class LowerGathersPass(ModulePass):
    """Rewrites each load with a tile among its indices into one that Mosaic can do.

    * what is the same along a dimension of lanes comes once, and is repeated on the chip;
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
    * elements of a block that another access of the cell has on the chip, ``logits[i, labels[i]]`` beside
      ``logits[i, :]``: that block, of which they are picked; the two loads are one;
    * rows of a matrix whose block is at most ``one-hot-bytes`` large: the block is loaded whole, and the rows taken by
      `tile.take_along`, which is printed as a one-hot product that is exact for every bit pattern; of such a matrix,
      or of flat storage as small, seen as rows of 128, elements are picked from rows so taken;
    * elements that lie near one number, as the index tells: the block of memory that holds all of them, of which those
      are picked; near a number of each row, or column, of the block: the rows of memory around each of these; whichever
      is less, or all of a small array that is no more; where a part of the index is one sum or another, each of both;
    * elements of rows of a matrix whose numbers lanes repeat: each row once, of which these are picked;
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

    Refuses, with the access's place, gathers of single rows from an array that the same launch may have written by
    then: by stores, by updates, or by copies from other ranks.
    """

    name = "lower-gathers"

    chip: str = "tpu7x"
    strategy: Literal["auto", "one-hot", "dma"] = "auto"
    one_hot_bytes: int = 256 * 1024

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            arrays, sums = Arrays(launch), SumAnalysis()
            for access in [inner for inner in walk(launch, LoadOp) if _gathers(inner)]:
                is_number = isinstance(type_of(access.result).element_type, IntegerType)
                for load in filter(_gathers, by_choice(once(access, sums), sums)):
                    self._rewrite(load, launch, arrays, sums)
                if is_number:  # what is made of them is made of other values now
                    sums = SumAnalysis()
            analysis = IndexAnalysis()
            for access in [inner for inner in walk(launch, LoadOp) if not _gathers(inner)]:
                if self.strategy == "auto" and pick_from_held(access, launch):
                    continue
                if is_far(access, launch, TPU_CHIPS[self.chip], analysis):
                    self._gather(as_gather(access), launch, arrays, SumAnalysis())

    def _rewrite(self, access: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> None:
        load = with_own_lanes(as_blocks(of_matrix(in_order(access), launch, arrays, sums)), sums)
        moving = _sees_writes(load, launch, sums.exact)
        if not moving:
            _take_input(load, launch, arrays)
        if (value := load_counted(load, sums)) is not None:
            replace_load(load, value)
        elif _gathers(load):
            if moving:
                _refuse(load, sums.exact)
            if self.strategy == "auto" and pick_from_held(load, launch):
                return
            self._gather(load, launch, arrays, sums)

    def _gather(self, load: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> None:
        """Puts what DMAs or products pick in the place of a load."""
        if not self._picks_from_whole(load, arrays):
            if self.strategy == "auto" and self._fetch_little(load, launch, arrays, sums):
                return None
            if (rows := fetch_runs(load, arrays, sums)) is not None:
                return self._rewrite(rows, launch, arrays, sums) if _gathers(rows) else None
        replace_load(load, self._lower(load, launch, arrays))

    def _fetch_little(self, load: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> bool:
        """Puts picks in a load's place where less memory comes than for its lanes one by one or in runs; whether so."""
        memory = memory_for(load, sums, TPU_CHIPS[self.chip], self.one_hot_bytes)
        if memory == "near":
            return fetch_near(load, sums.exact)
        if memory == "whole":
            replace_load(load, self._lower(load, launch, arrays))
            return True
        cases = by_cases(load, sums) if memory is None else [(load, memory)]
        for case, places in cases:
            by_dma = comes_by_dma(case, places)
            rows = fetch_flat(case, places, arrays, sums)
            if by_dma:
                replace_load(rows, replace(self, strategy="dma")._lower(rows, launch, arrays))
            else:
                self._rewrite(rows, launch, arrays, sums)
        if not cases and (dims := row_places(load, sums)) is not None:
            self._rewrite(fetch_rows(load, dims, sums), launch, arrays, sums)
            return True
        return bool(cases)

    def _lower(self, load: LoadOp, launch: LaunchOp, arrays: Arrays) -> SSAValue:
        gathering = Gathering(load, arrays)
        gathering.clamp()
        if self._picks_from_whole(load, arrays):
            return gathering.take_elements()
        if self._is_product(gathering):
            return gathering.take_rows()
        gathering.through_reshape(launch)
        if len(gathering.shape) == 1:
            gathering.fold_flat()
        gathering.whole_rows()
        if self._is_product(gathering):
            return gathering.take_rows()
        gathering.whole_groups()
        return gathering.load()

    def _picks_from_whole(self, load: LoadOp, arrays: Arrays) -> bool:
        """Whether elements are picked from a small array, or from a column of one."""
        return self.strategy != "dma" and Gathering(load, arrays).is_small_product()

    def _is_product(self, gathering: Gathering) -> bool:
        """Whether rows are taken of a table that is few enough bytes."""
        if self.strategy == "dma":
            return False
        return gathering.is_rows_of_table(sys.maxsize if self.strategy == "one-hot" else self.one_hot_bytes)


def _gathers(load: LoadOp) -> bool:
    return any(is_gather(entry) for entry in load.entries)


def _sees_writes(load: LoadOp, launch: LaunchOp, analysis: IndexAnalysis) -> bool:
    """Whether a load may see what its launch writes, or there is nothing else to see."""
    number = launch.body.block.args.index(load.memory)
    if number not in launch.written:
        return False
    return number >= len(launch.inputs) or bool(_seen(load, analysis))


def _seen(load: LoadOp, analysis: IndexAnalysis) -> list[Operation]:
    """The writes that a load may see."""
    return [write for write in writes_to(load.memory) if may_see(load, write, analysis)]


def _take_input(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
    """Lets a load that sees no writes of its launch read an array that the launch only reads: the version before."""
    if launch.body.block.args.index(load.memory) in launch.written:
        load.operands[0] = arrays.again(load.memory)


def _refuse(load: LoadOp, analysis: IndexAnalysis) -> NoReturn:
    places = dict.fromkeys(str(place) for write in _seen(load, analysis) if (place := location_of(write)) is not None)
    raise LoweringError(
        "an array is read by computed numbers after the same loop writes it",
        location_of(load),
        notes=[
            *(f"it is written at {place}" for place in places),
            "what is gathered comes from the array as it is before the loop",
            "read it by hl.arange, a tile or a slice, or write it in a loop or kernel before",
        ],
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
