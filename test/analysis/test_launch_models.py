"""What the models of kernels say: axes, accesses with their classes, moves and addresses, work, orders."""

from __future__ import annotations

import torch
from xdsl.dialects.builtin import ModuleOp

import kopt.language as hl
from examples.attention import causal_attention
from examples.embedding import embedding
from examples.linear_attention import delta_states
from examples.matmul import matmul
from examples.packed import grouped_matmul
from examples.softmax import softmax, softmax_two_pass
from examples.split_k import split_matmul
from kopt.analysis.cell_footprint import temporaries
from kopt.analysis.launch_models import launch_models
from kopt.dialects.tile import GridOp
from kopt.ir.index_expr import block_number, number, symbol
from kopt.ir.launch_model import LaunchModel, Name
from kopt.ir.value_range import ValueRange
from kopt.targets.tiling import register_bytes
from test.analysis.launches import front, model, parsed

IDS = torch.zeros(90, dtype=torch.int32)


def kinds(found: LaunchModel) -> dict[str, tuple[str, str]]:
    """The mode and the class of each access."""
    return {access.id: (access.mode, access.relation.kind) for access in found.accesses}


def moves(found: LaunchModel) -> dict[str, set[str]]:
    """The axes that each access moves with."""
    return {access.id: {*access.moves} for access in found.accesses}


def trips(found: LaunchModel) -> dict[str, int | None]:
    """How many blocks each axis has."""
    return {axis.tag: axis.trips.number for axis in found.axes}


def products(found: LaunchModel) -> list[tuple]:
    """The dimensions and the loops of each product."""
    return [(work.dims, work.path) for work in found.work if work.unit == "product"]


def reduced(found: LaunchModel, unit: str) -> dict[tuple, int]:
    """How many operations of a unit there are over each of its dimensions."""
    return {work.dims: work.count for work in found.work if work.unit == unit}


# Products.


def test_product() -> None:
    found = model(matmul, torch.ones(75, 300), torch.ones(300, 333), block_sizes=[32, 128, 128])
    assert trips(found) == {"b0": 3, "b1": 3, "b2": 3}
    assert [axis.form for axis in found.axes] == ["grid", "grid", "loop"]
    assert found.axis("b2").may == {"grid", "loop", "peeled", "split", "unrolled"}
    assert found.axis("b2").path == ("b0", "b1") and not found.axis("b2").whole
    assert kinds(found) == {"x": ("load", "block"), "y": ("load", "block"), "out": ("store", "block")}
    assert moves(found) == {"x": {"b0", "b2"}, "y": {"b1", "b2"}, "out": {"b0", "b1"}}
    assert [access.home for access in found.accesses] == ["b2", "b2", "b1"]
    assert found.access("y").tags == ("b2", "b1")
    assert products(found) == [((("b0", 32), ("b2", 128), ("b1", 128)), ("b0", "b1", "b2"))]
    assert found.sizes == {"b0": 32, "b1": 128, "b2": 128}


def test_orders_of_a_product() -> None:
    own, hoisted = model(matmul, torch.ones(75, 300), torch.ones(300, 333), block_sizes=[32, 128, 128]).orders
    assert (own.axes, own.parallel, own.fixed) == (("b0", "b1"), {"b0", "b1"}, ())
    assert (hoisted.axes, hoisted.parallel) == (("b0", "b1", "b2"), {"b0", "b1"})
    assert {pair[:2] for pair in hoisted.fixed} == {("b0", "b2"), ("b1", "b2")}


def test_arrays_of_a_product() -> None:
    found = model(matmul, torch.ones(75, 300), torch.ones(300, 333), block_sizes=[32, 128, 128])
    assert [(one.name, one.read, one.written, one.temporary) for one in found.operands] == [
        ("x", True, False, False),
        ("y", True, False, False),
        ("out", False, True, False),
    ]
    assert found.operand("y").shape == (300, 333) and "slice" in found.operand("y").views
    assert "slice" not in found.operand("out").views


