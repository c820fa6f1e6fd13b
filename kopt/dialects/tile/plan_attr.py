"""Plans and schedules as attributes, in the grammar of `kopt.plans.parsing`.

An attribute cannot hold SSA values: a grid's plan names its arrays by their numbers among the grid's operands, and axes
by their tags. `kopt.dialects.tile.plan_directive` writes both by the names that the IR around has.
"""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from kopt.plans.checks import of_schedule, problem
from kopt.plans.parsing import PlanParser
from kopt.plans.plan import LoopSchedule, Plan
from kopt.plans.text import plan_text, schedule_text


class IRTokens:
    """The tokens of IR text: `kopt.plans.tokens.Tokens`."""

    def __init__(self, parser: AttrParser):
        assert isinstance(parser, Parser)
        self.parser = parser

    def here(self) -> int:
        """Where the next token begins."""
        return self.parser.pos

    def peek(self) -> str | None:
        """The next token, if it is a bare word. It stays."""
        token = self.parser._current_token
        return token.text if token.kind is MLIRTokenKind.BARE_IDENT else None

    def word(self) -> str | None:
        """A bare word."""
        return self.parser.parse_optional_identifier()

    def number(self) -> int | None:
        """An integer."""
        return self.parser.parse_optional_integer(allow_boolean=False)

    def mark(self, text: str) -> bool:
        """A punctuation mark."""
        return self.parser.parse_optional_punctuation(text) is not None  # pyright: ignore[reportArgumentType]

    def buffer(self) -> str | None:
        """The name of a buffer."""
        name = self.parser.parse_optional_symbol_name()
        return None if name is None else name.data

    def operand(self, bare: bool = False) -> str | None:
        """The name of an operand."""
        found = self.parser.parse_optional_unresolved_operand()
        return self.word() if found is None and bare else None if found is None else found.operand_name

    def access(self) -> str | None:
        """The id of an access."""
        found = self.parser.parse_optional_unresolved_operand()
        if found is None:
            return None
        return f"{found.operand_name}#{found.index}" if found.index else found.operand_name

    def fail(self, message: str, start: int | None = None, length: int = 1) -> NoReturn:
        """Raises a parse error with its place."""
        if start is None:
            self.parser.raise_error(message)
        self.parser.raise_error(message, start, start + length)


@irdl_attr_definition
class PlanAttr(Data[Plan]):
    """The plan of a launch (`kopt.plans.plan.Plan`): its operands are numbers, its axes tags.

    A grid prints it with the names of its arrays and ranges, as ``plan {…}``. By itself it is

        #tile.plan<order [b0, b1, b2] parallel [b0, b1] @x = %0 window(b0, b2) x2 @o = %1 window(b0, b1) x2>
    """

    name = "tile.plan"

    def __hash__(self) -> int:
        return hash((self.data.order, self.data.buffers))

    def verify(self) -> None:
        if (found := problem(self.data)) is not None:
            raise VerifyException(found)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Plan:
        with parser.in_angle_brackets():
            tokens = IRTokens(parser)
            return PlanParser(tokens).plan(lambda: parser._current_token.kind is MLIRTokenKind.GREATER)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(plan_text(self.data).replace("\n", " "))


@irdl_attr_definition
class ScheduleAttr(Data[LoopSchedule]):
    """How a loop runs: ``#tile.schedule<resident peel(full | diagonal) unroll 2>``; at a loop, ``schedule resident …``.

    ``docs/plans.md`` has the kinds and words.
    """

    name = "tile.schedule"

    def __init__(self, schedule: LoopSchedule | str):
        super().__init__(LoopSchedule(schedule) if isinstance(schedule, str) else schedule)

    @property
    def kind(self) -> str:
        """How the loop runs, in one word."""
        return self.data.kind

    def verify(self) -> None:
        if (found := next(of_schedule(self.data), None)) is not None:
            raise VerifyException(found)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LoopSchedule:
        with parser.in_angle_brackets():
            return PlanParser(IRTokens(parser)).schedule()

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(schedule_text(self.data))


def parse_schedule(parser: Parser) -> ScheduleAttr | None:
    """``schedule resident unroll 2``, or nothing."""
    if not parser.parse_optional_keyword("schedule"):
        return None
    start = parser.pos
    schedule = PlanParser(IRTokens(parser)).schedule()
    if (found := next(of_schedule(schedule), None)) is not None:
        parser.raise_error(found, start, start + len(schedule.kind))
    return ScheduleAttr(schedule)


def print_schedule(printer: Printer, schedule: ScheduleAttr | None) -> None:
    """The inverse of `parse_schedule`."""
    if schedule is not None:
        printer.print_string(f" schedule {schedule_text(schedule.data)}")
