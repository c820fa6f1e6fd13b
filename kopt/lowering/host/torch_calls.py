"""Host ops as torch code: the function around the launches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    MemRefType,
    NoneAttr,
    NoneType,
    StridedLayoutAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from kopt import dtypes
from kopt.analysis.symmetric import is_contiguous
from kopt.dialects import host, triton
from kopt.dialects.host.operators import keeps_row_major, operators
from kopt.dialects.host.out_forms import OUT_FORMS
from kopt.dialects.tile import DimOp, array_type
from kopt.dialects.tile.extents import argument_extents
from kopt.dialects.tile.values import is_same_number
from kopt.lowering.expr import literal
from kopt.lowering.names import Names
from kopt.lowering.writer import Writer, source_comment
from kopt.open_extents import OpenExtent, plain_name

#: The namespaces of torch's own operators.
_TORCH = ("aten.", "prims.")

#: Prints one launch of a function.
LaunchPrinter = Callable[["HostFunction", triton.LaunchOp], None]


class HostFunction:
    """The state of printing a host function: names, and where new arrays live."""

    def __init__(
        self,
        arguments: Sequence[SSAValue],
        writer: Writer,
        print_launch: LaunchPrinter,
        handlers: Mapping[type[Operation], Callable[[Any, Any], None]] | None = None,
        reserved: Iterable[str] = (),
    ):
        self.writer = writer
        self.names = Names(("torch", "triton", "tl", *reserved))
        self._extents = argument_extents(arguments)
        self.extents = {extent: self.names.fresh(plain_name(extent)) for extent in self._extents}
        """The names of extents that differ from call to call."""
        self._handlers = HANDLERS if handlers is None else handlers
        self._print_launch = print_launch
        self._comment: str | None = None
        self.parameters = [self.names.bind(arg, arg.name_hint or "arg") for arg in arguments]
        self._arrays = [self.names[arg] for arg in arguments if isinstance(arg.type, MemRefType)]

    @property
    def device(self) -> str:
        """``, device=x.device`` of the first array, or nothing: torch's default."""
        return f", device={self._arrays[0]}.device" if self._arrays else ""

    @property
    def where(self) -> str:
        """The device of the first array, or torch's default."""
        return f"{self._arrays[0]}.device" if self._arrays else "torch.get_default_device()"

    def print_extents(self) -> None:
        """Takes the extents that differ from call to call from the arguments."""
        for extent, (array, dim) in self._extents.items():
            self.writer.line(f"{self.extents[extent]} = {self.names[array]}.shape[{dim}]")

    def print(self, op: Operation) -> None:
        """Prints one host operation."""
        if isinstance(op, host.ReshapeOp) and _is_launched_with(op):
            self.names.alias(op.result, self.names[op.source])
            return
        writer, outer = self.writer, self.writer.origin
        writer.origin = op
        comment = source_comment(op)
        if comment is not None and comment != self._comment and not isinstance(op, ReturnOp | ConstantOp):
            self.writer.comment(comment)
            self._comment = comment
        self._handlers[type(op)](self, op)
        writer.origin = outer

    def assign(self, value: SSAValue, expression: str) -> None:
        """``name = expression``."""
        self.writer.line(f"{self.names.bind(value, value.name_hint or 'array')} = {expression}")

    def fill(self, value: SSAValue, fill: Attribute) -> None:
        """Sets all elements of an array."""
        self.writer.line(f"{self.names[value]}.fill_({literal(fill).text})")

    def launch(self, op: triton.LaunchOp) -> None:
        """Launches a kernel."""
        self._print_launch(self, op)

    def extent(self, extent: int) -> str:
        """An extent: a number, or the name of one that differs from call to call."""
        return self.extents[extent] if isinstance(extent, OpenExtent) else str(extent)

    def shape_text(self, type: MemRefType) -> str:
        """A shape as a tuple of extents."""
        names = [self.extent(extent) for extent in type.get_shape()]
        return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def print_function(
    writer: Writer, func: FuncOp, name: str, print_launch: LaunchPrinter, reserved: Iterable[str] = ()
) -> None:
    """``def name(x):`` with its arrays, views, calls and launches; ``reserved`` are the names of its kernels."""
    function = HostFunction(func.body.block.args, writer, print_launch, reserved=reserved)
    with writer.block(f"def {name}({', '.join(function.parameters)}):"):
        function.print_extents()
        for op in func.body.block.ops:
            function.print(op)


