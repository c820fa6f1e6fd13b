"""The state of printing one kernel: names, expressions, and which values get a line of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.dialects.scf import YieldOp as ScfYieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from kopt import dtypes
from kopt.analysis.ragged import ragged_ranges
from kopt.dialects import tile, triton
from kopt.ir.ranges import unshifted
from kopt.lowering.names import Names
from kopt.lowering.triton.expressions import Expr, call, number
from kopt.lowering.triton.helpers import Helpers
from kopt.lowering.writer import Writer, source_comment
from kopt.walk import walk

#: Longer expressions get a name; longer lines are broken at the commas of their call.
_INLINE = 60
_LINE = 110
_RESERVED = ("tl", "triton", "torch")

#: Prints one operation.
Handler = Callable[["TritonPrinter", Any], None]


@dataclass
class RangeNames:
    """How a range is spelt: its first element, its lanes' numbers, its limit, and the name of its mask if it has one.

    ``lower`` is where the walk begins, for block numbers.
    """

    begin: Expr
    lanes: Expr
    limit: Expr
    size: int
    mask: str | None = None
    lower: Expr = Expr("0", literal=0)


class TritonPrinter:
    """Prints the body of a launch; ``handlers`` say how each operation is printed."""

    def __init__(
        self, launch: triton.LaunchOp, writer: Writer, helpers: Helpers, handlers: dict[type[Operation], Handler]
    ):
        self.launch = launch
        self.writer = writer
        self.names = Names((*_RESERVED, *helpers.own))
        self.ranges: dict[SSAValue, RangeNames] = {}
        self._helpers = helpers
        self._handlers = handlers
        self._exprs: dict[SSAValue, Expr] = {}
        self._comment: str | None = None
        self._op: Operation = launch
        self.ragged = {op: ragged_ranges(op) for op in walk(launch, tile.Access)}
        """The ranges whose lanes each access must check."""
        self.checked = Counter(range for op, ragged in self.ragged.items() for range in _checks(op, ragged))
        self.blocks = _block_names(launch, self.names)
        """Names of the block sizes, by tag."""
        for arg, value in zip(launch.body.block.args, launch.inputs, strict=True):
            self._exprs[arg] = Expr(self.names.bind(arg, arg.name_hint or value.name_hint or "arg"))

    @property
    def parameters(self) -> list[str]:
        """The names of the memrefs."""
        return [self._exprs[arg].text for arg in self.launch.body.block.args]

    def print_block(self, block: Block) -> None:
        """Prints the operations of a block."""
        for op in block.ops:
            self._op = op
            self._handlers[type(op)](self, op)

    def line(self, text: str) -> None:
        """One statement, under a comment with the source line that the current operation comes from."""
        self._explain()
        self.writer.lines(broken(text))

    def give(self, name: str, expr: Expr) -> None:
        """Gives a name the value of an expression without effects, in a line that goes where nothing reads the name."""
        self._explain()
        self.writer.assign(name, broken(f"{name} = {expr.text}"))

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """A compound statement; what is written inside is indented."""
        self._explain()
        with self.writer.block(header):
            yield

    def _explain(self) -> None:
        comment = source_comment(self._op)
        if comment is not None and comment != self._comment:
            self.writer.comment(comment)
        self._comment = comment or self._comment

    def forget_comment(self) -> None:
        """The next statement names its source line again."""
        self._comment = None

    def function(self, block: Block, results: Callable[[], Sequence[str]]) -> str:
        """Prints a block of scalars as a function of the module; gives its name. ``results`` spells what it returns."""
        writer, names, comment = self.writer, self.names, self._comment
        self.writer, self.names = Writer(), Names((*_RESERVED, *self._helpers.own))
        parameters = [self.names.bind(arg) for arg in block.args]
        self._exprs |= {arg: Expr(name) for arg, name in zip(block.args, parameters, strict=True)}
        with self.writer.block(f"({', '.join(parameters)}):"):
            self.print_block(block)
            self.line(f"return {', '.join(results())}")
        text = self.writer.text()
        self.writer, self.names, self._comment = writer, names, comment
        return self._helpers.add("_combine", text)

    def own_function(self, op: triton.InlineOp) -> str:
        """The name under which the module defines the function of the author's that an op calls."""
        return self._helpers.callees[op]

    def helper(self, name: str) -> str:
        """The name of a helper function, which the module then defines."""
        return self._helpers.use(name)

    # Values

    def __getitem__(self, value: SSAValue) -> Expr:
        return self._exprs[value]

    def alias(self, value: SSAValue, expr: Expr) -> None:
        """Spells a value by an expression wherever it is used."""
        self._exprs[value] = expr

    def define(self, value: SSAValue, expr: Expr) -> None:
        """Makes a pure expression the meaning of a value: in place of its one use, or as a line with a name."""
        if not value.uses:
            return
        if expr.is_name or _is_placed(expr) or self._fits_its_use(value, expr):
            self._exprs[value] = expr
        else:
            self.assign(value, expr)

    def _fits_its_use(self, value: SSAValue, expr: Expr) -> bool:
        """Whether an expression stands well in place of its only use, in the same block."""
        use = value.get_user_of_unique_use()
        if use is None or use.parent is not value.owner.parent:
            return False
        if isinstance(use, tile.YieldOp | ScfYieldOp | tile.ForOp):
            return len(expr.text) <= _LINE
        if len(expr.text) > _INLINE:
            return False
        named_by_source = value.name_hint and not isinstance(value.owner, tile.MaskOp)
        return not named_by_source or value.name_hint == _hint_of(use)

    def assign(self, value: SSAValue, expr: Expr, hint: str | None = None) -> Expr:
        """A line that gives an expression without effects the value's name."""
        name = self.names.bind(value, hint)
        self.give(name, expr)
        self._exprs[value] = Expr(name, shape=expr.shape)
        return self._exprs[value]

    def named(self, value: SSAValue) -> Expr:
        """The value as a name or a number, for expressions that repeat it."""
        expr = self._exprs[value]
        return expr if expr.is_name or _is_placed(expr) else self.assign(value, expr)

    def typed(self, value: SSAValue) -> Expr:
        """The value as a Triton value: literals, whose type Triton would guess, are made explicitly."""
        expr = self._exprs[value]
        return expr if expr.literal is None else self._full(expr, (), value)

    def whole(self, value: SSAValue, dims: Sequence[int] | None = None) -> Expr:
        """The value with all lanes of ``dims`` (all dimensions where left out) really there."""
        expr, type = self._exprs[value], tile.tile_type(value)
        wanted = [n in (range(type.rank) if dims is None else dims) for n in range(type.rank)]
        have = expr.shape or (1,) * type.rank
        shape = tuple(s if want else h for s, want, h in zip(type.shape, wanted, have, strict=True))
        if expr.literal is not None:
            return self._full(expr, shape, value)
        if expr.shape == shape:
            return expr
        return replace(call("tl.broadcast_to", [expr], self.sizes(shape, type)), shape=shape)

    def _full(self, expr: Expr, shape: tuple[int, ...], value: SSAValue) -> Expr:
        type = tile.tile_type(value)
        sizes, dtype = self.sizes(shape, type), self.dtype(type.element_type)
        if expr.literal == 0 and shape and not str(expr.literal).startswith("-"):
            return Expr(f"tl.zeros({sizes}, {dtype})", shape=shape)
        return Expr(f"tl.full({sizes}, {expr.text}, {dtype})", shape=shape)

    # Types

    def sizes(self, shape: Sequence[int], type: tile.TileType) -> str:
        """A shape as a list, with the names of block sizes."""
        if not shape:
            return "[]"
        pairs = zip(shape, type.tags, strict=True)
        names = [self.blocks.get(tag, str(size)) if size != 1 else "1" for size, tag in pairs]
        return f"[{', '.join(names)}]"

    def dtype(self, type: Attribute) -> str:
        """``tl.float32`` for an element type."""
        found = dtypes.from_ir(type)
        assert found is not None, "verify-triton"
        return f"tl.{found.triton}"

    def literal(self, attr: Attribute) -> Expr:
        """A literal attribute as an expression."""
        type = getattr(attr, "type", None)
        kind = "i1" if type == i1 else "f64" if type is not None and getattr(type, "bitwidth", 0) == 64 else "f32"
        return number(tile.literal_value(attr), kind)