def test_parts_of_one_block() -> None:
    """The inner loop of a split product walks one block of the grid's last axis; atomics revisit their target."""
    found = model(split_matmul, torch.ones(64, 1024), torch.ones(1024, 256), 4, block_sizes=[32, 128, 64])
    inner = found.axis("b3")
    assert inner.parent == "b2" and inner.whole and {"grid", "unrolled"} <= inner.may
    assert inner.lower == block_number("b2", 256, ValueRange(0, 1023)) * 256
    assert inner.trips.number == 4
    out = found.access("out")
    assert (out.mode, out.update, out.returns, {*out.moves}) == ("atomic", "add", False, {"b0", "b1"})
    assert out.path == ("b0", "b1", "b2") and out.home == "b1"
    assert found.operand("out").read and found.operand("out").written
    assert found.orders[0].parallel == {"b0", "b1", "b2"}


def test_ragged_parts_are_no_axis_of_the_grid() -> None:
    """Where the last visit of each part is shorter, cells would have masks that differ."""
    found = model(split_matmul, torch.ones(64, 1000), torch.ones(1000, 256), 4, block_sizes=[32, 128, 64])
    assert not found.axis("b3").whole and "grid" not in found.axis("b3").may and len(found.orders) == 1


# Rows.


def test_rows_of_whole_dimensions() -> None:
    found = model(softmax, torch.ones(75, 333), block_sizes=[32])
    columns = found.axis("x.1")
    assert (columns.size, columns.form, columns.path) == (333, "unrolled", ("b0",))
    assert columns.may == {"unrolled", "walked"} and columns.whole
    assert found.access("x").tags == found.access("out").tags == ("b0", "x.1")
    assert reduced(found, "reduction") == {(("b0", 32), ("x.1", 333)): 2}


def test_dimensions_that_are_only_computed_with_may_be_dealt_out() -> None:
    def doubled(x, out):
        for i in hl.tile(75):
            out[i, :] = x[i, :] * 2

    found = model(doubled, torch.ones(75, 333), torch.ones(75, 333), block_sizes=[32])
    assert found.axis("x.1").may == {"unrolled", "walked", "grid"}


def test_dimensions_that_an_op_orders_are_no_axes() -> None:
    def sums(x, out):
        for i in hl.tile(75):
            out[i, :] = torch.cumsum(x[i, :], 1)

    found = model(sums, torch.ones(75, 333), torch.ones(75, 333), block_sizes=[32])
    assert [axis.tag for axis in found.axes] == ["b0"] and found.access("x").tags == ("b0", "")
    assert reduced(found, "running_sum") == {(("b0", 32), ("", 333)): 1}


def test_totals_of_running_sums_are_no_reductions() -> None:
    def sums(x, out, totals):
        for i in hl.tile(75):
            values = x[i, :]
            out[i, :] = torch.cumsum(values, 1)
            totals[i] = values.sum(1)

    found = model(sums, torch.ones(75, 333), torch.ones(75, 333), torch.ones(75), block_sizes=[32])
    assert reduced(found, "running_total") == {(("b0", 32), ("", 333)): 1}
    assert not reduced(found, "reduction") and not reduced(found, "crossing")


def test_slices_take_the_work_of_what_they_give_and_whole_registers_are_joined_for_little() -> None:
    def turned(x, out, n: hl.constexpr):
        for i in hl.tile(64):
            lanes = x[i, :]
            out[i, :] = torch.cat([lanes[:, n:], lanes[:, :n]], 1)

    joined = model(turned, torch.ones(64, 256), torch.ones(64, 256), 128, block_sizes=[32])
    mixed = model(turned, torch.ones(64, 256), torch.ones(64, 256), 96, block_sizes=[32])
    half, whole = (("b0", 32), ("", 128)), (("b0", 32), ("", 256))
    assert reduced(joined, "layout") == {half: 2, whole: 1} and not reduced(joined, "relayout")
    assert reduced(mixed, "relayout") == {whole: 1}