def torch_dtype(type: Attribute) -> str:
    """``torch.float32`` for an element type."""
    found = dtypes.from_ir(type)
    assert found is not None, "verify-host"
    return f"torch.{found.torch}"


def _alloc(function: HostFunction, op: host.AllocOp) -> None:
    type = array_type(op.result)
    shape = function.shape_text(type)
    rest = f"dtype={torch_dtype(type.element_type)}{function.device}"
    if isinstance(type.layout, StridedLayoutAttr):
        fill = "" if op.fill is None else f".fill_({literal(op.fill).text})"
        function.assign(op.result, f"torch.empty_strided({shape}, {type.get_strides()}, {rest}){fill}")
    elif op.fill is None:
        function.assign(op.result, f"torch.empty({shape}, {rest})")
    elif is_same_number(op.fill, 0.0):
        function.assign(op.result, f"torch.zeros({shape}, {rest})")
    else:
        function.assign(op.result, f"torch.full({shape}, {literal(op.fill).text}, {rest})")


def _dim(function: HostFunction, op: DimOp) -> None:
    function.names.alias(op.result, function.extent(op.extent))


def _is_launched_with(op: host.ReshapeOp) -> bool:
    """Whether kernels alone take a view: these take where an array begins, and have its shape in their text."""
    users = [use.operation for use in op.result.uses]
    return bool(users) and all(isinstance(user, triton.LaunchOp) for user in users) and is_contiguous(op.source.type)


def _reshape(function: HostFunction, op: host.ReshapeOp) -> None:
    function.assign(op.result, f"{function.names[op.source]}.view({function.shape_text(op.result_type)})")


def _permute(function: HostFunction, op: host.PermuteOp) -> None:
    function.assign(op.result, f"{function.names[op.source]}.permute({op.order})")


def _slices(bounds: tuple[tuple[int, int, int], ...], shape: tuple[int, ...]) -> str:
    texts = [_slice(bound, size) for bound, size in zip(bounds, shape, strict=True)]
    return ", ".join(texts) if texts else "..."


def _slice(bound: tuple[int, int, int], extent: int) -> str:
    offset, size, stride = bound
    if (offset, size, stride) == (0, extent, 1):
        return ":"
    stop = offset + max(size - 1, 0) * stride + (size > 0)
    return f"{offset}:{stop}" + (f":{stride}" if stride != 1 else "")


def _take(function: HostFunction, op: host.SliceOp) -> None:
    shape = tuple(op.source_type.get_shape())
    function.assign(op.result, f"{function.names[op.source]}[{_slices(op.bounds, shape)}]")


def _expand(function: HostFunction, op: host.ExpandOp) -> None:
    function.assign(op.result, f"{function.names[op.source]}.expand({function.shape_text(op.result_type)})")


def _copy(function: HostFunction, op: host.CopyOp) -> None:
    function.writer.line(f"{function.names[op.target]}.copy_({function.names[op.source]})")


def _insert(function: HostFunction, op: host.InsertOp) -> None:
    function.assign(op.result, f"{function.names[op.base]}.clone()")
    place = _slices(op.bounds, tuple(array_type(op.base).get_shape()))
    function.writer.line(f"{function.names[op.result]}[{place}] = {function.names[op.value]}")


def is_torch_operator(callee: str) -> bool:
    """Whether a name is of an operator that programs may call, and of torch's own."""
    return callee in operators() and callee.startswith(_TORCH)


def _call(function: HostFunction, op: host.CallOp) -> None:
    """A call; its results are row-major, as their types say, whatever torch gives."""
    callee = op.callee.data
    assert is_torch_operator(callee), "verify-host"
    new = op.outputs and not op.inputs and callee.startswith("aten.")
    text = f"torch.ops.{callee}({_arguments(function, op)}{function.device if new else ''})"
    if not op.outputs:
        function.writer.line(text)
        return
    ordered = keeps_row_major(callee) and all(is_contiguous(value.type) for value in op.inputs)
    if len(op.outputs) == 1 and not ordered:
        text += ".contiguous()"
    names = [function.names.bind(value, value.name_hint or "array") for value in op.outputs]
    function.writer.line(f"{', '.join(names)} = {text}")
    if len(names) > 1 and not ordered:
        function.writer.lines(f"{name} = {name}.contiguous()" for name in names)


