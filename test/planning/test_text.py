"""Plans read back from their text as the same data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from kopt.context import make_context
from kopt.dialects.tile import PlanAttr, ScheduleAttr
from kopt.plans.checks import problem
from kopt.plans.parsing import parse_plan
from kopt.plans.plan import LoopSchedule, Plan
from kopt.plans.renaming import renamed
from kopt.plans.text import plan_text
from kopt.plans.tokens import PlanTextError

from .random_plans import plans, schedules


@settings(deadline=None)
@given(plans())
def test_plans_round_trip(plan: Plan) -> None:
    assert problem(plan) is None
    assert parse_plan(plan_text(plan)) == plan


@settings(deadline=None)
@given(plans())
def test_attributes_round_trip(plan: Plan) -> None:
    attribute = PlanAttr(plan)
    assert Parser(make_context(), str(attribute)).parse_attribute() == attribute
    assert hash(attribute) == hash(PlanAttr(parse_plan(plan_text(plan))))


@settings(deadline=None)
@given(st.sampled_from(["tpu", "gpu"]).flatmap(schedules))
def test_schedules_round_trip(schedule: LoopSchedule) -> None:
    attribute = ScheduleAttr(schedule)
    assert Parser(make_context(), str(attribute)).parse_attribute() == attribute


@settings(deadline=None)
@given(plans())
def test_other_names_and_back(plan: Plan) -> None:
    there = renamed(plan, lambda axis: f"{axis}_", lambda operand: f"{operand}_")
    assert there != plan or not plan.order
    assert renamed(there, lambda axis: axis[:-1], lambda operand: operand[:-1]) == plan


WORDS = ["order", "[", "]", "i", ",", "@x", "=", "%x", "%x#1", "window", "(", ")", "x2", "x0", "walk", "loop", "grid",
         "via", "assume", "in", "to", "3", "-3", "parallel", "peel", "|", "unroll", "vec", "dim", "of", ":", "?",
         "é"]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=20), plans(), st.integers(0, 40))
def test_any_text_is_a_plan_or_refused(words: list[str], plan: Plan, cut: int) -> None:
    for text in (" ".join(words), " ".join([*plan_text(plan).split()[:cut], *words])):
        try:
            found = parse_plan(text)
        except PlanTextError as error:
            assert 0 <= error.start <= len(text)
        else:
            assert parse_plan(plan_text(found)) == found


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("order [i] @x = %x windw", "unknown kind of buffer: 'windw'; did you mean 'window'", "windw"),
        ("order [i] @x = %x#1 window", "expected an operand, found the access %x#1", "%x#1"),
        ("order [i] @x = window", "expected an operand, as %x", "window"),
        ("order [i] via [%x @x]", "expected '='", "@x"),
        ("order [i] loop i grid loop i grid", "the loop 'i' has two schedules", "i grid"),
        ("order [i] warps 8 warps 4", "'warps' stands twice", "4"),
        ("order [i] 7", "expected a buffer", "7"),
        ("warps 8", "a plan has the order of its axes", "warps"),
    ],
)
def test_refusals_have_places(text: str, message: str, at: str) -> None:
    with pytest.raises(PlanTextError, match=message) as caught:
        parse_plan(text)
    assert text[caught.value.start :].startswith(at) or at == "4"
