"""Loops of a launch: what they walk, the schedules that they may have, the buffers that follow, what a user pinned."""

from __future__ import annotations

import pytest

from kopt.analysis.buffer_kinds import accesses, buffer_kinds, is_aligned, may_have
from kopt.analysis.launch_buffers import is_moving, moves_with, moving_axes, usual_depth, usual_kind
from kopt.analysis.launch_loops import LaunchLoops
from kopt.analysis.launch_plans import launch_plans
from kopt.analysis.loop_schedules import Decisions, candidates, decide, why_not_pipelined
from kopt.analysis.pinned import GridPins, pins_of_grids
from kopt.analysis.pinned_loops import pinned_loops
from kopt.analysis.pipelining import NotPipelined, is_pipelined, pipelined, plan_pipelined
from kopt.analysis.planned_buffers import is_prefetched, planned_buffers
from kopt.analysis.plans import GridNames
from kopt.errors import ConfigError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.plans.pins import Pin, Pins
from kopt.plans.plan import Buffer, LoopSchedule
from kopt.targets.chips import TPU_CHIPS
from test.analysis.one_launch import OneLaunch, one_launch

V5E = TPU_CHIPS["v5e"]
ROWS = 512


def sums(columns: int = 4096, block: int = 128, schedule: str = "", bounds: str = "", rest: str = "") -> OneLaunch:
    """Sums of rows, a block of lanes at a time."""
    body = f"""%c = arith.constant {columns} : index
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %sum = tile.for %k: b1={block} in ({bounds or f"0, {columns}"}) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {schedule} {{
        %v = tile.load %x[%i, %k] : memref<{ROWS}x{columns}xf32> -> !tile.tile<b0=8 x b1={block} x f32>
        %r = tile.reduce add %v [1] : !tile.tile<b0=8 x b1={block} x f32>
        %n = tile.add %a, %r : !tile.tile<b0=8 x f32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }}
      tile.store %sum, %out[%i] : !tile.tile<b0=8 x f32>, memref<{ROWS}xf32>"""  # noqa: E501
    return one_launch(body, f"(%i: b0=8) in ({ROWS}) {rest}", "out", x=f"{ROWS}x{columns}xf32", out=f"{ROWS}xf32")


def loops(found: OneLaunch) -> LaunchLoops:
    return LaunchLoops(found.launch, found.grid)


def kinds(found: OneLaunch, wanted="auto", **pinned) -> list[str]:
    (loop,) = found.loops
    return [*decide(loops(found), V5E, wanted, {loop: pinned["loop"]} if pinned else {}).kinds.values()]


# Loops.


def test_what_a_loop_walks() -> None:
    found = sums()
    known = loops(found)
    assert known.all == found.loops and known.walking == {*found.loops}
    assert known.hoistable is found.loops[0]
    assert [window.memory.name_hint for window in known.streamable] == ["x", "out"]


def test_a_loop_that_loads_nothing_walks_nothing() -> None:
    found = one_launch("tile.for %k: b1=8 in (0, 64) {\n}", x="64x8xf32")
    assert loops(found).walking == frozenset() and [*candidates(loops(found), V5E)][1:] == []


@pytest.mark.parametrize(
    ("wanted", "kind"), [("auto", "grid"), ("grid", "grid"), ("resident", "resident"), ("fori", "prefetch")]
)
def test_a_loop_gets_the_schedule_that_is_asked_for(wanted: str, kind: str) -> None:
    assert kinds(sums(), wanted) == [kind]


def test_a_pipeline_is_had_where_it_can() -> None:
    assert kinds(sums(), "pipeline") == ["emit_pipeline"]
    assert kinds(sums(128), "pipeline") != ["emit_pipeline"]  # one visit


@pytest.mark.parametrize(
    ("columns", "wanted", "kind"),
    [
        (1 << 20, "auto", "grid"),
        (1 << 20, "fori", "prefetch"),
        (1 << 20, "resident", "resident"),
        (256, "auto", "grid"),
        (256, "fori", "prefetch"),
        (256, "pipeline", "emit_pipeline"),
    ],
)
def test_loops_that_write_blocks_larger_than_the_memory(columns: int, wanted: str, kind: str) -> None:
    """Of what is asked for nothing else is made, whether it fits or not."""
    type = f"memref<{ROWS}x{columns}xf32>"
    body = f"""tile.for %k: b1={max(128, columns // 4)} in (0, {columns}) {{
        %v = tile.load %x[%i, %k] : {type} -> !tile.tile<b0=8 x b1={max(128, columns // 4)} x f32>
        tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b1={max(128, columns // 4)} x f32>, {type}
      }}"""
    assert kinds(one_launch(body, f"(%i: b0=8) in ({ROWS})", "out", x=type[7:-1], out=type[7:-1]), wanted) == [kind]