def _arguments(function: HostFunction, op: host.CallOp | host.CallOutOp) -> str:
    """The arguments, the last ones by name where torch takes them so only."""
    inputs = iter(op.inputs)
    texts = [_argument(function, attr, inputs) for attr in op.arguments.data]
    names = host.keywords_of(op)
    plain = len(texts) - len(names)
    named = [f"{name}={text}" for name, text in zip(names, texts[plain:], strict=True)]
    return ", ".join([*texts[:plain], *named])


def _call_out(function: HostFunction, op: host.CallOutOp) -> None:
    overload = OUT_FORMS[op.callee.data].overload
    function.writer.line(f"torch.ops.{overload}({_arguments(function, op)}, out={function.names[op.out]})")


def _reuse(function: HostFunction, op: host.ReuseOp) -> None:
    function.assign(op.result, function.names[op.source])
    if op.fill is not None:
        function.fill(op.result, op.fill)


def _free(function: HostFunction, op: host.FreeOp) -> None:
    """All names of the memory go, those of views and of arrays that it was before, or torch would keep it."""
    value = op.source
    names = _names(function, value)
    while isinstance(value.owner, host.ReuseOp):
        value = value.owner.source
        names += _names(function, value)
    function.writer.line(f"del {', '.join(dict.fromkeys(names))}")


def _names(function: HostFunction, value: SSAValue) -> list[str]:
    views = [use.operation.result for use in value.uses if isinstance(use.operation, host.ViewOp)]
    return [function.names[value], *(name for view in views for name in _names(function, view))]


def print_inline(function: HostFunction, op: host.PartitionOp) -> None:
    """What could be replayed is done op by op: the same results, without the capture."""
    for inner in op.body.block.ops:
        function.print(inner)
    for result, value in zip(op.outputs, op.yielded, strict=True):
        function.names.alias(result, function.names[value])


def _argument(function: HostFunction, attr: Attribute, inputs: Iterator[SSAValue]) -> str:
    if isinstance(attr, UnitAttr):
        return function.names[next(inputs)]
    if isinstance(attr, NoneAttr | NoneType):
        return "None"
    if isinstance(attr, ArrayAttr):
        return f"[{', '.join(_argument(function, inner, inputs) for inner in attr.data)}]"
    if isinstance(attr, StringAttr):
        dtype = dtypes.BY_SPEC.get(attr.data) or dtypes.BY_TORCH.get(attr.data)
        return repr(attr.data) if dtype is None else f"torch.{dtype.torch}"
    return literal(attr).text


def _return(function: HostFunction, op: ReturnOp) -> None:
    if op.arguments:
        function.writer.line(f"return {', '.join(function.names[value] for value in op.arguments)}")


def _constant(function: HostFunction, op: ConstantOp) -> None:
    """A constant is spelt where it is used."""
    function.names.alias(op.result, literal(op.value).text)


def _nothing(function: HostFunction, op: host.YieldOp) -> None:
    """What a partition yields keeps its name."""


#: How each host operation is printed.
HANDLERS: dict[type[Operation], Callable[[HostFunction, object], None]] = {
    host.AllocOp: _alloc,
    DimOp: _dim,
    host.ReshapeOp: _reshape,
    host.PermuteOp: _permute,
    host.SliceOp: _take,
    host.ExpandOp: _expand,
    host.CopyOp: _copy,
    host.InsertOp: _insert,
    host.CallOp: _call,
    host.CallOutOp: _call_out,
    host.ReuseOp: _reuse,
    host.FreeOp: _free,
    host.PartitionOp: print_inline,
    host.YieldOp: _nothing,
    triton.LaunchOp: HostFunction.launch,
    ReturnOp: _return,
    ConstantOp: _constant,
}  # pyright: ignore[reportAssignmentType]
