"""The state of printing one kernel: names, expressions, and which values get a line of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import Float8E4M3FNType, MemRefType, f32, i1
from xdsl.dialects.scf import YieldOp as ScfYieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from kopt import dtypes
from kopt.analysis.ragged import ragged_ranges
from kopt.analysis.tensor_descriptors import descriptors, is_described, pointers
from kopt.dialects import tile, triton
from kopt.dialects.tile.extents import argument_extents
from kopt.ir.ranges import unshifted
from kopt.lowering.expr import Expr, number, spell
from kopt.lowering.line_breaks import LINE
from kopt.lowering.names import Names
from kopt.lowering.printer import Handler, Printer
from kopt.lowering.triton.helpers import BLOCK, Helpers
from kopt.lowering.writer import Writer, source_comment
from kopt.open_extents import OpenExtent, open_extents, plain_name
from kopt.walk import walk

_PROGRAM = "tl.program_id(0)"
_RESERVED = ("tl", "triton", "torch")


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
    lower: Expr = number(0)


class TritonPrinter(Printer):
    """Prints the body of a launch; ``handlers`` say how each operation is printed."""

    def __init__(
        self, launch: triton.LaunchOp, writer: Writer, helpers: Helpers, handlers: Mapping[type[Operation], Handler]
    ):
        super().__init__(writer, Names((*_RESERVED, *helpers.own)), handlers)
        self.launch = launch
        self.ranges: dict[SSAValue, RangeNames] = {}
        self._helpers = helpers
        self._comment: str | None = None
        self.cell = _PROGRAM
        """What says which cell of the grid is computed."""
        self._op: Operation = launch
        self.ragged = {op: ragged_ranges(op) for op in walk(launch, tile.Access) if not is_described(op)}
        """The ranges whose lanes each access must check."""
        self.descriptors = dict.fromkeys(descriptors(launch), "")
        """The names of tensor descriptors."""
        self.checked = Counter(range for op, ragged in self.ragged.items() for range in _checks(op, ragged))
        self.blocks = {tag: name for name, tag, _ in block_sizes(launch)}
        """Names of the block sizes, by tag."""
        for name in self.blocks.values():
            self.names.reserve(name)
        for arg, value in zip(launch.body.block.args, launch.inputs, strict=True):
            self._exprs[arg] = Expr(self.names.bind(arg, arg.name_hint or value.name_hint or "arg"))
        self.extents = {extent: Expr(self.names.fresh(plain_name(extent))) for extent in launched_extents(launch)}
        """The names of extents that differ from call to call."""
        for one in self.descriptors:
            self.descriptors[one] = self.names.fresh(f"{self._exprs[one.memory].text}_desc")

    @property
    def cell_is_tensor(self) -> bool:
        """Whether the cell's number has a tensor's methods, in Triton's interpreter too: no loop counts it."""
        return self.cell == _PROGRAM

    @property
    def parameters(self) -> list[str]:
        """The pointers, then the descriptors, the extents and the block sizes."""
        args = self.launch.body.block.args
        names = [self._exprs[args[number]].text for number in pointers(self.launch)]
        sizes = [f"{name}: tl.constexpr" for name in self.blocks.values()]
        return [*names, *self.descriptors.values(), *(extent.text for extent in self.extents.values()), *sizes]

    def extent(self, extent: int) -> Expr:
        """The parameter that an extent is."""
        return self.extents[extent] if isinstance(extent, OpenExtent) else number(extent)

    def print(self, op: Operation) -> None:
        """Prints one operation."""
        self._op = op
        super().print(op)

    def line(self, text: str) -> None:
        """One statement, under a comment with the source line that the current operation comes from."""
        self._explain()
        self.writer.line(text)

    def give(self, name: str, expr: Expr, annotation: str | None = None) -> None:
        """Gives a name the value of an expression without effects, in a line that goes where nothing reads the name."""
        self._explain()
        self.writer.assign(name, expr.text, annotation=annotation)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """A compound statement; what is written inside is indented."""
        self._explain()
        with self.writer.block(header):
            yield

    @contextmanager
    def cells(self, visits: str) -> Iterator[None]:
        """A loop over the cells of a program, whose number is that of each."""
        self.cell = self.names.fresh("cell")
        with self.block(f"for {self.cell} in {visits}:"):
            yield

    def _explain(self) -> None:
        comment = source_comment(self._op)
        if comment is not None and comment != self._comment:
            self.writer.comment(comment)
        self._comment = comment or self._comment

    @contextmanager
    def explained_by(self, op: Operation | None) -> Iterator[None]:
        """While it lasts, statements are under the source line of another op, where one is given."""
        outer, self._op = self._op, op or self._op
        yield
        self._op = outer

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

    def assign(self, value: SSAValue, expr: Expr, hint: str | None = None) -> Expr:
        """A line that gives an expression without effects the value's name."""
        name = self.names.bind(value, hint)
        self.give(name, expr)
        self._exprs[value] = Expr(name, shape=expr.shape)
        return self._exprs[value]

    def fits(self, value: SSAValue, expr: Expr) -> bool:
        """Also what a loop or branch carries on, however long: that is an assignment of its own."""
        use = value.get_user_of_unique_use()
        if isinstance(use, tile.YieldOp | ScfYieldOp | tile.ForOp) and use.parent is value.owner.parent:
            return len(expr.text) <= LINE
        return super().fits(value, expr)

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
        return self.broadcast(expr, shape, type)

    def broadcast(self, expr: Expr, shape: tuple[int, ...], type: tile.TileType) -> Expr:
        """An expression with a lane for each of a shape; ``type`` names its sizes."""
        if expr.shape == shape:
            return expr
        return spell(f"tl.broadcast_to({{0}}, {self.sizes(shape, type)})", expr, shape=shape)

    def _full(self, expr: Expr, shape: tuple[int, ...], value: SSAValue) -> Expr:
        type = tile.tile_type(value)
        sizes, dtype = self.sizes(shape, type), self.dtype(type.element_type)
        if expr.literal == 0 and shape and not str(expr.literal).startswith("-"):
            return Expr(f"tl.zeros({sizes}, {dtype})", shape=shape)
        return Expr(f"tl.full({sizes}, {expr.text}, {dtype})", shape=shape)

    # Types

    def sizes(self, shape: Sequence[int], type: tile.TileType) -> str:
        """A shape as a list, with the names of block sizes."""
        return f"[{', '.join(self.size_names(shape, type))}]"

    def size_names(self, shape: Sequence[int], type: tile.TileType) -> list[str]:
        """The sizes of a shape, by the names of blocks where they have one."""
        if not shape:
            return []
        pairs = zip(shape, type.tags, strict=True)
        return [self.blocks.get(tag, str(size)) if size != 1 else "1" for size, tag in pairs]

    def dtype(self, type: Attribute) -> str:
        """``tl.float32`` for an element type."""
        if self.is_bytes(type):
            return "tl.uint8"
        found = dtypes.from_ir(type)
        assert found is not None, "verify-triton"
        return f"tl.{found.triton}"

    def is_bytes(self, type: Attribute) -> bool:
        """Whether bytes stand for an element type that the chip lacks."""
        return isinstance(type, Float8E4M3FNType) and self.launch.e4m3_bytes

    def literal(self, attr: Attribute) -> Expr:
        """A literal attribute as an expression."""
        type = getattr(attr, "type", None)
        is_kept = type == i1 or getattr(type, "bitwidth", 0) == 64
        return number(tile.literal_value(attr), type if is_kept else f32)