@pytest.mark.parametrize("kind", ["resident", "prefetch", "grid", "emit_pipeline"])
def test_what_is_pinned_stays(kind: str) -> None:
    for wanted in ("auto", "grid", "fori"):
        assert kinds(sums(), wanted, loop=kind) == [kind]


def test_candidates_differ_and_the_usual_ones_are_first() -> None:
    found = sums()
    several = [[*each.kinds.values()] for each in candidates(loops(found), V5E)]
    assert several[0] == kinds(found) and len({*map(tuple, several)}) == len(several)
    assert {kind for each in several for kind in each} == {"grid", "resident", "prefetch", "emit_pipeline"}
    assert [[*each.kinds.values()] for each in candidates(loops(found), V5E, "fori")] == [["prefetch"]]


def test_why_a_loop_is_no_pipeline() -> None:
    for columns, reason in ((4096, None), (128, "it has one visit only")):
        found = sums(columns, schedule="schedule emit_pipeline")
        assert why_not_pipelined(found.launch, found.grid, found.loops[0]) == reason


# Pipelines.


@pytest.mark.parametrize("columns", [4096, 4000, 129])
def test_blocks_of_a_pipelined_loop_are_streamed(columns: int) -> None:
    found = sums(columns, schedule="schedule emit_pipeline")
    (loop,) = found.loops
    streamed = pipelined(found.place("x").window)
    assert is_pipelined(loop) and streamed is not None and [walk.loop for walk in streamed.walks] == [loop]
    assert [dim.size for dim in streamed.walks[0].dims] == [8, 128]
    assert streamed.array.padded[-1] == -(-columns // 128) * 128  # DMAs move whole blocks


def test_a_block_that_never_moves_is_not_streamed() -> None:
    with pytest.raises(NotPipelined, match="do not move with the loop"):
        plan_pipelined(sums(128, schedule="schedule emit_pipeline").place("x").window)


def test_without_a_pipeline_there_is_nothing_to_stream() -> None:
    found = sums()
    assert pipelined(found.place("x").window) is None
    with pytest.raises(NotPipelined, match="outside of pipelined loops"):
        plan_pipelined(found.place("x").window)
    assert pipelined(found.place("x").window, lambda loop: "emit_pipeline") is not None


#: What a pipelined loop over `%n` or 512 elements does with blocks of `%x`, and why that is no stream.
REFUSED = {
    "loads": ("%v = tile.load %x[%i, %k] : ARRAY -> TILE", "0, %n", None),
    "loads of some lanes": ("%v = tile.load %x[%i, %k] mask %some : ARRAY -> TILE", "0, 512", None),
    "loads of some lanes, of an unknown number": (
        "%v = tile.load %x[%i, %k] mask %some : ARRAY -> TILE", "0, %n", "that may lie beyond it"
    ),
    "loads under a condition": ("scf.if %go { %v = tile.load %x[%i, %k] : ARRAY -> TILE }", "0, 512", None),
    "loads under a condition, of an unknown number": (
        "scf.if %go { %v = tile.load %x[%i, %k] : ARRAY -> TILE }", "0, %n", "that may lie beyond it"
    ),
    "loads before the array": (
        "%r = tile.shift %k by %less : !tile.range<b1=128>\n%v = tile.load %x[%i, %r] : ARRAY -> TILE", "0, 512",
        "that may begin before it",
    ),
    "stores": ("tile.store %o, %x[%i, %k] : TILE, ARRAY", "0, 512", None),
    "stores of some lanes": ("tile.store %o, %x[%i, %k] mask %some : TILE, ARRAY", "0, 512", "under a condition or"),
    "stores under a condition": (
        "scf.if %go { tile.store %o, %x[%i, %k] : TILE, ARRAY }", "0, 512", "under a condition or"
    ),
    "reads what it wrote": (
        "tile.store %o, %x[%i, %k] : TILE, ARRAY\n%v = tile.load %x[%i, %k] : ARRAY -> TILE", "0, 512",
        "is read after it is written",
    ),
    "writes what it read": (
        "%v = tile.load %x[%i, %k] : ARRAY -> TILE\ntile.store %v, %x[%i, %k] : TILE, ARRAY", "0, 512", None
    ),
    "writes beside what it reads": (
        """%c128 = arith.constant 128 : index
        %r = tile.shift %k by %c128 : !tile.range<b1=128>
        %v = tile.load %x[%i, %r] : ARRAY -> TILE\ntile.store %v, %x[%i, %k] : TILE, ARRAY""", "0, 384",
        "while another of its blocks",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_stream(name: str) -> None:
    """DMAs move whole blocks that there are, and none of a block that another one is a part of."""
    loop, bounds, reason = REFUSED[name]
    body = f"""%e = tile.load %ends[0] : memref<2xi32> -> !tile.tile<i32>
      %n = tile.extract %e : !tile.tile<i32> to index
      %c0 = arith.constant 0 : index
      %less = arith.constant -128 : index
      %go = arith.cmpi sgt, %n, %c0 : index
      tile.for %k: b1=128 in ({bounds}) schedule emit_pipeline {{
        %some = tile.full true : !tile.tile<b0=8 x b1=128 x i1>
        %o = tile.full 1.0 : TILE
        {loop}
      }}"""
    body = body.replace("TILE", "!tile.tile<b0=8 x b1=128 x f32>").replace("ARRAY", "memref<64x512xf32>")
    window = one_launch(body, writes="x" if "store" in loop else "", ends="2xi32", x="64x512xf32").place("x").window
    if reason is None:
        assert plan_pipelined(window).array.shape == (64, 512)
    else:
        with pytest.raises(NotPipelined, match=reason):
            plan_pipelined(window)


# Buffers.


@pytest.mark.parametrize(
    ("schedule", "usual"),
    [("", "resident"), ("schedule resident", "resident"), ("schedule grid", "window"),
     ("schedule prefetch", "prefetch"), ("schedule emit_pipeline", "emit_pipeline")],
)  # fmt: skip
def test_the_usual_kind_follows_the_schedule(schedule: str, usual: str) -> None:
    place = sums(schedule=schedule).place("x")
    assert place.usual == usual and buffer_kinds(place)[0] == usual
    assert all(may_have(place, kind) for kind in buffer_kinds(place))
    assert may_have(place, usual) and not may_have(place, "scratch") and not may_have(place, "of no name")


def test_a_pipeline_leaves_no_other() -> None:
    place = sums(schedule="schedule emit_pipeline").place("x")
    assert buffer_kinds(place) == ("emit_pipeline",) and not may_have(place, "window")


@pytest.mark.parametrize(
    ("schedule", "kind", "axes"),
    [
        ("", "resident", ("b0",)),
        ("schedule grid", "window", ("b0", "b1")),
        ("schedule prefetch", "prefetch", ("b1",)),
        ("schedule emit_pipeline", "emit_pipeline", ("b1",)),
    ],
)
def test_the_axes_that_blocks_move_with(schedule: str, kind: str, axes: tuple[str, ...]) -> None:
    place = sums(schedule=schedule).place("x")
    order = ("b0", "b1") if "grid" in schedule else ("b0",)
    assert moving_axes(place, kind, order) == axes
    assert moves_with(place, kind, order, axes)
    assert moves_with(place, kind, order, (*axes, "b7")) is False
    assert not moves_with(place, kind, order, ())
    assert is_moving(kind) and usual_depth(kind, axes) == 2


@pytest.mark.parametrize(("kind", "axes", "depth"), [("window", (), 1), ("prefetch", (), 2), ("smem", ("i",), 1)])
def test_what_does_not_move_is_there_once(kind: str, axes: tuple[str, ...], depth: int) -> None:
    assert usual_depth(kind, axes) == depth


def test_a_grid_that_is_the_other_way_round_has_its_axes_so() -> None:
    place = sums(schedule="schedule grid").place("x")
    assert moving_axes(place, "window", ("b1", "b0")) == ("b1", "b0")
    assert usual_kind(place) == "window" and usual_kind(place, "fori") in buffer_kinds(place) + ("dma",)


@pytest.mark.parametrize(("block", "wanted"), [(128, True), (256, True), (64, False), (100, False)])
def test_parts_of_a_resident_block_begin_at_tiles(block: int, wanted: bool) -> None:
    assert is_aligned(sums(block=block).place("x"), IndexAnalysis()) is wanted
    assert is_aligned(sums(block=block, schedule="schedule grid").place("x"), IndexAnalysis())


def test_what_nothing_says_has_its_usual_buffer() -> None:
    found = sums(schedule="schedule prefetch")
    places = [found.place(name) for name in ("x", "out")]
    given = planned_buffers(places)
    assert [given[found.values[name]].kind for name in ("x", "out")] == ["prefetch", "window"]
    assert [len(accesses(place.window)) for place in places] == [1, 1]


@pytest.mark.parametrize(
    ("buffer", "wanted"),
    [
        (Buffer("x", "x", "smem", options=(("whole", ()),)), True),
        (Buffer("x", "x", "smem"), False),
        (Buffer("x", "x", "window", options=(("whole", ()),)), False),
    ],
)
def test_numbers_that_are_there_first(buffer: Buffer, wanted: bool) -> None:
    assert is_prefetched(buffer) is wanted


# Pins.


def pinned(found: OneLaunch, **pins) -> GridPins:
    (one,) = pins_of_grids([found.grid], Pins(**pins), "tpu")
    return one


def test_nothing_pinned_is_nothing() -> None:
    assert not pinned(sums()) and pins_of_grids([], Pins(order=("i",)), "tpu") == []
    assert pinned_loops(sums().grid, GridPins()) == {}


def test_a_name_is_that_of_the_grids_that_have_it() -> None:
    mine, other = sums(), one_launch("", "(%m: b5=8) in (64)", x="64x8xf32")
    loop = LoopSchedule("prefetch")
    found = pins_of_grids([mine.grid, other.grid], Pins(loops={"k": loop}, order=("m",)), "tpu")
    assert [each.order for each in found] == [(), ("b5",)]
    assert [{*each.loops.values()} for each in found] == [{loop}, set()]
    assert [each.order for each in pins_of_grids([other.grid], Pins(order=("b5",)), "tpu")] == [("b5",)]


@pytest.mark.parametrize("name", ["k", "b1"])
def test_a_loop_goes_by_its_variable_or_its_tag(name: str) -> None:
    found = sums()
    one = pinned(found, loops={name: LoopSchedule("prefetch")})
    assert one.loops == {found.loops[0]: LoopSchedule("prefetch")} and bool(one)
    assert pinned_loops(found.grid, one) == {found.loops[0]: "prefetch"}


@pytest.mark.parametrize(
    "pins",
    [
        {"accesses": {"nothing": Pin("window")}},
        {"loops": {"j": LoopSchedule("grid")}},
        {"order": ("i", "nothing")},
        {"loops": {"i": LoopSchedule("grid")}},
        {"accesses": {"x_given": Pin("pointer")}},
        {"loops": {"k": LoopSchedule("walk")}},
    ],
)
def test_names_that_there_are_not_are_refused(pins: dict) -> None:
    with pytest.raises(ConfigError):
        pinned(sums(), **pins)


@pytest.mark.parametrize(
    ("pin", "schedule"),
    [
        (Pin("emit_pipeline"), "emit_pipeline"),
        (Pin("prefetch"), "prefetch"),
        (Pin("writeback"), "prefetch"),
        (Pin("resident"), "resident"),
        (Pin("window"), "grid"),
        (Pin("window", ("b0",)), "resident"),
        (Pin("window", ("b0", "b1")), "grid"),
        (Pin("dma"), None),
    ],
)
def test_a_buffer_asks_for_the_schedule_that_it_needs(pin: Pin, schedule: str | None) -> None:
    found = sums()
    expected = {} if schedule is None else {found.loops[0]: schedule}
    assert pinned_loops(found.grid, GridPins({found["v"]: pin})) == expected
    said = GridPins({found["v"]: pin}, {found.loops[0]: LoopSchedule("walk")})
    assert pinned_loops(found.grid, said) == {found.loops[0]: "walk"}  # its own goes first


# Plans.


def plans(found: OneLaunch, wanted="auto", pins: GridPins | None = None):
    known = GridNames.of(found.grid)
    return [plan for plan, _ in launch_plans(found.launch, found.grid, known, V5E, wanted, pins or GridPins())]


def test_a_plan_for_each_set_of_schedules() -> None:
    found = sums()
    made = plans(found)
    assert [plan.loops["b1"].kind for plan in made] == [
        *(each.kinds[found.loops[0]] for each in candidates(loops(found), V5E))
    ]
    assert made[0].order == ("b0", "b1") and made[0].parallel == {"b0"}
    assert all({*plan.via.values()} <= {buffer.name for buffer in plan.buffers} for plan in made)


def test_what_is_pinned_makes_one_plan() -> None:
    found = sums()
    (plan,) = plans(found, pins=GridPins({found["v"]: Pin("prefetch", None, 3)}))
    assert plan.loops["b1"].kind == "prefetch"
    assert [(buffer.kind, buffer.depth) for buffer in plan.buffers if buffer.kind == "prefetch"] == [("prefetch", 3)]


def test_cells_in_order_are_not_parallel() -> None:
    assert plans(sums(rest="ordered [0]"), "resident")[0].parallel == frozenset()


def test_decisions_are_asked_like_schedules() -> None:
    found = sums()
    (loop,) = found.loops
    made = Decisions(IndexAnalysis(), {loop: "grid"})
    assert made(loop) == "grid" and made.hoisted == (loop.range,)
    assert Decisions(IndexAnalysis())(loop) is None
