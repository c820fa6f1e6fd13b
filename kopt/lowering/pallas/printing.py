"""What the printer of one op may ask for and write, inside one Pallas kernel.

A printer of values is a function ``(op, printing) -> str``: it gives the Python expression of the op's result, a
tuple where it has several; the caller assigns it. Values are plain arrays of their tile's shape: a tile of rank 1 is
a 1-D array, one of rank 0 a scalar; ``index`` values are 32-bit scalars or Python numbers. A printer that needs
several lines assigns the first ones itself:

    def print_softplus(op, printing):
        big = printing.assign(f"{printing.name(op.inputs[0])} > 20", hint="big", op=op)
        return f"jnp.where({big}, …)"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.tile import RangeType, literal_value, tile_type
from kopt.dtypes import from_ir
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import unshifted
from kopt.ir.value_range import ANY, ValueRange
from kopt.lowering.host.numbers import number
from kopt.lowering.names import Names
from kopt.lowering.writer import Writer, source_place

#: What the printer of one op's value is.
ValuePrinter = Callable[[Operation, "Printing"], str]

#: Names that emitted modules use for themselves.
RESERVED = ("jax", "jnp", "lax", "pl", "pltpu", "functools")


@dataclass
class Visit:
    """How a range is spelt where it is in scope: the number of its block and the block's first element.

    ``begin`` and ``limit`` are expressions or numbers; ``count`` is the number of blocks, as text.
    """

    id: str
    begin: str
    limit: str
    count: str


@dataclass
class Printing:
    """The state of printing one kernel: names in scope, the text so far, helpers asked for, sums of indices."""

    writer: Writer
    names: Names
    visits: dict[SSAValue, Visit] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    numbers: IndexAnalysis = field(default_factory=IndexAnalysis)
    sums: IndexAnalysis = field(default_factory=lambda: IndexAnalysis(sums=True))

    # Values and their types.

    def name(self, value: SSAValue) -> str:
        """The expression of a value that was printed before: an identifier or a literal."""
        return self.names[value]

    def shape(self, value: SSAValue) -> tuple[int, ...]:
        """The shape of a value's array."""
        return tile_type(value).shape

    def dtype(self, element_type: Attribute) -> str:
        """The spelling of an element type: ``jnp.float32``."""
        dtype = from_ir(element_type)
        assert dtype is not None, "verify-pallas, verify-host"
        return f"jnp.{dtype.jax}"

    def literal(self, attribute: Attribute) -> str:
        """The spelling of a number: ``1.5``, ``7``, ``True``, ``-jnp.inf``, ``jnp.nan``."""
        value = literal_value(attribute)
        if from_ir(getattr(attribute, "type", attribute)) is from_ir(i1):
            return str(bool(value))
        return number(value)

    def range(self, value: SSAValue) -> ValueRange:
        """Between which integers a number lies; any where it follows from a range that a call binds."""
        with suppress(ValueError):
            return self.numbers.range(value)
        return ANY

    # Ranges: what a block's lanes are.

    def begin(self, range: SSAValue) -> str:
        """The first element of a range's block, as an expression of one operand (a name, a number, parentheses)."""
        return self.visit(range).begin

    def limit(self, range: SSAValue) -> str:
        """The element from which lanes of a range are not valid, counted like `begin` of the unshifted range."""
        return self.visit(unshifted(range)).limit

    def visit(self, range: SSAValue) -> Visit:
        """How a range in scope is spelt; a shifted range is entered where its `tile.shift` stands."""
        return self.visits[range]

    def lanes(self, range: SSAValue) -> int:
        """The number of lanes of a range's block."""
        assert isinstance(range.type, RangeType)
        return range.type.size

    # Writing.

    def assign(self, expression: str, hint: str | None = None, op: Operation | None = None) -> str:
        """Writes ``name = expression`` with the op's place as a comment; gives the new name.

        The expression has no effects: where nothing reads the name, there will be no line.
        """
        name = self.names.fresh(hint)
        self.writer.assign(name, [self._placed(f"{name} = {expression}", op)])
        return name

    def bind(self, value: SSAValue, expression: str, op: Operation | None = None) -> str:
        """Writes ``name = expression`` and lets ``value`` be spelt by that name."""
        name = self.assign(expression, value.name_hint, op)
        self.names.alias(value, name)
        return name

    def unpack(self, values: Sequence[SSAValue], expression: str, op: Operation | None = None) -> None:
        """Writes ``a, b = expression`` and lets each value be spelt by its name; unused ones are called ``_``."""
        names = [self.names.bind(value) if value.first_use is not None else "_" for value in values]
        self.line(f"{', '.join(names)} = {expression}", op)

    def alias(self, value: SSAValue, expression: str) -> None:
        """Lets ``value`` be spelt by an expression of one operand, without a line of its own."""
        self.names.alias(value, expression)

    def line(self, text: str, op: Operation | None = None) -> None:
        """Writes one line, with the place in the user's source that it comes from."""
        self.writer.line(self._placed(text, op))

    @contextmanager
    def block(self, header: str, op: Operation | None = None) -> Iterator[None]:
        """Writes a header such as ``def body(k, carry):`` and indents what is written inside."""
        with self.writer.block(self._placed(header, op)):
            yield

    def _placed(self, text: str, op: Operation | None) -> str:
        """A line with the place in the user's source that an op comes from, where it has one."""
        place = source_place(op) if op is not None else None
        return f"{text}  # {place}" if place else text

    def helper(self, name: str, source: str) -> str:
        """Asks for a function of the emitted module, written once above the kernels; gives its name.

        ``source`` is its whole text; one name always stands for one text.
        """
        assert self.helpers.setdefault(name, source) == source, f"two helpers are called {name}"
        return name
