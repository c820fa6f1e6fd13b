"""Scopes: every value is used where it is visible, every tag where its range is bound.

A value is visible after its definition, in the block that defines it and the regions inside. A tag (the ``b0`` of
``!tile.tile<b0=128 x f32>``) is bound by the loop argument or the op that gives its range, is in scope where that range
is, and names one binding only in its function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, ErasedSSAValue, Operation, Region, SSAValue
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.traits import IsolatedFromAbove

from kopt.diagnostics import location_of
from kopt.dialects.tile.types import RangeType, RefType, TileType, range_type
from kopt.errors import VerifyError

#: What runs on the device.
KERNELS = ("tile.grid", "pallas.call", "triton.launch")


def check_scope(module: ModuleOp, source: str | None = None) -> None:
    """Raise `VerifyError` for the first value or tag that is used where it is not in scope.

    The error is located at the use, and a note says where the definition is. Args: ``source`` the text that locations
    point into, where it is not a file on disk.
    """
    _Walk(module, source).region(module.body)


class _Walk:
    """One pass over the module, in the order of execution. ``visible`` and ``tags`` are what is in scope now."""

    def __init__(self, module: ModuleOp, source: str | None):
        self.module = module
        self.source = source
        self.visible: set[SSAValue] = set()
        self.tags: set[str] = set()
        self.bound: dict[str, SSAValue] = {}
        """Each tag's range, in the function that is walked."""
        self.kernel: Operation | None = None
        """The launch that is walked."""

    def region(self, region: Region) -> None:
        """Walk a region; what it defines is out of scope after it."""
        blocks = region.blocks
        if len(blocks) == 1:
            self.block(blocks[0])
            return
        # Blocks of one region see each other's values. That there are several is refused where ops are verified.
        everything = {value for block in blocks for value in _defined_in(block)}
        for block in blocks:
            self.visible |= everything - _defined_in(block)
            self.block(block)

    def block(self, block: Block) -> None:
        """Walk a block in its order."""
        tags = set(self.tags)
        defined: list[SSAValue] = list(block.args)
        self.define(block.args)
        visible = self.visible
        for op in block.ops:
            for number, operand in enumerate(op._operands):  # the tuple itself: this loop is the cost of the check
                if operand not in visible:
                    self.refuse_value(op, number, operand)
            if self.kernel is not None and op.name.startswith("host."):
                message = f"'{op.name}' is for the host, and stands in the kernel of '{self.kernel.name}'"
                raise VerifyError(message, location_of(op), source=self.source)
            for region in op.regions:
                if region.blocks:
                    self.inner(op, region)
            for result in op.results:
                visible.add(result)
                if isinstance(result.type, TileType | RangeType | RefType):
                    self.define_type(result)
            defined += op.results
        visible.difference_update(defined)
        self.tags = tags

    def inner(self, op: Operation, region: Region) -> None:
        """Walk a region of an operation; an isolated one sees no value from around it, a function no tag either."""
        outer = self.kernel, self.visible, self.bound, self.tags
        if op.name in KERNELS:
            self.kernel = op
        if _is_isolated(type(op)):
            self.visible = set()
        if isinstance(op, FuncOp):
            self.bound, self.tags = {}, set()
        self.region(region)
        kernel, self.visible, bound, tags = outer
        self.kernel = kernel
        if isinstance(op, FuncOp):
            self.bound, self.tags = bound, tags

    def define(self, args: Sequence[SSAValue]) -> None:
        """Bring a block's arguments into scope, ranges first: the others' types may name them."""
        self.visible.update(args)
        for arg in args:
            if isinstance(arg.type, RangeType):
                self.bind(arg, arg.type.tag)
        for arg in args:
            if not isinstance(arg.type, RangeType):
                self.define_type(arg)

    def define_type(self, value: SSAValue) -> None:
        """Bind the tag of a range that an op gives, or check the tags that a type uses."""
        type = value.type
        if isinstance(type, RangeType):
            self.define_range(value, type.tag)
            return
        for tag, size in zip(type.tags, type.shape, strict=True) if isinstance(type, TileType | RefType) else ():
            if tag:
                self.check_tag(value, tag, size)

    def check_tag(self, value: SSAValue, tag: str, size: int) -> None:
        """Raise where a tag is not in scope, or is of another number of lanes; one lane stands for all."""
        if tag not in self.tags:
            self.refuse_tag(value, tag)
        range = self.bound[tag]
        lanes = range_type(range).size
        if size not in (1, lanes):
            message = f"{value.type}{_named(value)} has {size} lanes of '{tag}', whose range has {lanes}"
            raise self.error(message, _owner(value), range)

    def define_range(self, value: SSAValue, tag: str) -> None:
        """A range made of another under the same tag is that range; any other binds the tag."""
        owner = value.owner
        assert isinstance(owner, Operation)
        if not any(isinstance(operand.type, RangeType) and operand.type.tag == tag for operand in owner.operands):
            self.bind(value, tag)

    def bind(self, value: SSAValue, tag: str) -> None:
        """Bring a tag into scope; it names one range of the function."""
        earlier = self.bound.get(tag)
        if earlier is not None:
            message = f"the tag '{tag}' is bound twice: rename the range{_named(value)} to a tag of its own"
            raise self.error(message, _owner(value), earlier)
        self.bound[tag] = value
        self.tags.add(tag)

    def refuse_tag(self, value: SSAValue, tag: str) -> None:
        """Raise: a type names a tag that is not in scope."""
        earlier = self.bound.get(tag)
        what = "is used outside the loop that binds it" if earlier is not None else "is bound by no range"
        raise self.error(f"the tag '{tag}' of {value.type}{_named(value)} {what}", _owner(value), earlier)

    def refuse_value(self, op: Operation, number: int, operand: SSAValue) -> None:
        """Raise: a value is not visible where it is used."""
        what = self.problem(op, operand)
        raise self.error(f"operand #{number} of '{op.name}'{_named(operand)} {what}", op, operand)

    def problem(self, op: Operation, operand: SSAValue) -> str:
        """Why a value is not visible."""
        if isinstance(operand, ErasedSSAValue):
            return "was erased while still in use"
        if isinstance(operand, ForwardDeclaredValue):
            return "is not defined in the regions around it"
        home = defining_block(operand)
        if home is None or not _is_inside(home, self.module):
            return "is defined by an operation that is not in the module"
        around = [*ancestors(op)]
        inside = next((number for number, ancestor in enumerate(around) if ancestor.parent is home), None)
        if inside is None:
            return "is used outside the region that defines it"
        isolated = next((one for one in around[1 : inside + 1] if _is_isolated(type(one))), None)
        if isolated is None:
            return "is used before its definition"
        return f"is defined outside of '{isolated.name}', which sees no values from around it"

    def error(self, message: str, op: Operation | None, definition: SSAValue | None) -> VerifyError:
        """The error at an operation, with a note on where the value in question is defined."""
        if definition is None or isinstance(definition, ErasedSSAValue | ForwardDeclaredValue):
            return VerifyError(message, location_of(op), source=self.source)
        place, name = location_of(_owner(definition)), _named(definition).strip(" ()") or "it"
        notes = [f"{name} is defined at {place}"] if place else []
        return VerifyError(message, location_of(op), notes, source=self.source)


@cache
def _is_isolated(cls: type[Operation]) -> bool:
    return cls.has_trait(IsolatedFromAbove)


def defining_block(value: SSAValue) -> Block | None:
    """The block that a value is defined in, or is an argument of."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def _defined_in(block: Block) -> set[SSAValue]:
    return {*block.args, *(result for op in block.ops for result in op.results)}


def _named(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""


def _owner(value: SSAValue) -> Operation | None:
    """The operation that defines a value, or whose region does; None where that is gone."""
    owner = value.block.parent_op() if isinstance(value, BlockArgument) else value.owner
    return owner if isinstance(owner, Operation) else None


def ancestors(op: Operation | None) -> Iterator[Operation]:
    """``op`` and the operations around it."""
    while op is not None:
        yield op
        op = op.parent_op()


def _is_inside(block: Block, module: ModuleOp) -> bool:
    return any(op is module for op in ancestors(block.parent_op()))
