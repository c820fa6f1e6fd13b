"""What keeps plans from being right: of GPUs, of TPUs, of their memory, of accesses at computed places."""

from __future__ import annotations

import pytest

from kopt.analysis.plan_problems.gpu import gpu_problems
from kopt.analysis.plan_problems.problem import (
    axes_text,
    of_options,
    of_order,
    of_words,
    says_more,
    schedule_of,
    text_of,
)
from kopt.analysis.plan_problems.tpu import of_dimension, tpu_problems
from kopt.analysis.plan_problems.tpu_memory import of_memory
from kopt.analysis.plan_problems.tpu_values import _of_updates, value_problems
from kopt.diagnostics import Problem
from kopt.errors import LoweringError
from kopt.plans.plan import Buffer, LoopSchedule, Plan, Walk
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS
from test.analysis.one_launch import OneLaunch, one_launch

V5E = TPU_CHIPS["v5e"]
WHOLE = "order [i] parallel [i]"


def copied(
    plan: str = "", lanes: int = 512, schedule: str = "", via: str = "", rest: str = "", rows: int = 64
) -> OneLaunch:
    """Rows are copied, a block of lanes at a time."""
    type = f"memref<{rows}x{lanes}xf32>"
    at = [f" via @{name}" for name in via.split()] or ["", ""]
    body = f"""tile.for %k: b1=128 in (0, {lanes}) {schedule} {{
        %v = tile.load %x[%i, %k]{at[0]} : {type} -> !tile.tile<b0=8 x b1=128 x f32>
        tile.store %v, %out[%i, %k]{at[1]} : !tile.tile<b0=8 x b1=128 x f32>, {type}
      }}"""
    plan = f" plan {{{plan}}}" if plan else ""
    return one_launch(body, f"(%i: b0=8) in ({rows}) {rest}{plan}", "out", x=type[7:-1], out=type[7:-1])


def messages(found) -> list[str]:
    return [problem.message for problem in found]


def of_tpu(found: OneLaunch) -> list[str]:
    return messages(tpu_problems(found.launch, found.grid, V5E))


# In common.


def test_a_problem_is_an_error_where_it_is() -> None:
    error = Problem(copied().loops[0], "no", ("do this",)).error
    assert isinstance(error, LoweringError) and "no" in str(error) and "do this" in str(error)


def test_of_a_loop_nothing_is_said() -> None:
    found = copied()
    assert schedule_of(found.loops[0]) == LoopSchedule("resident")
    assert messages(of_words(found.loops[0])) == []
    (message,) = messages(of_words(copied(schedule="schedule resident unroll 2").loops[0]))
    assert "'unroll 2'" in message


def test_axes_go_by_their_names() -> None:
    assert axes_text(copied().grid, ["b0", "b1", "b7"]) == "(i, k, b7)" and axes_text(copied().grid, []) == "()"


@pytest.mark.parametrize(
    ("rest", "order", "hoisted", "wanted"),
    [
        ("", ("b0", "b2"), False, 0),
        ("", ("b2", "b0"), False, 0),
        ("", ("b0", "b9"), False, 1),
        ("", ("b0", "b1"), False, 1),  # a loop is no dimension
        ("", ("b0", "b2", "b1"), True, 0),
        ("", ("b0", "b1", "b2"), True, 1),  # it sums over visits
        ("reduce [1]", ("b0", "b2"), False, 0),
        ("reduce [1]", ("b2", "b0"), False, 1),
        ("", (), False, 0),
    ],
)
def test_the_order_of_the_grid(rest: str, order: tuple[str, ...], hoisted: bool, wanted: int) -> None:
    found = one_launch("tile.for %k: b1=8 in (0, 64) {\n}", f"(%i: b0=8, %j: b2=8) in (64, 64) {rest}", x="64xf32")
    plan = Plan(order, frozenset(), (), {})
    assert len([*of_order(found.grid, plan, found.loops if hoisted else [])]) == wanted


def test_an_order_that_would_do_is_told() -> None:
    """Every dimension once, sums last."""
    found = one_launch("tile.for %k: b1=8 in (0, 64) {\n}", "(%i: b0=8, %j: b2=8) in (64, 64)", x="64xf32")
    (problem,) = of_order(found.grid, Plan(("b0", "b1", "b2"), frozenset(), (), {}), found.loops)
    assert problem.notes == ("as in order [i, j, k]",)


