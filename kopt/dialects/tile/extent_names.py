"""Which extent each ``?`` of a function is, in the text of IR: the attribute ``tile.extents``.

A function names those of its arguments, and an operation those of its results, in order:

    func.func @f(%x: memref<?x64xf32>, %y: memref<?xf32>) attributes {tile.extents = ["x.size(0)", "x.size(0)"]} {
      %out = host.alloc {tile.extents = ["x.size(0)"]} : memref<?x64xf32>

Without it each ``?`` of an argument is an extent of its own, named by the argument; of a result nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, FunctionType, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.tile.extents import DimOp, extent_of
from kopt.open_extents import OpenExtent, is_open, open_extents
from kopt.walk import walk

_NAME = "tile.extents"
#: What to write where extents are not named.
NAMES = 'name them as those of arguments: {tile.extents = ["x.size(0)"]}'
#: What an extent is taken to be where only a number will do: texts say nothing of any call.
_TYPICAL = 1024


def name_extents(func: FuncOp) -> None:
    """Notes which extents the types of a function have: text does not say that."""
    _note(func, [argument.type for argument in func.body.block.args])
    for op in walk(func):
        _note(op, [result.type for result in op.results])


def _note(op: Operation, types: Sequence[Attribute]) -> None:
    names = [StringAttr(extent.name) for type in types for extent in _shape(type) if isinstance(extent, OpenExtent)]
    if names:
        op.attributes[_NAME] = ArrayAttr(names)


#: What an extent has at least, for a shape and a dimension of it.
Least = Callable[[Sequence[int], int], int]


def bind_extents(module: ModuleOp, known: Iterable[OpenExtent] = (), least: Least = lambda shape, dim: 1) -> None:
    """Gives every ``?`` of which it is said which extent it is that extent: one of those ``known``, or a new one."""
    for func in _functions(module):
        if any(_is_dynamic(value.type) for value in _values(func)) and unnamed(func) is None:
            _Binding(func, {extent.name: extent for extent in known}, least).run()


def has_extents(module: ModuleOp) -> bool:
    """Whether an array of a module has an extent that differs from call to call."""
    return any(_is_dynamic(value.type) for func in _functions(module) for value in _values(func))


def _functions(module: ModuleOp) -> list[FuncOp]:
    ops = (op for block in module.body.blocks for op in block.ops)  # text may have several, which the verifier refuses
    return [op for op in ops if isinstance(op, FuncOp) and len(op.body.blocks) == 1]


def unnamed(func: FuncOp) -> Operation | None:
    """The first operation of whose results nobody says how long they are."""
    for op in walk(func):
        dims = [extent for result in op.results for extent in _shape(result.type) if extent == DYNAMIC_INDEX]
        named = op.attributes.get(_NAME)
        count = len(named.data) if isinstance(named, ArrayAttr) else 0
        if len(dims) != count and not all(map(is_open, dims)):
            return op
    return None


class _Binding:
    def __init__(self, func: FuncOp, extents: dict[str, OpenExtent], least: Least):
        self.func, self.extents, self.least = func, extents, least

    def run(self) -> None:
        """Arguments first, then results, then what launches call both."""
        self._bind(self.func, self.func.body.block.args, list(self._default_names()))
        for op in walk(self.func):
            self._bind(op, op.results, [])
            for region in op.regions:
                self._bind_launched(op, region.blocks.first.args if region.blocks.first is not None else ())
            if isinstance(op, DimOp) and op.divisor > 0 and isinstance(extent := extent_of(op.result), OpenExtent):
                extent.require(op.divisor)
        end = self.func.body.block.last_op
        results = end.operand_types if isinstance(end, ReturnOp) else self.func.function_type.outputs.data
        inputs = [argument.type for argument in self.func.body.block.args]
        self.func.function_type = FunctionType.from_lists(inputs, list(results))

    def _default_names(self) -> Iterator[str]:
        for number, argument in enumerate(self.func.body.block.args):
            for dim, extent in enumerate(_shape(argument.type)):
                if extent == DYNAMIC_INDEX:
                    yield f"{argument.name_hint or f'arg{number}'}.size({dim})"

    def _bind(self, op: Operation, values: Sequence[SSAValue], default: list[str]) -> None:
        noted = op.attributes.get(_NAME)
        said = noted.data if isinstance(noted, ArrayAttr) else map(StringAttr, default)
        names = [name.data for name in said if isinstance(name, StringAttr)]
        if len(names) != sum(extent == DYNAMIC_INDEX for value in values for extent in _shape(value.type)):
            return
        left = iter(names)
        for value in values:
            if _is_dynamic(value.type):
                shape = list(_shape(value.type))
                for dim, extent in enumerate(shape):
                    if extent == DYNAMIC_INDEX:
                        shape[dim] = self._extent(next(left), extent, self.least(shape, dim))
                self._retype(value, shape)

    def _bind_launched(self, op: Operation, arguments: Sequence[SSAValue]) -> None:
        """What the body of a launch calls arrays that it is given has their types."""
        for argument, operand in zip(arguments, op.operands, strict=False):
            if _is_dynamic(argument.type) and argument.type == operand.type:
                self._retype(argument, _shape(operand.type))

    def _extent(self, name: str, old: int, least: int) -> OpenExtent:
        if name not in self.extents:
            multiple, now = (old.multiple, old.now) if isinstance(old, OpenExtent) else (1, _TYPICAL)
            self.extents[name] = OpenExtent(name, len(self.extents), multiple, now)
        found = self.extents[name]
        found.least = max(found.least, least)
        return found

    @staticmethod
    def _retype(value: SSAValue, shape: Sequence[int]) -> None:
        type = value.type
        assert isinstance(type, MemRefType)
        Rewriter.replace_value_with_new_type(
            value, MemRefType(type.element_type, shape, type.layout, type.memory_space)
        )


def _is_dynamic(type: Attribute) -> bool:
    return bool(open_extents(_shape(type))) or DYNAMIC_INDEX in _shape(type)


def _shape(type: Attribute) -> tuple[int, ...]:
    return type.get_shape() if isinstance(type, MemRefType) else ()


def _values(func: FuncOp) -> Iterator[SSAValue]:
    yield from func.body.blocks[0].args if func.body.blocks else ()
    for op in walk(func):
        yield from op.results
