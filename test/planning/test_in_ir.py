"""Plans in the IR: written down, printed, parsed and read back; and passes that meet them."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

import kopt
from kopt.analysis.gpu_plans import usual_kind
from kopt.analysis.plans import plan_of, set_plan
from kopt.config import make_config
from kopt.context import make_context
from kopt.dialects.tile import GridOp
from kopt.dialects.tile.access_ids import access_ids, operand_names
from kopt.dialects.tile.memory import Access
from kopt.errors import ConfigError, KoptError, VerifyError
from kopt.parsing import parse_module, verify
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.chips import GPU_CHIPS
from kopt.targets.target import parse_target

from .random_plans import KERNEL, plans_of_kernel


def grid_of(module: ModuleOp) -> GridOp:
    """The grid of a module."""
    return next(op for op in module.walk() if isinstance(op, GridOp))


def planned(plan: Plan) -> ModuleOp:
    """The kernel with a plan."""
    module = parse_module(KERNEL)
    grid = grid_of(module)
    set_plan(grid, plan)
    return module


def printed(module: ModuleOp, generic: bool = False) -> str:
    """A module as text."""
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(module)
    return out.getvalue()


@settings(max_examples=60, deadline=None)
@given(plans_of_kernel())
def test_a_plan_survives_both_syntaxes(plan: Plan) -> None:
    module = planned(plan)
    verify(module)
    for generic in (False, True):
        again = parse_module(printed(module, generic))
        verify(again)
        grid = grid_of(again)
        assert plan_of(grid) == plan
        assert printed(again, generic) == printed(module, generic)


@settings(max_examples=30, deadline=None)
@given(plans_of_kernel(), plans_of_kernel())
def test_a_plan_takes_the_place_of_another(first: Plan, second: Plan) -> None:
    module = planned(first)
    grid = grid_of(module)
    set_plan(grid, second)
    assert printed(module) == printed(planned(second))


def test_without_a_plan_there_is_none() -> None:
    grid = grid_of(parse_module(KERNEL))
    assert plan_of(grid) is None


def test_a_plan_follows_its_arrays_and_clones() -> None:
    """The arrays are operands: whoever replaces them replaces them in the plan."""
    plan = Plan(("b0", "b1"), frozenset(), (Buffer("x", "x", "window", ("b0",)),), {"x": "x", "x#1": "x"})
    module = planned(plan)
    block = grid_of(module).parent_block()
    assert block is not None
    x, y = block.args[:2]
    copy = module.clone()
    x.replace_all_uses_with(y)
    verify(module)
    assert "@x = %y window(i)" in printed(module) and "@x = %x window(i)" in printed(copy)


GOOD = Plan(
    ("b0", "b1"),
    frozenset(("b0",)),
    (Buffer("x", "x", "window", ("b0", "b2"), 2), Buffer("o", "o", "window", ("b0", "b1"), 2, options=())),
    {"x": "x", "x#1": "x", "o": "o"},
    {"b2": LoopSchedule("resident", 2)},
)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (replace(GOOD, order=("b0",)), "the order \\[b0\\] lacks the grid's axis 'b1'"),
        (replace(GOOD, order=("b0", "b1", "b9")), "the order names no axis of the grid: 'b9'"),
        (replace(GOOD, loops={"b9": LoopSchedule("grid")}), "a loop names no axis of the grid: 'b9'"),
        (replace(GOOD, buffers=(*GOOD.buffers, Buffer("y", "y", "window"))), "@y serves no access of %y"),
        (replace(GOOD, via={**GOOD.via, "y": "x"}), "@x is a buffer of %x, and tile.load is of %y"),
        (replace(GOOD, via={**GOOD.via, "y": "z"}), "'via @z' names no buffer of the plan; there are @x, @o"),
    ],
)
def test_structure_is_verified(plan: Plan, message: str) -> None:
    verify(planned(GOOD))
    with pytest.raises(VerifyError, match=message) as caught:
        verify(planned(plan))
    assert caught.value.location is not None


FOLDER = Path(__file__).resolve().parents[1] / "pallas"
FILES = [*sorted((FOLDER / "ir").glob("*.mlir")), *sorted((FOLDER / "loops").glob("*.mlir"))]


def with_buffers(module: ModuleOp, kind: str) -> ModuleOp:
    """A copy whose grids have a plan: each array a buffer of a kind, and one of atomics where that is of pointers."""
    copy = module.clone()
    for grid in [op for op in copy.walk() if isinstance(op, GridOp)]:
        names = operand_names(grid)
        order = tuple(range.type.tag for range in grid.ranges)  # pyright: ignore[reportAttributeAccessIssue]
        found = {id: (names[op.memory], op) for op, id in access_ids(grid).items() if isinstance(op, Access)}
        kinds = {id: usual_kind(op, GPU_CHIPS["sm90"]) if kind == "pointer" else kind for id, (_, op) in found.items()}
        via = {id: f"{name}_{kinds[id]}" for id, (name, _) in found.items()}
        buffers = {via[id]: Buffer(via[id], name, kinds[id]) for id, (name, _) in found.items()}
        set_plan(grid, Plan(order, frozenset(), tuple(buffers.values()), via))
    return copy


def emitted(module: ModuleOp, target: str) -> str:
    """The code of a module whose loops are not split, or why there is none."""
    try:
        return kopt.lower_module(module, target=target, config={"split_k": 1}).source
    except KoptError as error:
        return str(error)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_usual_plan_changes_no_triton_code(path: Path) -> None:
    """No pass takes what a plan says of an array for something that is done to it."""
    module = parse_module(path.read_text(), str(path))
    kopt.run_pipeline(module, "builtin.module(distribute-loops,collapse-contiguous)")  # plans are of cells as they are
    other = with_buffers(module, "pointer")
    verify(other)
    assert emitted(other, "triton:sm90") == emitted(module, "triton:sm90")


@pytest.mark.parametrize(("target", "kind"), [("pallas:tpu7x", "window"), ("triton:sm90", "pointer")])
def test_conversion_takes_the_plan_off(target: str, kind: str) -> None:
    """Every pass before it leaves the plan well formed, or forgets it."""
    module = with_buffers(parse_module(FILES[0].read_text()), kind)
    assert "plan {" in str(module)
    # The plan says nothing of axes, which verify-plan would refuse.
    passes = [pass_ for pass_ in pipeline(parse_target(target), make_config(None)) if pass_.name != "verify-plan"]
    run(module, make_context(), passes, verify_each=True)
    assert "plan {" not in str(module) and "via" not in str(module)


def test_items_with_a_plan_are_not_dealt_out() -> None:
    with pytest.raises(ConfigError, match="it has a plan, whose order is of the cells as they are"):
        kopt.run_pipeline(planned(GOOD), "balance-items{programs=4}")
