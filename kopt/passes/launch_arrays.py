"""Further arrays of a launch, made from those it has by host ops before it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.host import CallOp, LaunchOp, ReshapeOp
from kopt.dialects.tile import array_type, literal


class Arrays:
    """Gives a launch further arrays, made from those it has by host ops before it."""

    def __init__(self, launch: LaunchOp):
        self.launch, self._build = launch, Builder(launch)
        self._added: dict[tuple[SSAValue, tuple[int, ...], tuple[int, ...]], SSAValue] = {}

    def view(self, memory: SSAValue, padded: Sequence[int], shape: Sequence[int]) -> SSAValue:
        """The launch's own argument for an array padded with zeros at its ends and reshaped."""
        key = (memory, tuple(padded), tuple(shape))
        if key not in self._added:
            source = self.launch.inputs[self.launch.body.block.args.index(memory)]
            self._added[key] = self.take(self._reshape(self._pad(source, padded), shape), memory.name_hint)
        return self._added[key]

    def reshaped(self, source: SSAValue, shape: Sequence[int], memory: SSAValue) -> SSAValue:
        """The launch's own argument for an array of the host in another shape, named like one that it has."""
        key = (source, (), tuple(shape))
        if key not in self._added:
            hint = source.name_hint or memory.name_hint
            self._added[key] = self.take(self._reshape(source, shape), hint)
        return self._added[key]

    def take(self, source: SSAValue, hint: str | None) -> SSAValue:
        """A new argument of the launch for an array of the host."""
        block = self.launch.body.block
        argument = block.insert_arg(source.type, len(self.launch.inputs))
        argument.name_hint = hint
        self.launch.operands = [*self.launch.operands, source]
        return argument

    def again(self, memory: SSAValue) -> SSAValue:
        """A further argument for one of the launch's arrays, as it is before the launch."""
        source = self.launch.inputs[self.launch.body.block.args.index(memory)]
        if (source, (), ()) not in self._added:
            self._added[source, (), ()] = self.take(source, memory.name_hint)
        return self._added[source, (), ()]

    def fetched(self, source: SSAValue, memory: SSAValue) -> SSAValue:
        """The launch's own argument for the array of the host behind one that it has, for DMAs alone."""
        key = (source, array_type(source).get_shape(), ())
        if key not in self._added:
            self._added[key] = self.take(source, source.name_hint or memory.name_hint)
        return self._added[key]

    def _pad(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        type = array_type(source)
        before = type.get_shape()
        if tuple(shape) == before:
            return source
        pads = [number for n, m in zip(reversed(before), reversed(shape), strict=True) for number in (0, m - n)]
        numbers = ArrayAttr([IntegerAttr(number, i64) for number in pads])
        zero = literal(0, type.element_type)
        padded = MemRefType(type.element_type, shape)
        return self._build.add(CallOp("aten.constant_pad_nd.default", [source], [UnitAttr(), numbers, zero], [padded]))

    def _reshape(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        type = array_type(source)
        if tuple(shape) == type.get_shape():
            return source
        return self._build.add(ReshapeOp(source, MemRefType(type.element_type, shape)))