def test_a_dimension_of_one_cell_may_stand_anywhere() -> None:
    found = one_launch("tile.for %k: b1=8 in (0, 64) {\n}", "(%i: b0=8, %j: b2=8) in (64, 8)", x="64xf32")
    assert [*of_order(found.grid, Plan(("b0", "b1", "b2"), frozenset(), (), {}), found.loops)] == []


def test_what_no_lowering_does_yet() -> None:
    grid = copied().grid
    plan = Plan(("b0",), frozenset(), (), {}, options=(("warps", 4), ("stages", 2)))
    assert len(messages(of_options(grid, plan, ("warps",), "call"))) == 1
    walked = Plan(("b0",), frozenset(), (), {}, walks=(Walk("x", 1, "b7", 128, "in_order"),), views={"x": ("pad",)})
    assert len(messages(of_options(grid, walked, (), "call"))) == 2


def test_words_behind_a_buffer() -> None:
    assert not says_more(Buffer("x", "x", "window", ("i",), 2))
    assert says_more(Buffer("x", "x", "window", source="y")) and says_more(
        Buffer("x", "x", "dma", options=(("a", ()),))
    )
    found = copied(f"{WHOLE} @b = %x resident(i) x2 @c = %out resident(i) x2", via="b c")
    assert text_of(found.grid, found.grid.plan.data.buffers[0]) == "@b = %x resident(i) x2"  # pyright: ignore


# GPUs.


@pytest.mark.parametrize(
    ("plan", "wanted"),
    [
        ("@a = %x pointer @b = %out pointer", []),
        ("@a = %x pointer @b = %out pointer warps 4 stages 2", []),
        ("@a = %x pointer @b = %out pointer warps 3", ["a program has 1, 2, 4, 8, 16, 32 warps, not 3"]),
        ("@a = %x pointer @b = %out atomic", ["'out' cannot stand in a buffer of kind 'atomic' here: pointer"]),
        ("@a = %x pointer(i) @b = %out pointer", []),
    ],
)
def test_of_a_gpu(plan: str, wanted: list[str]) -> None:
    assert messages(gpu_problems(copied(f"{WHOLE} {plan}", via="a b").grid, GPU_CHIPS["sm90"])) == wanted


@pytest.mark.parametrize(
    ("options", "chip", "wanted"),
    [
        ("programs 4 share blocked warps 32 registers 255", "sm90", ""),
        ("share blocked", "sm90", "'share' says which cells programs have, and there is no 'programs'"),
        ("registers 256", "sm90", "a thread has at most 255 registers, not 256"),
        ("registers 255", "gfx942", "'registers' is for NVIDIA's chips: gfx942's compiler takes no such limit"),
        ("warps 64", "gfx942", "a program has 1, 2, 4, 8, 16, 32 warps, not 64"),
    ],
)
def test_options_of_a_gpu(options: str, chip: str, wanted: str) -> None:
    found = copied(f"{WHOLE} {options} @a = %x pointer @b = %out pointer", via="a b")
    assert messages(gpu_problems(found.grid, GPU_CHIPS[chip])) == [wanted] * bool(wanted)


@pytest.mark.parametrize(("schedule", "count"), [("", 0), ("schedule resident", 0), ("schedule prefetch", 1)])
def test_loops_of_a_gpu_run_in_no_other_way(schedule: str, count: int) -> None:
    assert len(messages(gpu_problems(copied(schedule=schedule).grid, GPU_CHIPS["sm90"]))) == count


# TPUs.


def test_without_a_plan_all_is_well() -> None:
    assert of_tpu(copied()) == [] and of_tpu(copied(schedule="schedule prefetch")) == []


def test_a_loop_that_cannot_be_a_dimension() -> None:
    found = copied(schedule="schedule grid")
    assert messages(of_dimension(found.grid, found.loops[0])) == []
    inner = one_launch("tile.for %k: b1=8 in (0, 64) {\ntile.for %l: b2=8 in (0, 64) {\n}\n}", x="64xf32")
    assert len(messages(of_dimension(inner.grid, inner.loops[1]))) == 1


