"""The array that a launch updates by computed rows, brought by host ops into a form whose rows a TPU can reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.coverage import unspecified
from kopt.analysis.storage import wide
from kopt.dialects.builder import Builder
from kopt.dialects.host import AllocOp, CallOp, LaunchOp, PermuteOp, ReshapeOp, SliceOp
from kopt.dialects.tile import array_type, literal
from kopt.passes.launches import erase_unused
from kopt.targets.tiling import LANES

Make = Callable[[SSAValue], Operation]


class WrittenOperand:
    """One written operand of a launch. Each change is made to the operand before and undone to the result after.

    The accesses inside are left to whoever asks for the change; ``has_other_form`` says whether there was one, of which
    the type need not tell: a square array with its dimensions exchanged.
    """

    def __init__(self, launch: LaunchOp, number: int):
        self.launch = launch
        self.number = number
        self.has_other_form = False

    @property
    def memory(self) -> SSAValue:
        """The array as the body of the launch sees it."""
        return self.launch.body.block.args[self.number]

    @property
    def type(self) -> MemRefType:
        """Its type now."""
        return array_type(self.memory)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape now."""
        return self.type.get_shape()

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.memory.name_hint or f"operand {self.number}"

    def permute(self, order: Sequence[int]) -> None:
        """Dimensions in another order."""
        if list(order) == sorted(order):
            return
        before = self.type
        back = sorted(range(len(order)), key=order.__getitem__)
        after = self._shaped([self.shape[dim] for dim in order])
        self._replace(after, lambda x: PermuteOp(x, order, after), lambda y: PermuteOp(y, back, before))

    def merge_first(self, count: int) -> None:
        """The first ``count`` dimensions become one."""
        if count == 1:
            return
        self.reshape([prod(self.shape[:count]), *self.shape[count:]])

    def reshape(self, shape: Sequence[int]) -> None:
        """The same elements under another shape."""
        before, after = self.type, self._shaped(shape)
        if before != after:
            self._replace(after, lambda x: ReshapeOp(x, after), lambda y: ReshapeOp(y, before))

    def widen(self) -> None:
        """Elements below 32 bits become 32-bit ones: single rows of narrower ones cannot be reached."""
        before = self.type
        element = wide(before.element_type)
        if element != before.element_type:
            after = MemRefType(element, self.shape)
            self._replace(after, lambda x: _cast(x, after), lambda y: _cast(y, before))

    def pad(self, shape: Sequence[int]) -> None:
        """Room after the last element of each dimension, which is cut off again."""
        before, after = self.type, self._shaped(shape)
        if before == after:
            return
        rank = len(shape)
        self._replace(
            after,
            lambda x: _pad(x, before, after),
            lambda y: SliceOp(y, [0] * rank, before.get_shape(), [1] * rank, before),
        )

    def fold(self) -> None:
        """An array of one dimension becomes rows of `LANES` elements."""
        rows = -(-self.shape[0] // LANES)
        self.pad([rows * LANES])
        self.reshape([rows, LANES])

    def _shaped(self, shape: Sequence[int]) -> MemRefType:
        return MemRefType(self.type.element_type, shape)

    def _replace(self, type: MemRefType, forward: Make, backward: Make) -> None:
        self.has_other_form = True
        if self.number < len(self.launch.inputs):
            source = self.launch.inputs[self.number]
            make = AllocOp(type) if unspecified(source) else forward(source)
            self.launch.operands[self.number] = Builder(self.launch).add(make, source.name_hint)
            erase_unused([source])
        Rewriter.replace_value_with_new_type(self.memory, type)
        result = self.launch.version_of(self.number)
        uses = list(result.uses)
        result = Rewriter.replace_value_with_new_type(result, type)
        back = Builder(InsertPoint.after(self.launch), self.launch).add(backward(result), result.name_hint)
        for use in uses:
            use.operation.operands[use.index] = back


def _cast(source: SSAValue, type: MemRefType) -> Operation:
    arguments: list[Attribute] = [UnitAttr(), StringAttr(str(type.element_type))]
    return CallOp("prims.convert_element_type.default", [source], arguments, [type])


def _pad(source: SSAValue, before: MemRefType, after: MemRefType) -> Operation:
    shapes = zip(reversed(before.get_shape()), reversed(after.get_shape()), strict=True)
    numbers = ArrayAttr([IntegerAttr(number, i64) for n, m in shapes for number in (0, m - n)])
    zero = literal(0, before.element_type)
    return CallOp("aten.constant_pad_nd.default", [source], [UnitAttr(), numbers, zero], [after])
