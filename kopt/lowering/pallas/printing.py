"""What the printer of one op may ask for and write, inside one Pallas kernel.

Values are plain arrays of their tile's shape: a tile of rank 1 is a 1-D array, one of rank 0 a scalar; ``index`` values
are 32-bit scalars or Python numbers. A printer that needs several lines gives names to the first expressions itself:

    def print_softplus(printing, op):
        big = printing.give(printing.spell("{0} > 20", op.input), "big", op)
        printing.define(op.result, spell("jnp.where({0}, …)", big))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.tile import PutOp, RangeType, YieldOp, tile_type
from kopt.dtypes import from_ir
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import unshifted
from kopt.ir.value_range import ANY, ValueRange
from kopt.lowering.emitted.pallas import closure, functions
from kopt.lowering.expr import JNP, Expr, literal
from kopt.lowering.line_breaks import LINE
from kopt.lowering.names import Names
from kopt.lowering.printer import Handler, Printer
from kopt.lowering.writer import Writer, source_place
from kopt.open_extents import OpenExtent, spelled

#: Names that emitted modules use for themselves.
RESERVED = ("jax", "jnp", "lax", "pl", "pltpu", "functools")


@dataclass
class Visit:
    """How a range is spelt where it is in scope: the number of its block and the block's first element.

    All are names or numbers; ``count`` is the number of blocks.
    """

    id: Expr
    begin: Expr
    limit: Expr
    count: Expr


class PallasPrinter(Printer):
    """The state of printing one kernel: names in scope, the text so far, helpers asked for, sums of indices.

    ``named_values`` get lines of their own, however they are used; ``extents`` are the names of those that differ from
    call to call.
    """

    def __init__(
        self,
        writer: Writer,
        names: Names,
        handlers: Mapping[type[Operation], Handler],
        helpers: dict[str, str] | None = None,
    ):
        super().__init__(writer, names, handlers)
        self.helpers = {} if helpers is None else helpers
        self.visits: dict[SSAValue, Visit] = {}
        self.numbers = IndexAnalysis()
        self.sums = IndexAnalysis(sums=True)
        self.named_values: set[SSAValue] = set()
        self.extents: dict[OpenExtent, str] = {}

    # Values and their types.

    def __getitem__(self, value: SSAValue) -> Expr:
        """The expression of a value that was printed before."""
        return self._exprs[value] if value in self._exprs else Expr(self.names[value])

    def name(self, value: SSAValue) -> str:
        """A value that was printed before as a name or a literal."""
        return self.named(value).text

    def fits(self, value: SSAValue, expr: Expr) -> bool:
        """Only where the use is from the same source line, which is named once; what is stored may be longer.

        What loops and branches use has a name: it may be written again inside of them, or after.
        """
        use = value.get_user_of_unique_use()
        if use is None or isinstance(use, YieldOp) or value in self.named_values:
            return False
        if use.regions and not _is_guard(use):
            return False
        if source_place(use) != _place_of(value):
            return False
        if isinstance(use, PutOp) and use.parent is value.owner.parent and not value.name_hint:
            return len(expr.text) <= LINE
        return super().fits(value, expr)

    def shape(self, value: SSAValue) -> tuple[int, ...]:
        """The shape of a value's array."""
        return tile_type(value).shape

    def extent(self, number: int) -> str:
        """An extent: a number, or what the arguments of a call tell of it."""
        return spelled(number, self.extents)

    def shape_text(self, shape: Sequence[int]) -> str:
        """A shape as a tuple of extents."""
        return f"({', '.join(map(self.extent, shape))}{',' if len(shape) == 1 else ''})"

    def dtype(self, element_type: Attribute) -> str:
        """The spelling of an element type: ``jnp.float32``."""
        dtype = from_ir(element_type)
        assert dtype is not None, "verify-pallas, verify-host"
        return f"jnp.{dtype.jax}"

    def literal(self, attribute: Attribute) -> Expr:
        """A number: ``1.5``, ``7``, ``True``, ``-jnp.inf``, ``jnp.nan``."""
        return literal(attribute, JNP)

    def range(self, value: SSAValue) -> ValueRange:
        """Between which integers a number lies; any where it follows from a range that a call binds."""
        with suppress(ValueError):
            return self.numbers.range(value)
        return ANY

    # Ranges: what a block's lanes are.

    def begin(self, range: SSAValue) -> Expr:
        """The first element of a range's block."""
        return self.visit(range).begin

    def limit(self, range: SSAValue) -> Expr:
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

    def give(self, expr: Expr, hint: str | None = None, op: Operation | None = None) -> Expr:
        """Writes ``name = expr`` with the op's place as a comment; gives the new name.

        The expression has no effects: where nothing reads the name, there will be no line.
        """
        name = self.names.fresh(hint)
        self.writer.assign(name, expr.text, _place(op))
        return Expr(name)

    def assign(self, value: SSAValue, expr: Expr, hint: str | None = None) -> Expr:
        """Writes ``name = expr`` and lets ``value`` be spelt by that name."""
        self._exprs[value] = self.give(expr, value.name_hint or hint, _owner_op(value))
        return self._exprs[value]

    def unpack(self, values: Sequence[SSAValue], expr: Expr, op: Operation) -> None:
        """Writes ``a, b = expr`` and lets each value be spelt by its name; unused ones are called ``_``."""
        names = [self.names.bind(value) if value.first_use is not None else "_" for value in values]
        self.line(f"{', '.join(names)} = {expr.text}", op)

    def line(self, text: str, op: Operation | None = None) -> None:
        """Writes one line, with the place in the user's source that it comes from."""
        self.writer.line(text, _place(op))

    @contextmanager
    def block(self, header: str, op: Operation | None = None) -> Iterator[None]:
        """Writes a header such as ``def body(k, carry):`` and indents what is written inside."""
        with self.writer.block(header, _place(op)):
            yield

    def helper(self, name: str) -> str:
        """Asks for a function of `kopt.lowering.emitted` and those that it uses; gives its name."""
        self.helpers |= {needed: functions()[needed] for needed in closure(name)}
        return name


def _is_guard(op: Operation) -> bool:
    """Whether an op is a condition of one arm, without results: it is named once, before the arm."""
    arms = [block for region in op.regions for block in region.blocks if len(block.ops) > 1]
    return isinstance(op, scf.IfOp) and not op.results and len(arms) < 2


def _place(op: Operation | None) -> str | None:
    return source_place(op) if op is not None else None


def _place_of(value: SSAValue) -> str | None:
    return _place(_owner_op(value))


def _owner_op(value: SSAValue) -> Operation | None:
    owner = value.owner
    return owner if isinstance(owner, Operation) else owner.parent_op()