def test_two_passes_over_rows() -> None:
    found = model(softmax_two_pass, torch.ones(75, 333), block_sizes=[32, 128])
    assert kinds(found) == {"x": ("load", "block"), "x#1": ("load", "block"), "out": ("store", "block")}
    assert moves(found) == {"x": {"b0", "b1"}, "x#1": {"b0", "b2"}, "out": {"b0", "b2"}}
    assert [axis.path for axis in found.axes] == [(), ("b0",), ("b0",)]
    assert reduced(found, "reduction") == {(("b0", 32), ("b1", 128)): 2}
    assert len(found.orders) == 1, "no axis of the grid is made of one of two loops"


# Attention.


def test_causal_attention() -> None:
    q, k, v = (torch.ones(2, 3, 150, 64) for _ in range(3))
    found = model(causal_attention, q, k, v, block_sizes=[32, 128])
    keys = found.axis("b2")
    rows = block_number("b1", 32, ValueRange(0, 149)) * 32
    assert keys.lower == number(0) and str(keys.upper) == f"min(150, {rows + 32})"
    assert keys.parent is None and keys.compared and "peeled" in keys.may and "unrolled" not in keys.may
    assert moves(found) == {"q": {"b0", "b1"}, "k": {"b0", "b2"}, "v": {"b0", "b2"}, "out": {"b0", "b1"}}
    assert {kind for _, kind in kinds(found).values()} == {"block"}
    inner = ("b0", "b1", "b2")
    assert products(found) == [
        ((("b0", 1), ("b1", 32), ("q.2", 64), ("b2", 128)), inner),
        ((("b0", 1), ("b1", 32), ("b2", 128), ("v.2", 64)), inner),
    ]
    assert found.axis("q.2").may == {"unrolled", "walked"}, "depth of the queries and keys: summed over"


# Loaded numbers.


def test_rows_by_number() -> None:
    found = model(embedding, IDS.view(2, 45), torch.ones(50, 333), block_sizes=[32, 128])
    assert kinds(found)["flat"] == ("load", "block") and found.access("table").relation.kind == "runs"
    assert found.access("table").address == ("flat",) and not found.access("flat").address
    assert moves(found) == {"flat": {"b0"}, "table": {"b0", "b1"}, "out": {"b0", "b1"}}
    numbers = symbol(Name("loaded", "flat"), (0,), ValueRange.of_bits(32))
    assert found.access("table").relation.indices[0] == numbers


def test_addresses_in_a_chain() -> None:
    """``x[b[a[i]]]``: each address is made of the one before, and moves with its axis."""

    def chain(out, x, a, b):
        for i, j in hl.tile([90, 64]):
            out[i, j] = x[b[a[i]], j]

    found = model(chain, torch.ones(90, 64), torch.ones(50, 64), IDS, IDS.clone(), block_sizes=[16, 64])
    assert [found.access(id).address for id in ("a", "b", "x")] == [(), ("a",), ("b",)]
    assert found.access("x").moves == {"b0"} and found.access("b").moves == {"b0"}, "one block of columns stays"


def test_computed_addresses_are_of_what_they_are_computed_from() -> None:
    def product(out, x, a, b):
        for i in hl.tile(90):
            out[i] = x[(a[i] * b[i]) % 50]

    found = model(product, torch.ones(90), torch.ones(50), IDS, IDS.clone(), block_sizes=[16])
    assert found.access("x").address == ("a", "b") and found.access("x").moves == {"b0"}


def test_numbers_that_updates_found_are_addresses() -> None:
    def placed(out, count, bins):
        for i in hl.tile(90):
            place = hl.atomic_add(count, [bins[i]], torch.ones_like(bins[i]))
            hl.store(out, [place], bins[i])

    args = torch.zeros(90, dtype=torch.int32), torch.zeros(50, dtype=torch.int32), IDS
    found = model(placed, *args, block_sizes=[16])
    assert found.access("out").address == ("count",) and found.access("out").moves == {"b0"}


