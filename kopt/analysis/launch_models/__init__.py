"""Models of launches from IR: `launch_models` reads a module once, and deciding needs no IR from then on.

For modules in the state in which block sizes are chosen: `tile.grid` in a function, or in a `host.launch`.

    tile.grid (%tile: b0=32, %cols: b1=128) in (90, 333) {
      %0 = tile.load %flat[%tile]        %1 = tile.load %table[%0, %cols]        tile.store %1, %out[%tile, %cols] }
becomes
    axes        b0: 32 in (0, 90) grid            b1: 128 in (0, 333) grid
    accesses    flat: block, moves b0             table: runs, moves b0 b1, address flat        out: block, moves b0 b1

| module | what |
|---|---|
| `launch`, `program_points` | one launch: its operations with the loops around them, its names |
| `naming` | names for SSA values, and what they depend on |
| `axes`, `whole_dims` | the ranges, and dimensions ``:`` that may become ranges |
| `merged_dims`, `dim_classes` | dimensions that are made of blocks; which dimensions are lane by lane the same |
| `operands`, `accesses` | arrays, and what is loaded, stored and updated |
| `work`, `number_masks` | what is computed, and in which lanes it counts |
| `live`, `orders` | what is alive at once, in which order cells may run |
| `factors` | where the operands of products come from |
| `kopt.analysis.register_code` | the steps of a cell as vector registers see them |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from kopt.analysis.launch_models.accesses import accesses
from kopt.analysis.launch_models.axes import axes
from kopt.analysis.launch_models.chains import chained, recurrent
from kopt.analysis.launch_models.factors import factors
from kopt.analysis.launch_models.launch import Asked, Launch
from kopt.analysis.launch_models.live import live
from kopt.analysis.launch_models.number_masks import number_masks
from kopt.analysis.launch_models.operands import operands
from kopt.analysis.launch_models.orders import orders
from kopt.analysis.launch_models.work import work
from kopt.analysis.plans import GridNames
from kopt.analysis.register_code import register_code
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp
from kopt.ir.launch_model import Axis, LaunchModel
from kopt.ir.launch_sizes import names_of, settled_access
from kopt.ir.register_code import RegisterCode
from kopt.targets.chips import Chip, GpuChip, TpuChip
from kopt.targets.costs import tpu_costs
from kopt.walk import walk

__all__ = ["fixed_model", "launch_model", "launch_models", "open_models"]


def launch_models(module: ModuleOp, open_tags: Collection[str] = ()) -> list[LaunchModel]:
    """The models of a module's launches, in the order of the program; the sizes of ``open_tags`` are left open."""
    grids = walk(module, GridOp)
    taken: dict[str, int] = {}
    return [launch_model(grid, open_tags, _name(grid, taken)) for grid in grids]


def _name(grid: GridOp, taken: dict[str, int]) -> str:
    """The launch's or the function's name; several grids of one are numbered."""
    around: Operation | None = grid
    while around is not None and not isinstance(around, LaunchOp | FuncOp):
        around = around.parent_op()
    name = around.sym_name.data if around is not None else "kernel"
    taken[name] = number = taken.get(name, -1) + 1
    return f"{name}#{number}" if number else name


def open_models(top: Operation, open_tags: Collection[str], chip: Chip) -> list[LaunchModel]:
    """The models of the launches in an operation, as far as costs at different sizes of ``open_tags`` ask for them.

    The orders that cells may run in matter where cores share them, and loops that may be dimensions of the grid on a
    TPU alone.
    """
    asked: Asked = "sizes" if isinstance(chip, TpuChip) else "plan"
    ordered = isinstance(chip, TpuChip) and tpu_costs(chip).cores > 1
    launches = [Launch(grid, GridNames.of(grid), open_tags, asked) for grid in walk(top, GridOp)]
    return [_model(launch, "", ordered, chip) for launch in launches]


def launch_model(grid: GridOp, open_tags: Collection[str] = (), name: str = "") -> LaunchModel:
    """The model of one launch, named as its function is unless a name is given."""
    return _model(Launch(grid, GridNames.of(grid), open_tags), name)


def fixed_model(grid: GridOp, known: GridNames) -> LaunchModel:
    """What costs of plans ask for: what a launch is, and not which axes and orders it may have besides."""
    return _model(Launch(grid, known, asked="plan"), "")


def _model(launch: Launch, name: str, ordered: bool = True, chip: Chip | None = None) -> LaunchModel:
    """The model; for a GPU alone without the steps of cells, and for a TPU alone without what is alive at once."""
    found, used = axes(launch), accesses(launch)
    sources = launch.names.sources(names_of(found, used))
    known = {source.name: source for source in sources}
    return LaunchModel(
        name or _name(launch.grid, {}),
        found,
        operands(launch),
        tuple(settled_access(access, known) for access in used),
        work(launch, None if isinstance(chip, GpuChip) else number_masks(launch)),
        () if isinstance(chip, TpuChip) else live(launch),
        orders(launch, found) if ordered and not launch.planned else (),
        sources,
        _sizes(launch, found),
        chained(launch),
        recurrent(launch),
        RegisterCode() if isinstance(chip, GpuChip) else register_code(launch.grid, launch.analysis, planned=False),
        () if isinstance(chip, TpuChip) else factors(launch),
    )


def _sizes(launch: Launch, found: Sequence[Axis]) -> dict[str, int]:
    """The sizes that are chosen, and the largest ones of blocks that a pass chooses for them."""
    own = {axis.tag: axis.size for axis in found if isinstance(axis.size, int) and axis.tag in launch.tags}
    return own | {axis.tag: max(axis.sizes) for axis in found if axis.sizes}