@pytest.mark.parametrize(
    ("plan", "schedule", "wanted"),
    [
        ("@a = %x resident(i) x2 @b = %out resident(i) x2", "", []),
        ("@a = %x window(i, k) x2 @b = %out window(i, k) x2", "schedule grid", []),
        ("@a = %x window(i) x2 @b = %out resident(i) x2", "", []),
        ("@a = %x resident(i) x3 @b = %out resident(i) x2", "",
         ["'x' has x2 as 'resident' here: no Pallas code is made of x3 yet"]),
        ("@a = %x resident x2 @b = %out resident(i) x2", "",
         ["the blocks of 'x' move with (i) as 'resident' here, not with none"]),
        ("@a = %x smem @b = %out resident(i) x2", "", ["'x' cannot stand in a buffer of kind 'smem' here: "]),
        ("@a = %x prefetch(k) x2 @b = %out resident(i) x2", "", ["'x' cannot stand in a buffer of kind 'prefetch' here: "]),  # noqa: E501
    ],
)  # fmt: skip
def test_of_the_buffers_of_a_tpu(plan: str, schedule: str, wanted: list[str]) -> None:
    order = "order [i, k] parallel [i]" if "grid" in schedule else WHOLE
    found = of_tpu(copied(f"{order} {plan}", via="a b", schedule=schedule))
    assert len(found) == len(wanted) and all(one.startswith(start) for one, start in zip(found, wanted, strict=True))


# Memory.


def scalars(words: int) -> OneLaunch:
    """Three arrays of which a cell takes a number each."""
    number = f"memref<{words}xi32> -> !tile.tile<i32>"
    loads = [f"%{name}n = tile.load %{name}[%at] via @{name} : {number}" for name in "xyz"]
    body = "\n".join(["%at = tile.id %i : !tile.range<b0=1>", *loads])
    plan = " ".join(f"@{name} = %{name} smem" for name in "xyz")
    type = f"{words}xi32"
    return one_launch(body, f"(%i: b0=1) in (64) plan {{{WHOLE} {plan}}}", x=type, y=type, z=type)


@pytest.mark.parametrize(("words", "count"), [(64, 0), (80_000, 0), (90_000, 1)])
def test_scalars_fit_their_memory(words: int, count: int) -> None:
    found = scalars(words)
    problems = [*of_memory(found.launch, found.grid, V5E)]
    assert len(problems) == count
    for problem in problems:
        assert "take 1.0 MiB of SMEM" in problem.message and problem.op is found["xn"]
        assert all(f"'{name}' takes 360,000 bytes" in problem.notes[0] for name in "xyz")


# Computed places.


def gathered(plan: str, via: str, rest: str = "") -> list[str]:
    body = f"""%n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %v = tile.load %x[%n, :]{via} : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      {rest}"""
    found = one_launch(
        body, f"(%i: b0=8) in (64) plan {{{WHOLE} {plan}}}", "out", x="64x128xf32", ids="64xi32", out="8xf32"
    )
    return messages(value_problems(found.launch, found.grid, V5E))


@pytest.mark.parametrize("kind", ["one_hot", "rows"])
def test_a_kind_that_a_gather_may_have(kind: str) -> None:
    assert gathered(f"@a = %x {kind}", " via @a") == []


@pytest.mark.parametrize(
    ("plan", "via", "wanted"),
    [
        ("", "", "'x' has no buffer here"),
        ("@a = %x smem", " via @a", "'x' cannot stand in a buffer of kind 'smem' here: "),
        ("@a = %x rows x2", " via @a", "no Pallas code is made of '@a = %x rows x2' yet"),
    ],
)
def test_a_kind_that_it_may_not_have(plan: str, via: str, wanted: str) -> None:
    (message,) = gathered(plan, via)
    assert message.startswith(wanted)


@pytest.mark.parametrize(
    "rest", ["", "%w = tile.load %out[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>"]
)
def test_blocks_of_an_array_in_hbm_are_updated_by_dmas_or_none_is(rest: str) -> None:
    """The problem is at the access that is none."""
    block, array = "!tile.tile<b0=8 x 128 x f32>", "memref<64x128xf32>"
    body = f"""%v = tile.load %x[%i, :] : {array} -> {block}
      %o = atomic.rmw add %v, %out[%i, :] : {block}, {array} -> {block}
      {rest}"""
    found = one_launch(body, "(%i: b0=8) in (64)", "out", x="64x128xf32", out="64x128xf32")
    problems = [*_of_updates(found.grid, {found["o"]: "row_dma"})]
    assert [problem.op for problem in problems] == ([found["w"]] if rest else [])
    assert messages(problems) == (["'out' is in HBM: all updates of its blocks are"] if rest else [])
