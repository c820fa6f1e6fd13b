"""IR text in, verified-ready module out: every operation knows its place in the text.

xDSL's parser leaves locations unknown and fails with whatever exception the first broken assumption raises; the
parser here sets a ``FileLineColLoc`` on every operation and turns every failure into ``kopt.ParseError``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, Region, SSAValue
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils import exceptions as xdsl_errors
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from kopt.analysis.extents import beyond_limits
from kopt.context import make_context
from kopt.diagnostics import location_of
from kopt.dialects import ALL_DIALECTS
from kopt.dialects.formats import defined
from kopt.dialects.tile.extent_names import bind_extents
from kopt.errors import ConfigError, Location, ParseError
from kopt.limits import VISITS, beyond
from kopt.registry import did_you_mean
from kopt.verification import verify

__all__ = ["Listener", "parse_module", "pieces", "verify"]

SEPARATOR = "// -----"


def pieces(text: str) -> list[str]:
    """The pieces between separator lines, each led by empty lines so that line numbers are the file's."""
    found: list[list[str]] = [[]]
    for number, line in enumerate(text.split("\n")):
        if line.startswith(SEPARATOR):
            found.append([""] * (number + 1))
        else:
            found[-1].append(line)
    return ["\n".join(lines) + "\n" for lines in found if any(line.strip() for line in lines)]


def line_starts(text: str) -> list[int]:
    """Where each line begins."""
    return [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]


class Listener(Protocol):
    """Who is told of names and scopes while a text is parsed, also where the text ends in an error."""

    def operation(self, op: Operation, name: Span[Any], end: int) -> None:
        """An operation was parsed, whose name stands there; ``end`` is where the next word begins."""

    def definition(self, name: Span[Any], values: Sequence[SSAValue]) -> None:
        """The text defines ``%name`` there; without ``values`` it is a block's label, ``^name``."""

    def enter(self, position: int) -> None:
        """A region begins: what it defines is seen until it ends."""

    def leave(self, position: int) -> None:
        """The innermost region ends."""


def parse_module(
    text: str, filename: str = "<string>", ctx: Context | None = None, listener: Listener | None = None
) -> ModuleOp:
    """The module that ``text`` spells, not yet verified; operations outside any module are wrapped in one.

    Args: ``filename`` is the name that locations and errors carry; ``ctx`` defaults to ``make_context()``;
    ``listener`` is told where names and scopes are.
    Raises ``kopt.ParseError`` with the place, also where an attribute or type refuses its parameters.
    """
    ctx = make_context() if ctx is None else ctx
    places = _Places(text, filename)
    if (limit := beyond(text)) is not None:
        start, end, message = limit
        raise ParseError(message, places.of_span(Span(start, end, Input(text, filename))), source=text)
    parser = None
    try:
        parser = _LocatingParser(ctx, text, places, listener)
        module = parser.parse_module()
    except xdsl_errors.ParseError as error:
        raise _parse_error(error, parser, text, places) from error
    except RecursionError:
        raise ParseError("regions, types or attributes are nested too deeply", places.at(0), source=text) from None
    if isinstance(module.location, UnknownLoc):
        module.location = places.attribute(0)
    for op in module.walk():
        if (problem := beyond_limits(op)) is not None:
            raise ParseError(problem, location_of(op), source=text)
    bind_extents(module)
    for value in _values(module):
        if value.name_hint is not None and _NUMBERS.fullmatch(value.name_hint):
            value.name_hint = None
    return module


#: A hint of which nothing is left: xDSL takes one number from its end whenever it is passed on, and refuses the rest.
_NUMBERS = re.compile(r"(?:_\d+)*")


def _values(module: ModuleOp) -> Iterator[SSAValue]:
    for op in module.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


_CLEARER = {
    "Could not parse entire input!": "expected an operation here",
    "End of file reached before closing string literal.": "this string is not closed on its line",
    "Expected suffix identifier after {first_char}": "expected a name after this character",
}


def _parse_error(
    error: xdsl_errors.ParseError, parser: _LocatingParser | None, text: str, places: _Places
) -> ParseError:
    """The error to show; xDSL finds undefined values at the end only, but we know where they were used first."""
    if parser is not None and error.msg.startswith("values used but not defined"):
        undefined = next(iter(parser.forward_ssa_references))
        return ParseError(f"%{undefined} is not defined", places.of_span(parser.first_uses[undefined]), source=text)
    return ParseError(_message(error), places.of_span(error.span), source=text)


def _message(error: xdsl_errors.ParseError) -> str:
    if isinstance(error, xdsl_errors.MultipleSpansParseError) and error.refs:
        return f"{error.msg} ({error.ref_text} line {error.refs[0][0].get_location().line})"
    return _CLEARER.get(error.msg, error.msg).strip()


