"""Stores of blocks that begin at computed elements are merged into aligned, larger ones."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import SSAValue

from kopt.analysis.alignment import multiple
from kopt.analysis.layouts import has_layout, lanes_dim
from kopt.analysis.shared_rows import has_rows_of_its_own, shares_rows, sharing_dims
from kopt.analysis.streaming import is_computed, loops_around, walks
from kopt.analysis.windows import Window, unordered_windows
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, Entry, GridOp, LoadOp, RangeType, StoreOp, WholeOp, is_gather
from kopt.dialects.tile.index_list import AllAttr, SliceAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import unshifted
from kopt.passes.aligning.superset import aligned_size
from kopt.passes.aligning.superset_load import Cutter
from kopt.passes.aligning.superset_store import Merger
from kopt.passes.launch_arrays import Arrays
from kopt.passes.scatters.run_in_order import order_dims, run_in_order
from kopt.passes.scatters.written_operand import WrittenOperand
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import window_bytes
from kopt.walk import walk


def align_stores(op: ModuleOp, chip: TpuChip, analysis: IndexAnalysis) -> None:
    """Makes stores at an unaligned dynamic start aligned superset loads, insertions and stores, in all launches."""
    for launch in walk(op, LaunchOp):
        for number in launch.written:
            _align(WrittenOperand(launch, number), chip, analysis)


def _align(target: WrittenOperand, chip: TpuChip, analysis: IndexAnalysis) -> None:
    grids = [op for op in target.launch.body.block.ops if isinstance(op, GridOp)]
    accesses = [op for op in walk(target.launch, Access) if op.memory is target.memory]
    if len(grids) != 1 or not all(map(_is_block, accesses)):
        return
    window = unordered_windows(grids[0], [target.memory], analysis).get(target.memory)
    if window is None:
        return
    in_hbm = _stays_in_hbm(window, chip)
    sharing = _sharing(window, grids[0], chip)
    if not in_hbm and sharing is None and has_layout(window):
        return
    dims = {access: _unaligned(access, window, in_hbm) for access in accesses}
    extents = _extents(target, dims, analysis)
    for access in accesses:
        _keep_lanes(access, target.shape, extents)
    target.pad(extents)
    if in_hbm:
        remark(accesses[0], f"'{target.name}' stays in HBM: its blocks are fetched and sent back by DMAs")
        for access in accesses:
            access.attributes["space"] = StringAttr("hbm")
    for access, units in dims.items():
        if isinstance(access, LoadOp):
            Cutter(access, window, Arrays(target.launch)).run()
        elif isinstance(access, StoreOp) and units:
            Merger(access, units, analysis).run()
    if sharing is None:
        run_in_order(grids[0], target.memory, target.name)
    else:
        order_dims(grids[0], sharing)


def _sharing(window: Window, grid: GridOp, chip: TpuChip) -> frozenset[int] | None:
    """The dimensions along which cells share rows of a vector; None where none do, or where cores would share them."""
    if not shares_rows(window, grid) or chip.cores > 1 and not has_rows_of_its_own(window, grid):
        return None
    return sharing_dims(window, grid)


def _stays_in_hbm(window: Window, chip: TpuChip) -> bool:
    """Whether an array is too large for VMEM, and each of its blocks is at a place of its own."""
    fits = Budget(chip).holds_updated(window_bytes(window.block, window.bits))
    return not fits and all(_is_placed(access, window) for access in (*window.loads, *window.stores))


def _keep_lanes(access: Access, shape: Sequence[int], extents: Sequence[int]) -> None:
    """Lets ``:`` be the lanes that there were of a dimension that is padded."""
    pairs = zip(access.layout.data, shape, extents, strict=True)
    access.layout = ArrayAttr(
        [
            SliceAttr(0, size) if isinstance(entry, AllAttr) and size != padded else entry
            for entry, size, padded in pairs
        ]
    )


def _is_block(access: Access) -> bool:
    return isinstance(access, LoadOp | StoreOp) and not any(is_gather(entry) for entry in access.entries)


def _is_placed(access: LoadOp | StoreOp, window: Window) -> bool:
    """Whether an access puts a block somewhere that only it tells, as by a computed or loaded number, and no loop walks
    that block by block."""
    loops = [loop for loop in loops_around(access) if is_computed(loop)]
    if isinstance(access, LoadOp) or any(walks(entry, loop) for loop in loops for entry in access.entries):
        return False
    ranges = [entry for entry in access.entries if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType)]
    return any(
        isinstance(unshifted(entry).owner, WholeOp) or not window.analysis.begin(entry).is_affine for entry in ranges
    )


def _unaligned(access: Access, window: Window, in_hbm: bool) -> dict[int, int]:
    """The dimensions in which an access's block must be a larger one, and of what its begin must be a multiple."""
    lanes = -1 if in_hbm else lanes_dim(window)
    found: dict[int, int] = {}
    for dim, entry in enumerate(access.entries):
        unit = multiple(window.type, dim, lanes)
        stays = not in_hbm and dim != lanes and isinstance(access, StoreOp) and _is_row(entry, window, dim)
        if _begins_between(entry, unit, in_hbm, window.analysis) and not stays:
            found[dim] = unit
    return found


def _is_row(entry: Entry, window: Window, dim: int) -> bool:
    """Whether an entry is a single row, of any number, as VMEM takes it where no blocks of rows are told by numbers."""
    if not isinstance(entry, SSAValue):
        return True
    return not isinstance(entry.type, RangeType) and window.bits == 32 and window.dims[dim].step == 1


def _begins_between(entry: Entry, unit: int, whole_tiles: bool, analysis: IndexAnalysis) -> bool:
    if isinstance(entry, AllAttr | SliceAttr):
        return False
    if not isinstance(entry, SSAValue):
        return whole_tiles and unit > 1
    if not isinstance(entry.type, RangeType):
        return analysis.expr(entry).divisor % unit != 0 or whole_tiles and unit > 1
    return analysis.begin(entry).divisor % unit != 0 or whole_tiles and entry.type.size % unit != 0


def _extents(target: WrittenOperand, dims: dict[Access, dict[int, int]], analysis: IndexAnalysis) -> list[int]:
    """The extents at which arrays end at multiples and hold a larger block."""
    extents = list(target.shape)
    for access, units in dims.items():
        for dim, unit in units.items():
            size = aligned_size(access.entries[dim], unit, analysis)
            extents[dim] = max(-(-extents[dim] // unit) * unit, size)
    return extents
