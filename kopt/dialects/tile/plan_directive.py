"""The custom directive ``plan {…}`` of `tile.grid`: the plan by the names of the grid's arrays and ranges.

The arrays are operands of the grid, true uses, so that renaming and replacing them holds for the plan too. An axis is
written by the name of its range where only one range of the grid has it, and by its tag else; both are read.
Schedules of loops may be said here, ``loop k resident``, and are kept and printed at their loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from kopt.dialects.tile.plan_attr import IRTokens, PlanAttr, ScheduleAttr
from kopt.dialects.tile.types import RangeType
from kopt.plans.checks import problem
from kopt.plans.parsing import PlanParser
from kopt.plans.plan import LoopSchedule, Plan
from kopt.plans.renaming import renamed
from kopt.plans.text import lines
from kopt.registry import did_you_mean
from kopt.walk import walk

if TYPE_CHECKING:
    from kopt.dialects.tile.grid import GridOp


def axes(region: Region) -> dict[str, SSAValue]:
    """The ranges that a grid's region and the loops in it bind, by their tags, in the order of the program."""
    inner = [r for op in walk(region) for r in op.regions]
    args = [arg for r in (region, *inner) for block in r.blocks for arg in block.args]
    return {arg.type.tag: arg for arg in args if isinstance(arg.type, RangeType)}


def axis_names(region: Region) -> dict[str, str]:
    """The name by which text calls each axis, by its tag: its range's, where no other axis could be meant."""
    found = axes(region)
    hints = [range.name_hint for range in found.values()]
    return {tag: _name(tag, range.name_hint, hints, found) for tag, range in found.items()}


def _name(tag: str, hint: str | None, hints: list[str | None], tags: Iterable[str]) -> str:
    usable = hint is not None and hints.count(hint) == 1 and hint not in tags and re.fullmatch(r"[A-Za-z_]\w*", hint)
    return hint if usable and hint is not None else tag


class Draft:
    """A plan as text has it, before the ranges that it names are known."""

    def __init__(self, parser: Parser):
        self.parser = parser
        self.start = parser.pos
        self.operands: list[SSAValue] = []
        tokens = _OperandTokens(parser, self.operands)
        reader = PlanParser(tokens)
        parser.parse_punctuation("{")
        self.plan = reader.plan(lambda: parser.parse_optional_punctuation("}") is not None)
        self.named = reader.axes
        self._check(self.plan)

    def settled(self, region: Region) -> PlanAttr:
        """The plan by the tags of a grid's ranges; schedules go to their loops."""
        tags = {name: tag for tag, name in axis_names(region).items()} | {tag: tag for tag in axes(region)}
        tags |= {walk.axis: walk.axis for walk in self.plan.walks}
        for name, start in self.named:
            if name not in tags:
                known = ", ".join(name if name == tag else f"{name} ({tag})" for name, tag in _pairs(region, self.plan))
                message = f"no range of the grid is named '{name}'{did_you_mean(name, tags)}; there are {known}"
                self.parser.raise_error(message, start, start + len(name))
        plan = renamed(self.plan, tags.__getitem__)
        loops = {loop.range.type.tag: loop for loop in walk(region) if loop.name == "tile.for"}  # pyright: ignore
        kept = {tag: schedule for tag, schedule in plan.loops.items() if not self._given(loops.get(tag), schedule)}
        plan = replace(plan, loops=kept)
        self._check(plan, axes(region))
        return PlanAttr(plan)

    def _given(self, loop: Operation | None, schedule: LoopSchedule) -> bool:
        """Whether there is a loop that has the schedule now."""
        if loop is None:
            return False
        if loop.properties.get("schedule", ScheduleAttr(schedule)) != ScheduleAttr(schedule):
            self._fail("a loop has two schedules: one in the plan, one of its own")
        loop.properties["schedule"] = ScheduleAttr(schedule)
        return True

    def _check(self, plan: Plan, known: Iterable[str] | None = None) -> None:
        names = [value.name_hint or str(number) for number, value in enumerate(self.operands)]
        shown = renamed(plan, operand=lambda number: names[int(number)])
        if (found := problem(shown, None if known is None else [*known])) is not None:
            self._fail(found)

    def _fail(self, message: str) -> NoReturn:
        self.parser.raise_error(message, self.start, self.start + 1)


def _pairs(region: Region, plan: Plan) -> list[tuple[str, str]]:
    found = [(name, tag) for tag, name in axis_names(region).items()]
    return [*found, *((walk.axis, walk.axis) for walk in plan.walks)]


class _OperandTokens(IRTokens):
    """Tokens whose operands are values: each has the number of its first mention."""

    def __init__(self, parser: Parser, operands: list[SSAValue]):
        super().__init__(parser)
        self.operands = operands

    def operand(self, bare: bool = False) -> str | None:
        """The number of an operand."""
        start = self.here()
        value = self.parser.parse_optional_operand()
        if value is None and bare and (name := self.word()) is not None:
            found = self.parser.ssa_values.get(name) or self.fail(f"%{name} is not defined", start, len(name))
            value = found[0]
        if value is None:
            return None
        if not isinstance(value.type, MemRefType):
            self.fail(f"a plan is of arrays, found {value.type}", start)
        if value not in self.operands:
            self.operands.append(value)
        return str(self.operands.index(value))

    def access(self) -> str | None:
        """Accesses name their buffers themselves."""
        self.fail("in a grid, each access names its buffer itself: tile.load … via @x")


def parse_plan(parser: Parser) -> Draft | None:
    """``plan {…}``, or nothing."""
    return Draft(parser) if parser.parse_optional_keyword("plan") else None


def print_plan(printer: Printer, grid: GridOp) -> None:
    """The inverse of `parse_plan`."""
    if grid.plan is None:
        return
    names = axis_names(grid.body)
    first, *others = lines(renamed(grid.plan.data, lambda tag: names.get(tag, tag)))
    printer.print_string(" plan {")
    _print_line(printer, grid, first)
    for line in others:
        printer.print_string("\n    ")
        _print_line(printer, grid, line)
    printer.print_string("}")


def _print_line(printer: Printer, grid: GridOp, line: str) -> None:
    """A line of text, whose numbers of operands become the names of these."""
    for place, part in enumerate(re.split(r"%(\d+)", line)):
        if place % 2:
            printer.print_ssa_value(grid.planned[int(part)])
        else:
            printer.print_string(part)
