"""The parts of a launch's model, each from the IR of one grid: axes, arrays, accesses, work, values alive, names."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.launch_models.accesses import accesses
from kopt.analysis.launch_models.axes import axes
from kopt.analysis.launch_models.launch import Asked, Launch
from kopt.analysis.launch_models.live import live
from kopt.analysis.launch_models.naming import ModelNames
from kopt.analysis.launch_models.operands import operands
from kopt.analysis.launch_models.orders import orders
from kopt.analysis.launch_models.program_points import places
from kopt.analysis.launch_models.work import work
from kopt.analysis.plans import GridNames
from kopt.dialects.tile import DimAttr, GridOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO
from kopt.ir.launch_model import Name
from test.named import named, only

TEXT = """
func.func @f(%x: memref<100x60xf32>, %ids: memref<100xi32>, %out: memref<100x60xf32>, %n: index, %c: i1) {{
  tile.grid (%i: b0=8, %j: b1=20) in (100, 60) {order} {{
    {body}
  }}
  func.return
}}
"""
TILE = "!tile.tile<b0=8 x b1=20 x f32>"
LOAD = f"%v = tile.load %x[%i, %j] : memref<100x60xf32> -> {TILE}"
STORE = f"tile.store %v, %out[%i, %j] : {TILE}, memref<100x60xf32>"


def launch(*body: str, order: str = "", asked: Asked = "all", open_tags=()) -> Launch:
    grid = only(parse(TEXT.format(body="\n".join(body), order=order)), GridOp)
    return Launch(grid, GridNames.of(grid), open_tags, asked)


# Axes.


def found_axes(*body: str, **more) -> dict[str, tuple]:
    return {one.tag: (one.size, one.form, one.parent, one.trips.number) for one in axes(launch(*body, **more))}


def test_the_axes_of_the_grid() -> None:
    assert found_axes() == {"b0": (8, "grid", None, 13), "b1": (20, "grid", None, 3)}


def test_a_loop_over_a_block_has_it_as_parent() -> None:
    text = "%b = tile.begin %i : !tile.range<b0=8>\n%e = tile.end %i : !tile.range<b0=8>\ntile.for %k: b2=4 in (%b, %e) {\n}"  # noqa: E501
    size, form, parent, _ = found_axes(text)["b2"]
    assert (size, form, parent) == (4, "loop", "b0")


def test_a_loop_without_a_range_may_have_no_visits() -> None:
    model = launch("tile.while %c {\n  tile.yield %c : i1\n}")
    *_, loop = axes(model)
    assert (loop.size, loop.lower, loop.form) == (1, ZERO, "loop") and loop.tag.startswith("while.")
    assert (loop.upper.range.low, loop.upper.range.high) == (0, None)


def test_a_loop_of_unknown_visits() -> None:
    assert found_axes("tile.for %k: b2=4 in (0, %n) {\n}")["b2"] == (4, "loop", None, None)
    assert found_axes("tile.for %k: b2=4 in (0, 0) {\n}")["b2"] == (4, "loop", None, 0)


def test_sizes_that_are_open_are_parameters() -> None:
    lanes = IndexAnalysis(open_tags=["b0"]).lanes_of(DimAttr(8, "b0"))
    assert found_axes(open_tags=["b0"])["b0"] == (lanes, "grid", None, None)


def test_comparisons_of_element_numbers() -> None:
    loop = "tile.for %k: b2=4 in (0, 60) {{\n%m = tile.index %k : !tile.range<b2=4>\n{}\n}}"
    plain = "%d = tile.add %m, %m : !tile.tile<b2=4 x i32>"
    compared = f"{plain}\n%t = tile.lt %d, %m : !tile.tile<b2=4 x i32>"
    by_tag = [{one.tag: one.compared for one in axes(launch(loop.format(text)))}["b2"] for text in (plain, compared)]
    assert by_tag == [False, True]


def test_of_a_plan_that_is_made_nothing_else_may_become() -> None:
    loop = "tile.for %k: b2=4 in (0, 60) {\n%w = tile.load %x[%i, %k] : memref<100x60xf32> -> !tile.tile<b0=8 x b2=4 x f32>\n}"  # noqa: E501
    assert {one.tag: one for one in axes(launch(loop, asked="plan"))}["b2"].may == frozenset()


# Arrays.


def test_arrays_that_are_read_and_written() -> None:
    found = {one.name: one for one in operands(launch(LOAD, STORE))}
    assert {name: (one.read, one.written, one.temporary) for name, one in found.items()} == {
        "x": (True, False, False),
        "out": (False, True, False),
    }
    assert found["x"].shape == (100, 60) and (found["x"].dtype, found["x"].bits) == ("f32", 32)
    assert found["x"].views - found["out"].views == {"slice"}


def test_an_array_that_is_updated_is_read_too() -> None:
    update = f"%one = tile.full 1.0 : {TILE}\natomic.rmw add %one, %out[%i, %j] : {TILE}, memref<100x60xf32>"
    (one,) = operands(launch(update))
    assert one.read and one.written


# Accesses.


def test_modes_paths_and_ids() -> None:
    again = LOAD.replace("%v", "%w")
    found = accesses(launch(LOAD, f"tile.for %k: b2=4 in (0, 60) {{\n{again}\n}}", STORE))
    assert [(one.id, one.mode, one.path) for one in found] == [
        ("x", "load", ("b0", "b1")),
        ("x#1", "load", ("b0", "b1", "b2")),
        ("out", "store", ("b0", "b1")),
    ]
    assert found[0].tags == ("b0", "b1") and found[0].condition is None


@pytest.mark.parametrize(("used", "returns"), [("", False), (f"%s = tile.neg %old : {TILE}", True)])
def test_updates_say_their_kind_and_whether_they_return(used: str, returns: bool) -> None:
    type = f"{TILE}, memref<100x60xf32>"
    (found,) = accesses(
        launch(f"%one = tile.full 1.0 : {TILE}", f"%old = atomic.rmw max %one, %out[%i, %j] : {type} -> {TILE}", used)
    )
    assert (found.mode, found.update, found.returns) == ("atomic", "max", returns)


def test_branches_guard() -> None:
    body = f"scf.if %c {{\n{LOAD}\n}} else {{\n{LOAD.replace('%v', '%w')}\n}}"
    then, otherwise = accesses(launch(body))
    assert then.condition is not None and otherwise.condition == then.condition.negated()
    assert [one.condition for one in accesses(launch(body, asked="sizes"))] == [None, None]


# Work.


def units(*body: str) -> dict[str, tuple]:
    return {one.unit: (one.dims, one.dtype, one.count) for one in work(launch(*body))}


def test_equal_operations_are_counted() -> None:
    found = units(
        LOAD, f"%a = tile.add %v, %v : {TILE}", f"%b = tile.mul %a, %v : {TILE}", f"%e = tile.exp %b : {TILE}"
    )
    dims = (("b0", 8), ("b1", 20))
    assert found["elementwise"] == (dims, "f32", 2) and found["transcendental"] == (dims, "f32", 1)


def test_scalars_and_reshapes_that_keep_lanes_are_none() -> None:
    one = "%s = tile.load %ids[3] : memref<100xi32> -> !tile.tile<i32>\n%t = tile.add %s, %s : !tile.tile<i32>"
    kept = f"%r = tile.reshape %v : {TILE} to !tile.tile<b0=8 x 1 x b1=20 x f32>"
    assert units(LOAD, one, kept) == {}
    assert units(LOAD, f"%r = tile.reshape %v : {TILE} to !tile.tile<160 x f32>").keys() == {"relayout"}


def test_conversions_are_of_registers_of_32_bits() -> None:
    narrow = TILE.replace("f32", "bf16")
    there, back = f"%h = tile.cast %v : {TILE} to {narrow}", f"%w = tile.cast %h : {narrow} to {TILE}"
    assert units(LOAD, there, back)["elementwise"] == ((("b0", 8), ("b1", 20)), "f32", 2)


def test_one_lane_that_is_taken_is_compared_with_all() -> None:
    numbers = "%k = tile.full {} : !tile.tile<b0=8 x {} x i32>".format
    taken = f"%t = tile.take_along %v, %k dim 1 : {TILE}, !tile.tile<b0=8 x {{}} x i32>".format
    found = units(LOAD, numbers(3, 1), taken(1))
    assert found["selection"][0] == (("b0", 8), ("b1", 20)) and found["crossing"][0][:1] == (("b0", 8),)
    assert units(LOAD, numbers(3, 4), taken(4)).keys() == {"layout"}


def test_products_have_three_dimensions_and_batches() -> None:
    text = """%a = tile.full 1.0 : !tile.tile<3 x b0=8 x 16 x f32>
    %b = tile.full 1.0 : !tile.tile<3 x 16 x b1=20 x f32>
    %d = tile.dot %a, %b : !tile.tile<3 x b0=8 x 16 x f32>, !tile.tile<3 x 16 x b1=20 x f32> -> !tile.tile<3 x b0=8 x b1=20 x f32>"""  # noqa: E501
    dims, _, count = units(text)["product"]
    assert [size for _, size in dims] == [3, 8, 16, 20] and count == 1


def test_what_a_loop_carries() -> None:
    text = f"""%z = tile.full 0.0 : {TILE}
    %r = tile.for %k: b2=4 in (0, 60) iter(%a = %z) -> ({TILE}) {{
      tile.yield %a : {TILE}
    }}"""
    (carried,) = [one for one in work(launch(text)) if one.unit == "carry"]
    assert carried.path == ("b0", "b1", "b2") and carried.dims == (("b0", 8), ("b1", 20))


# Values alive.


def widest(*body: str) -> int:
    """The most values at one place."""
    return max((len(place.values) for place in live(launch(*body))), default=0)


def test_a_value_lives_until_its_last_use() -> None:
    chain = [LOAD, f"%a = tile.neg %v : {TILE}", f"%b = tile.neg %a : {TILE}"]
    assert (widest(LOAD), widest(*chain), widest(*chain, f"%s = tile.add %v, %b : {TILE}")) == (1, 2, 3)


def test_what_is_computed_on_the_way_to_a_store_passes() -> None:
    """But for what is stored itself, and what anything else than a store needs."""
    chain = [LOAD, f"%a = tile.neg %v : {TILE}", f"%b = tile.mul %a, %v : {TILE}", STORE.replace("%v", "%b")]
    passing = [len(place.passing) for place in live(launch(*chain, asked="plan"))]
    assert max(passing) == 1
    summed = [*chain, f"%s = tile.reduce add %a [1] : {TILE}"]
    assert not any(place.passing for place in live(launch(*summed, asked="plan")))


def test_what_is_used_in_a_loop_lives_through_it() -> None:
    inside = f"tile.for %k: b2=4 in (0, 60) {{\n%a = tile.neg %v : {TILE}\n}}"
    found = live(launch(LOAD, inside))
    assert {len(place.values) for place in found} == {1}
    assert {place.path for place in found} <= {("b0", "b1"), ("b0", "b1", "b2")}


def test_scalars_take_none() -> None:
    assert live(launch("%s = tile.load %ids[3] : memref<100xi32> -> !tile.tile<i32>")) == ()


# Orders.


def found_orders(*body: str, order: str = "") -> list[tuple]:
    one = launch(*body, order=order)
    return [(each.axes, {*each.parallel}) for each in orders(one, axes(one))]


def test_cells_that_store_their_own_blocks_are_parallel() -> None:
    assert found_orders(LOAD, STORE) == [(("b0", "b1"), {"b0", "b1"})]


def test_marked_axes_stay_in_order() -> None:
    assert found_orders(LOAD, STORE, order="ordered [0]") == [(("b0", "b1"), {"b1"})]
    assert found_orders(LOAD, STORE, order="ordered [0, 1]") == [(("b0", "b1"), set())]


def test_cells_that_store_into_one_row_stay_in_order() -> None:
    row = "tile.store %w, %out[3, %j] : !tile.tile<b1=20 x f32>, memref<100x60xf32>"
    made = "%w = tile.reduce add %v [0] : " + TILE
    assert found_orders(LOAD, made, row) == [(("b0", "b1"), {"b1"})]


def test_a_loop_that_may_be_an_axis_is_the_innermost() -> None:
    loop = """%z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b2=20 in (0, 60) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %w = tile.load %x[%i, %k] : memref<100x60xf32> -> !tile.tile<b0=8 x b2=20 x f32>
      %p = tile.reduce add %w [1] : !tile.tile<b0=8 x b2=20 x f32>
      %s = tile.add %a, %p : !tile.tile<b0=8 x f32>
      tile.yield %s : !tile.tile<b0=8 x f32>
    }
    %id = tile.id %j : !tile.range<b1=20>
    tile.store %r, %out[%i, %id] : !tile.tile<b0=8 x f32>, memref<100x60xf32>"""
    own, hoisted = found_orders(loop)
    assert own[0] == ("b0", "b1") and hoisted == ((*own[0], "b2"), own[1])


# Names.


def test_names_say_what_values_are() -> None:
    text = """%s = tile.load %ids[3] : memref<100xi32> -> !tile.tile<i32>
    %m = tile.extract %s : !tile.tile<i32> to index
    %t = arith.addi %m, %n : index"""
    one = launch(text)
    names = ModelNames(one.grid, places(one.grid), one.ids)
    values = named(one.grid)
    arguments = one.grid.parent.args  # pyright: ignore[reportOptionalMemberAccess]
    assert names(values["s"], "") == Name("loaded", "ids")
    assert names(arguments[3], "") == Name("scalar", "n")
    assert names(values["i"], "block") == "b0" and names(values["i"], "longest") == Name("longest", "b0")
    made = names(values["t"], "")
    assert isinstance(made, Name) and made.kind == "value" and made == names(values["t"], "")
    assert made != names(values["m"], "")


def test_what_names_depend_on() -> None:
    text = """%at = tile.begin %i : !tile.range<b0=8>
    %s = tile.load %ids[%at] : memref<100xi32> -> !tile.tile<i32>
    %m = tile.extract %s : !tile.tile<i32> to index
    %t = arith.addi %m, %n : index"""
    one = launch(text)
    names, values = ModelNames(one.grid, places(one.grid), one.ids), named(one.grid)
    made = names(values["t"], "")
    assert isinstance(made, Name)
    (source,) = names.sources([made, made, Name("value", "of another launch")])
    assert source.moves == {"b0"} and source.loads == ("ids",)


BRANCH = f"""{LOAD}
scf.if %c {{
  %w = tile.load %x[%i, %j] : memref<100x60xf32> -> {TILE}
  %e = tile.exp %w : {TILE}
  tile.store %e, %out[%i, %j] : {TILE}, memref<100x60xf32>
}} ATTRIBUTES"""


@pytest.mark.parametrize("unlikely", [False, True])
def test_unlikely_branches_do_no_work(unlikely: bool) -> None:
    """Their accesses say so; what memory they take is as of others."""
    found = launch(BRANCH.replace("ATTRIBUTES", "{tile.unlikely}" if unlikely else ""))
    assert [one.unlikely for one in accesses(found)] == [False, unlikely, unlikely]
    assert ("transcendental" in {one.unit for one in work(found)}) is not unlikely
