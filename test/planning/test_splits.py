"""Into how many parts a loop may be dealt out, and which of them the cost model prefers, at many sizes at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.analysis.launch_models import fixed_model, open_models
from kopt.analysis.plans import GridNames
from kopt.dialects.tile import GridOp
from kopt.ir.launch_model import LaunchModel
from kopt.parsing import parse_module
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import gpu_candidate
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.splits import Split, best_split, most_parts, possible_parts, possible_powers
from kopt.plans.plan import Plan
from kopt.targets.chips import GPU_CHIPS
from kopt.walk import walk

SM90 = GPU_CHIPS["sm90"]
ROW = "!tile.tile<b0=1 x f32>"
OPEN = "[#tile.open<b1 : least 1024 most 16384>]"


def sums(cells: int, block: int, columns: int | str = 1 << 20) -> str:
    """Sums of rows, in loops over blocks of columns."""
    return f"""
    func.func @f(%x: memref<{cells}x1048576xf32>, %out: memref<{cells}xf32>, %some: index) {{
      tile.grid (%i: b0=1) in ({cells}) {{
        %zero = tile.full 0.0 : {ROW}
        %sum = tile.for %k: b1={block} in (0, {columns}) iter(%a = %zero) -> ({ROW}) {{
          %v = tile.load %x[%i, %k] : memref<{cells}x1048576xf32> -> !tile.tile<b0=1 x b1={block} x f32>
          %s = tile.reduce add %v [1] : !tile.tile<b0=1 x b1={block} x f32>
          %next = tile.add %a, %s : {ROW}
          tile.yield %next : {ROW}
        }}
        tile.store %sum, %out[%i] : {ROW}, memref<{cells}xf32>
      }}
      func.return
    }}"""


def fixed(text: str) -> LaunchModel:
    """The model of a module's launch."""
    (grid,) = walk(parse_module(text), GridOp)
    return fixed_model(grid, GridNames.of(grid))


def best(model: LaunchModel, **sizes: np.ndarray) -> Split:
    """Its best split on sm90."""
    return best_split(model, sizes, gpu_candidate(model), SM90, assumed_lengths(model))


@pytest.mark.parametrize("cells", [8, 132])
def test_a_block_that_a_pass_chooses_is_the_best_one(cells: int) -> None:
    """Of its sizes the one that costs the least, and of those that cost the same the largest, with its own split."""
    sizes = [16384, 8192, 4096, 2048, 1024]
    marked = sums(cells, 1024).replace(f"-> ({ROW}) {{", f"-> ({ROW}) attributes {{tile.open = {OPEN}}} {{")
    alone = [best(fixed(sums(cells, size))) for size in sizes]
    found = best(fixed(marked))
    seconds = [float(one.cost.seconds if one.cost.fits else np.inf) for one in alone]
    wanted = next(n for n, own in enumerate(seconds) if own <= 1.02 * min(seconds))
    assert (found.size.item(), found.parts.item()) == (sizes[wanted], int(alone[wanted].parts))
    np.testing.assert_allclose(found.cost.seconds, seconds[wanted], rtol=1e-12)
    assert all(one.size == 0 for one in alone)