def _is_placed(expr: Expr) -> bool:
    """Whether an expression is a name with new dimensions: ``m[:, None]``."""
    name, bracket, _ = expr.text.partition("[")
    return bool(bracket) and name.isidentifier() and expr.text.endswith("]")


def _hint_of(op: Operation) -> str | None:
    return op.results[0].name_hint if len(op.results) == 1 else None


def _checks(op: tile.Access, ragged: Iterable[SSAValue | None]) -> Iterator[SSAValue]:
    """Each range that an access checks, once more where its lanes are what is accessed."""
    lanes = {unshifted(entry) for entry in op.entries if isinstance(entry, SSAValue) and tile.is_range(entry)}
    for range in {range for range in ragged if range is not None}:
        yield from (range, range) if range in lanes else (range,)


def _blocks(launch: triton.LaunchOp) -> Iterator[tile.RangeType]:
    """The blocks of several lanes that the programs and the loops of a launch walk. Whole ranges keep their number."""
    for op in walk(launch, triton.RangeOp, tile.ForOp):
        type = (op.range if isinstance(op, tile.ForOp) else op.result).type
        assert isinstance(type, tile.RangeType)
        if type.size > 1:
            yield type


def _block_names(launch: triton.LaunchOp, names: Names) -> dict[str, str]:
    """A name for the block size of each loop's tag: ``b0`` is ``BLOCK_0``."""
    tags = [type.tag for type in _blocks(launch)]
    return {tag: names.fresh(f"BLOCK_{tag[1:] if tag[1:].isdigit() else tag.upper()}") for tag in tags}


def block_sizes(launch: triton.LaunchOp) -> dict[str, int]:
    """The lanes of the blocks that have a name, by their tag."""
    return {type.tag: type.size for type in _blocks(launch)}


def broken(text: str) -> list[str]:
    """A statement that is one long call, with an argument a line."""
    if len(text) <= _LINE or not text.endswith(")"):
        return [text]
    head, arguments = _last_call(text)
    if not arguments:
        return [text]
    return [f"{head}(", *(f"    {argument}," for argument in arguments), ")"]


def _last_call(text: str) -> tuple[str, list[str]]:
    """The text before the parenthesis that the last one closes, and the arguments between; none if not a call."""
    opened: list[int] = []
    commas: dict[int, list[int]] = {}
    for position, character in enumerate(text):
        if character in "([":
            opened.append(position)
        elif character in ")]":
            start = opened.pop()
        elif character == "," and opened:
            commas.setdefault(opened[-1], []).append(position)
    head = text[:start]
    if not head or not (head[-1].isalnum() or head[-1] == "_"):
        return text, []
    cuts = [start, *commas.get(start, []), len(text) - 1]
    return head, [text[a + 1 : b].strip() for a, b in zip(cuts, cuts[1:], strict=False)]


__all__ = ["Handler", "TritonPrinter", "RangeNames", "block_sizes", "broken"]