def launched_extents(launch: triton.LaunchOp) -> list[OpenExtent]:
    """The extents that differ from call to call of the arrays that a kernel takes, each once."""
    return list(argument_extents(launch.inputs))


def limits_only(launch: triton.LaunchOp) -> list[OpenExtent]:
    """The extents that no stride is of: the kernel is the same for all of their values, and Triton is told so.

    Strides Triton may look at: vectors of loads go by what divides them.
    """
    shapes = [value.type.get_shape() for value in launch.inputs if isinstance(value.type, MemRefType)]
    strides = {extent for shape in shapes for extent in open_extents(shape[1:])}
    return [extent for extent in launched_extents(launch) if extent not in strides]


def _checks(op: tile.Access, ragged: Iterable[SSAValue | None]) -> Iterator[SSAValue]:
    """Each range that an access checks, once more where its lanes are what is accessed."""
    lanes = {unshifted(entry) for entry in op.entries if isinstance(entry, SSAValue) and tile.is_range(entry)}
    for range in {range for range in ragged if range is not None}:
        yield from (range, range) if range in lanes else (range,)


def _blocks(launch: triton.LaunchOp) -> Iterator[tile.RangeType]:
    """The blocks of several lanes that the programs and the loops of a launch walk. Whole ranges keep their number."""
    for op in walk(launch, triton.RangeOp, tile.ForOp):
        type = tile.range_type(op.range if isinstance(op, tile.ForOp) else op.result)
        if type.size > 1:
            yield type


def block_sizes(launch: triton.LaunchOp) -> list[tuple[str, str, int]]:
    """The parameters that are block sizes: a name, the tag of the loop, and the lanes. ``b0`` is ``BLOCK_0``."""
    names, sizes = Names(_RESERVED), {type.tag: type.size for type in _blocks(launch)}
    hints = {tag: f"{BLOCK}{tag[1:] if tag[1:].isdigit() else tag.upper()}" for tag in sizes}
    return [(names.fresh(hints[tag]), tag, size) for tag, size in sizes.items()]