class _Places:
    """Positions in a text as 1-based lines and columns."""

    def __init__(self, text: str, filename: str):
        self.filename = filename
        self._name = StringAttr(filename)
        self._starts = line_starts(text)

    def line_col(self, position: int) -> tuple[int, int]:
        line = bisect_right(self._starts, position)
        return line, position - self._starts[line - 1] + 1

    def at(self, position: int) -> Location:
        return Location(self.filename, *self.line_col(position))

    def of_span(self, span: Span[Any]) -> Location:
        line, col = self.line_col(span.start)
        same_line = self.line_col(span.end)[0] == line
        return Location(self.filename, line, col, col + span.len if same_line and span.len else None)

    def attribute(self, position: int) -> FileLineColLoc:
        line, col = self.line_col(position)
        return FileLineColLoc(self._name, IntAttr(line), IntAttr(col))


class _Lexer(MLIRLexer):
    """xDSL's lexer, whose time for a string that is never closed doubles with each of its characters."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class _LocatingParser(Parser):
    """xDSL's parser, setting locations and naming the place of every failure."""

    def __init__(self, ctx: Context, text: str, places: _Places, listener: Listener | None):
        super().__init__(ctx, "", places.filename)
        self._listener = listener
        self._parser_state = ParserState(_Lexer(Input(text, places.filename)))
        self._places = places
        self._names: list[Span] = []
        """The name tokens of the operations being parsed, innermost last."""
        self.first_uses: dict[str, Span] = {}
        """Where each value was first used before, or without, its definition."""

    def parse_operation(self) -> Operation:
        """Parse one operation and set its location, unless the text has a ``loc(…)``."""
        depth = len(self._names)
        try:
            op = super().parse_operation()
        except (xdsl_errors.ParseError, RecursionError):
            raise
        except ConfigError as error:  # of a plug-in
            error.location = error.location or self._places.of_span(self._names[-1])
            raise
        except Exception as error:
            # Whatever an attribute's verifier or an op's custom parser raises on bad text is about that text.
            raise xdsl_errors.ParseError(self._names[-1], self._describe(error)) from error
        if isinstance(op.location, UnknownLoc):
            op.location = self._places.attribute(self._names[depth].start)
        if self._listener is not None:
            self._listener.operation(op, self._names[depth], self._current_token.span.start)
        del self._names[depth:]
        return op

    def parse_optional_region(self, arguments: Iterable[Parser.Argument] | None = None) -> Region | None:
        """A region, if one comes next; its scope is that of its braces."""
        if self._listener is None or self._current_token.kind != MLIRTokenKind.L_BRACE:
            return super().parse_optional_region(arguments)
        self._listener.enter(self._current_token.span.start)
        region = super().parse_optional_region(arguments)
        self._listener.leave(self._current_token.span.start)
        return region

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span[Any]) -> None:
        if self._listener is not None:
            self._listener.definition(span, values)
        super()._register_ssa_definition(name, values, span)

    def _parse_block(self) -> Block:
        if self._listener is not None and self._current_token.kind == MLIRTokenKind.CARET_IDENT:
            self._listener.definition(self._current_token.span, ())
        return super()._parse_block()

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        """The value that an operand names; a first use before the definition is remembered."""
        if operand.operand_name not in self.ssa_values:
            self.first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _parse_dense_literal_type(self) -> Any:
        """The type of a dense attribute. xDSL makes all of its elements, also where one number stands for them."""
        start = self.pos
        type = super()._parse_dense_literal_type()  # pyright: ignore[reportPrivateUsage]
        if (elements := prod(type.get_shape())) > VISITS:
            self.raise_error(f"dense attributes have at most {VISITS} elements, found {elements}", start, self.pos)
        return type

    # Ops with regions read types off operands. xDSL is about to drop operands without a type (it warns), so they are
    # parsed here: the value has to be defined already.

    def parse_operand(self, type: Attribute | None = None, *, msg: str = "Expected an operand.") -> SSAValue:
        """An operand; without a ``type`` its value has to be defined before."""
        return self.expect(lambda: self.parse_optional_operand(type), msg)

    def parse_optional_operand(self, type: Attribute | None = None) -> SSAValue | None:
        """An operand, if one comes next."""
        operand = self.parse_optional_unresolved_operand()
        if operand is None:
            return None
        return self.resolve_operand(operand, type) if type is not None else defined(self, operand)

    def _describe(self, error: Exception) -> str:
        name = self._names[-1].text.strip('"')
        return f"'{name}' does not parse: {error or type(error).__name__}"

    def _parse_op_result_list(self):
        results = super()._parse_op_result_list()
        self._names.append(self._current_token.span)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        op_type = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        return op_type if op_type is not None else self.raise_error(self._unknown_op(name), self._names[-1])

    def _unknown_op(self, name: str) -> str:
        dialect, dot, _ = name.partition(".")
        if dot and dialect not in ALL_DIALECTS:
            return f"unknown dialect '{dialect}' of operation '{name}'{did_you_mean(dialect, ALL_DIALECTS)}"
        known = [op.name for op in self.ctx.loaded_ops]
        return f"unknown operation '{name}'{did_you_mean(name, known)}"