@pytest.mark.parametrize("most", [1, 2, 3, 8, 100])
def test_parts_have_a_power_of_two_of_visits(most: int) -> None:
    """All such counts, fewest first, but the one part that takes all; for many numbers of visits at once."""
    visits = np.arange(1, 40)
    rows = [(np.broadcast_to(parts, 39), np.broadcast_to(where, 39)) for parts, where in possible_parts(visits, most)]
    for number, trips in enumerate(visits):
        found = [int(parts[number]) for parts, where in rows if where[number]]
        wanted = {-(-trips // (1 << power)) for power in range(10)} - {1}
        assert found == sorted(one for one in wanted if one <= most and (-(-trips // one)).bit_count() == 1)


def test_computed_visits_have_a_power_of_two_of_parts() -> None:
    most = np.array([1, 2, 7, 16, 1000])
    rows = [*possible_powers(most)]
    assert [parts for parts, _ in rows] == [2, 4, 8, 16]
    assert [int(np.sum([where[number] for _, where in rows])) for number in range(5)] == [0, 1, 2, 4, 4]


def test_sizes_together_are_as_each_by_itself() -> None:
    """Blocks decide how many visits there are, and so how they are dealt out."""
    blocks = [256, 1024, 4096, 8192, 32768]
    (model,) = open_models(parse_module(sums(8, 8192)), ["b1"], SM90)
    together = best(model, b1=np.array(blocks))
    alone = [best(fixed(sums(8, block))) for block in blocks]
    assert together.parts.tolist() == [int(one.parts) for one in alone]
    assert (together.parts > 1).all()
    np.testing.assert_allclose(together.cost.seconds, [float(one.cost.seconds) for one in alone], rtol=1e-12)
    unsplit = best_split(model, {"b1": np.array(blocks)}, with_split(model, 1), SM90, {})
    assert (unsplit.cost.seconds > together.cost.seconds).all() and unsplit.parts == 1


def with_split(model: LaunchModel, parts: int) -> Plan:
    """A plan that says how a loop is dealt out."""
    return replace(gpu_candidate(model), options=(("split", parts),))


def test_the_split_of_a_plan_is_obeyed() -> None:
    model = fixed(sums(8, 8192))
    seconds = [best_split(model, {}, with_split(model, parts), SM90, {}).cost.seconds for parts in (1, 2, 8)]
    assert seconds[0] > seconds[1] > seconds[2]


def test_parts_share_what_all_visits_load_alike() -> None:
    """It comes once for the parts that run beside each other; what visits move comes once in any case."""
    block, rows = "!tile.tile<b1=1 x b0=4096 x f32>", "memref<512x16777216xf32>"
    kernel = f"""
    func.func @f(%x: {rows}, %y: memref<16777216xf32>, %out: {rows}) {{
      tile.grid (%j: b0=4096) in (16777216) {{
        tile.for %k: b1=1 in (0, 512) {{
          %v = tile.load %x[%k, %j] : {rows} -> {block}
          %w = tile.load %y[%j] : memref<16777216xf32> -> !tile.tile<b0=4096 x f32>
          %row = tile.reshape %w : !tile.tile<b0=4096 x f32> to {block}
          %sum = tile.add %v, %row : {block}
          tile.store %sum, %out[%k, %j] : {block}, {rows}
        }}
      }}
      func.return
    }}"""
    model = fixed(kernel)
    read = [
        [GpuLaunch(own, {}, with_split(own, parts), SM90, {}).cost().bytes_in for parts in (1, 2, 8)]
        for name in ("x", "y")
        for own in [replace(model, accesses=tuple(o for o in model.accesses if o.operand == name))]
    ]
    visits = 4 * 512 * 16777216
    assert read == [[visits] * 3, [visits, visits / 2, visits / 8]]


@pytest.mark.parametrize(("cells", "split"), [(8, True), (100, True), (106, False), (132, False)])
def test_a_sum_has_to_gain_more_than_a_fifth(cells: int, split: bool) -> None:
    """Of 132 multiprocessors."""
    assert (best(fixed(sums(cells, 8192))).parts > 1) == split


def test_the_most_parts() -> None:
    """The visits where they are known; else as many partial results, of one number each, as registers hold."""
    for columns, wanted in ((1 << 20, 128), ("%some", 32 * 1024)):
        model = fixed(sums(8, 8192, columns))
        assert most_parts(model, model.sizes, {}, model.axis("b1")) == wanted


def test_triangles_stay_whole() -> None:
    """Their last visits have masks, and others none."""
    wide = (
        "%wide = arith.constant 131072 : index\n%end = tile.end %i : !tile.range<b0=1>\n%most = arith.muli %end, %wide"
    )
    text = sums(8, 8192, "%most").replace("%zero =", f"{wide} : index\n%zero =")
    assert best(fixed(text)).parts == 1 < best(fixed(sums(8, 8192))).parts