def test_groups_of_rows() -> None:
    """Items of their own extents: the loop's bounds, and where its rows begin, are loaded numbers."""
    offsets = torch.tensor([0, 10, 30, 40, 60, 75])
    found = model(grouped_matmul, torch.ones(75, 200), torch.ones(5, 200, 333), offsets, block_sizes=[16, 128, 128])
    rows = found.axis("b1")
    first, last = (symbol(Name("loaded", id), (), ValueRange.of_bits(64)) for id in ("offsets", "offsets#1"))
    assert (rows.lower, rows.upper) == (first, last) and rows.trips.number is None
    assert kinds(found)["offsets#1"] == ("load", "point") and kinds(found)["x"] == ("load", "block")
    assert found.access("x").address == ("offsets",) and found.access("weights").address == ()
    assert moves(found)["x"] == {"b0", "b1", "b3"} and moves(found)["weights"] == {"b0", "b2", "b3"}


def test_sums_of_items() -> None:
    """``jagged.for`` before it is lowered: the longest item bounds the loop."""
    found = parsed("""
    func.func @f(%x: memref<100x64xf32>, %n: memref<100xi32>, %out: memref<100xf32>) {
      tile.grid (%i: b0=8) in (100) {
        %lengths = tile.load %n[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
        %zero = tile.full 0.0 : !tile.tile<b0=8 x f32>
        %sum = jagged.for %k: b1=16 in %lengths iter(%a = %zero) -> (!tile.tile<b0=8 x f32>) {
          %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
          %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16 x f32>
          %next = tile.add %a, %s : !tile.tile<b0=8 x f32>
          tile.yield %next : !tile.tile<b0=8 x f32>
        }
        tile.store %sum, %out[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>
      }
      func.return
    }""")
    most = ValueRange(0, (1 << 31) - 1)
    assert found.axis("b1").upper == symbol(Name("longest", "b1"), range=most)
    assert "loaded(n)[0]" in str(found.access("x").relation.domain), "lanes that an item does not have"
    assert found.access("x").address == () and found.access("x").moves == {"b0", "b1"}
    (source,) = [source for source in found.sources if source.name == Name("longest", "b1")]
    assert source.loads == ("n",)


# Guards and orders.


def test_guards() -> None:
    def guarded(out, x, flags):
        for i in hl.tile(90, block_size=1):
            for j in hl.tile(64):
                if flags[i.begin] > 3:
                    out[i.begin, j] = x[i.begin, j]

    found = model(guarded, torch.ones(90, 64), torch.ones(90, 64), IDS, block_sizes=[32])
    assert found.access("flags").condition is None
    assert str(found.access("out").condition) == "loaded(flags) + -4 >= 0"
    assert [(str(source.name), source.loads) for source in found.sources] == [("loaded(flags)", ("flags",))]


def test_updates_whose_order_shows() -> None:
    def tickets(count, out, bins):
        for i in hl.tile(90):
            out[i] = hl.atomic_add(count, [bins[i]], torch.ones_like(bins[i]))

    found = model(tickets, torch.zeros(50, dtype=torch.int32), IDS, IDS.clone(), block_sizes=[16])
    assert found.access("count").returns and found.access("count").address == ("bins",)
    assert found.orders[0].parallel == frozenset()


def test_stores_of_other_values_into_the_same_elements() -> None:
    def last(out, x):
        for i, j in hl.tile([90, 64]):
            out[i] = x[i, j].sum(1)

    found = model(last, torch.ones(90), torch.ones(90, 64), block_sizes=[16, 16])
    assert found.orders[0].parallel == {"b0"} and found.access("out").moves == {"b0"}


# Names.


def holds_ir(value: object, seen: set[int]) -> bool:
    """Whether something of xDSL can be reached from a value."""
    if id(value) in seen:
        return False
    seen.add(id(value))
    if type(value).__module__.startswith("xdsl"):
        return True
    if isinstance(value, dict):
        return any(holds_ir(one, seen) for pair in value.items() for one in pair)
    if isinstance(value, tuple | list | frozenset | set):
        return any(holds_ir(one, seen) for one in value)
    return hasattr(value, "__dict__") and holds_ir(vars(value), seen)


def test_models_hold_no_ir() -> None:
    def mixed(out, x, a, b):
        for i in hl.tile(90):
            out[i] = x[(a[i] * b[i]) % 50] + x[b[i.begin]]

    found = model(mixed, torch.ones(90), torch.ones(50), IDS, IDS.clone(), block_sizes=[16])
    assert len({access.id for access in found.accesses}) == len(found.accesses)
    assert not holds_ir(found, set())


