"""The order of a grid's dimensions: written blocks are finished before they are left, read ones come seldom."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from kopt import parse
from kopt.analysis.grid_orders import CLEARLY, grid_order, planned_order
from kopt.analysis.windows import unordered_windows
from kopt.dialects.tile import GridOp
from test.named import named, only

NAMES = "ijkl"


def grid_of(trips: tuple[int, ...], arrays: dict[str, str], order: str = "") -> tuple[GridOp, dict]:
    """A grid of so many cells, 8 lanes each; ``arrays`` names those that it loads, by the dimensions they move with."""
    ranges = ", ".join(f"%{NAMES[n]}: b{n}=8" for n in range(len(trips)))
    args, loads = [], []
    for name, dims in arrays.items():
        type = f"memref<{'x'.join(str(8 * trips[NAMES.index(dim)]) for dim in dims) or '8'}xf32>"
        tile = "".join(f"b{NAMES.index(dim)}=8 x " for dim in dims) or "8 x "
        args.append(f"%{name}: {type}")
        entries = ", ".join("%" + dim for dim in dims) or ":"
        loads.append(f"%v{name} = tile.load %{name}[{entries}] : {type} -> !tile.tile<{tile}f32>")
    text = f"""func.func @f({", ".join(args)}) {{
  tile.grid ({ranges}) in ({", ".join(str(8 * count) for count in trips)}) {order} {{
    {chr(10).join(loads)}
  }}
  func.return
}}"""
    module = parse(text)
    grid, values = only(module, GridOp), named(module)
    found = unordered_windows(grid, [values[name] for name in arrays])
    return grid, {name: found[values[name]] for name in arrays}


@pytest.mark.parametrize(
    ("trips", "written", "order", "wanted"),
    [
        ((4, 4), ["ij"], "", [0, 1]),
        ((4, 4), ["i"], "", [0, 1]),
        ((4, 4), ["j"], "", [1, 0]),
        ((4, 4), [""], "", [0, 1]),
        ((4, 4), [], "", [0, 1]),
        ((4, 4, 4), ["jk", "k"], "", [2, 1, 0]),
        ((4, 4, 4), ["ik"], "", [0, 2, 1]),
        # What runs in order is innermost, whatever moves with it.
        ((4, 4), ["i"], "ordered [0]", [1, 0]),
        ((4, 4, 4), ["ijk"], "reduce [0]", [1, 2, 0]),
        ((4, 4, 4), ["ik"], "reduce [1]", [0, 2, 1]),
    ],
)
def test_the_more_outputs_move_with_a_dimension_the_further_out_it_goes(
    trips: tuple[int, ...], written: list[str], order: str, wanted: list[int]
) -> None:
    grid, windows = grid_of(trips, {f"a{n}": dims for n, dims in enumerate(written)}, order)
    assert grid_order(grid, list(windows.values())) == wanted


def fetched(order: tuple[int, ...], trips: tuple[int, ...], reads: list[str]) -> int:
    """Blocks that come, gone through cell by cell."""
    count = 0
    for dims in reads:
        last = None
        for cell in product(*(range(trips[n]) for n in order)):
            at = dict(zip(order, cell, strict=True))
            block = tuple(at[NAMES.index(dim)] for dim in dims)
            count, last = count + (block != last) * 8 ** max(1, len(dims)), block
    return count


@pytest.mark.parametrize("trips", [(8, 2), (2, 8), (3, 3), (1, 9), (4, 2, 6), (1, 5, 2)])
@pytest.mark.parametrize("reads", [["i"], ["j"], ["i", "j"], ["ij", "j"], [""]])
def test_dimensions_of_all_outputs_go_by_what_is_read(trips: tuple[int, ...], reads: list[str]) -> None:
    """The usual order stays unless another one moves clearly less."""
    arrays = {"out": NAMES[: len(trips)], **{f"r{n}": dims for n, dims in enumerate(reads)}}
    grid, windows = grid_of(trips, arrays)
    out = windows.pop("out")
    found = grid_order(grid, [out], list(windows.values()))
    usual = tuple(range(len(trips)))
    costs = {order: fetched(order, trips, reads) for order in permutations(usual)}
    if min(costs.values()) < CLEARLY * costs[usual]:
        assert costs[tuple(found)] == min(costs.values())
    else:
        assert tuple(found) == usual


def test_dimensions_that_only_some_outputs_move_with_stay_inside() -> None:
    grid, windows = grid_of((8, 8, 8), {"a": "ij", "b": "ijk", "r": "j"})
    assert grid_order(grid, [windows["a"], windows["b"]], [windows["r"]]) == [1, 0, 2]


def test_without_a_plan_no_order_is_planned() -> None:
    grid, _ = grid_of((4, 4), {"a": "ij"})
    assert planned_order(grid) is None