def test_ids_survive_merging_and_copies() -> None:
    """Equal loads are one, with the first one's id; others keep theirs, and no two accesses have one."""

    def twice(out, x):
        for i in hl.tile(90):
            out[i] = x[i] * x[i] + x[3]

    found = model(twice, torch.ones(90), torch.ones(90), block_sizes=[16])
    assert [access.id for access in found.accesses] == ["x", "x#2", "out"]


def test_launches_are_named_by_their_function() -> None:
    def two(out, x):
        for i in hl.tile(90):
            x[i] = x[i] + 1
        hl.barrier()
        for i in hl.tile(90):
            out[i] = x[i] * 2

    first, second = launch_models(front(two, torch.ones(90), torch.ones(90), block_sizes=[16, 16]))
    assert (first.name, second.name) == ("two", "two#1")
    assert [access.id for access in second.accesses] == ["x", "out"]


# What is alive.


def counted(found: LaunchModel) -> int:
    """Bytes of what is alive at the widest place, of values too large for registers."""
    sizes = [[register_bytes(list(shape), 32) for shape, _ in live.values] for live in found.live]  # pyright: ignore
    return max((sum(size for size in one if size > 64 * 1024) for one in sizes), default=0)


def grids(module: ModuleOp) -> list[GridOp]:
    """The grids of a module."""
    return [op for op in module.walk() if isinstance(op, GridOp)]


def test_what_is_alive_is_what_a_footprint_counts() -> None:
    q, k, v = (torch.ones(2, 3, 1500, 128) for _ in range(3))
    for module in (
        front(matmul, torch.ones(2048, 2048), torch.ones(2048, 2048), block_sizes=[512, 512, 512]),
        front(softmax, torch.ones(750, 4096), block_sizes=[256]),
        front(causal_attention, q, k, v, block_sizes=[256, 512]),
    ):
        (found,), (grid,) = launch_models(module), grids(module)
        assert counted(found) == temporaries(grid) > 0


def test_rows_that_alternate_are_put_together_in_words() -> None:
    def unpacked(x, out):
        for rows, cols in hl.tile([64, 128]):
            low = x[rows, cols]
            out[rows.begin * 2 + hl.arange(64), cols] = torch.stack([low, low], 1).reshape(64, cols.block_size)

    found = model(unpacked, torch.ones(64, 128).bfloat16(), torch.ones(128, 128).bfloat16(), block_sizes=[32, 128])
    assert not reduced(found, "relayout")


def test_recurrences_and_left_operands_that_are_turned() -> None:
    """Each chunk's rows are weighed by what the chunks before have left; attention begins with keys of its own."""
    half = torch.bfloat16
    arrays = [torch.empty(2, 256, 4, 64, dtype=half) for _ in range(3)]
    states = model(delta_states, *arrays, torch.empty(2, 256, 4, dtype=half), 64)
    (path,) = states.recurrent
    assert states.chained == {path}
    assert {one.load: one.turned for one in states.factors if one.load} == {"weights": False, "keys": True}
    attention = model(causal_attention, *(torch.empty(2, 256, 64, dtype=half) for _ in range(3)))
    assert attention.chained and not attention.recurrent and not any(one.turned for one in attention.factors)


def test_what_is_computed_of_what_is_around_a_loop_stays() -> None:
    """Queries are cast in the loop, by one who asks for a product of other numbers."""

    def scores(q, k, out):
        for rows in hl.tile(q.size(0), block_size=32):
            mine = q[rows, :]
            acc = hl.zeros([rows, 64], dtype=torch.float32)
            for part in hl.tile(k.size(0), block_size=64):
                acc = acc + hl.dot(mine.to(torch.bfloat16), k[part, :].to(torch.bfloat16).transpose(0, 1))
            out[rows, :] = acc

    arrays = torch.empty(128, 64), torch.empty(256, 64), torch.empty(128, 64)
    left, right = model(scores, *arrays).factors
    assert (left.stays, left.load, left.of) == (True, "", ()) and (right.stays, right.of) == (False, ("k",))
