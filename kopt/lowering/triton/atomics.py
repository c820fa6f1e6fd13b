"""Atomic updates: ``old = tl.atomic_add(pointer, v, mask=…, sem="relaxed", scope="gpu")``."""

from __future__ import annotations

from xdsl.dialects.builtin import f64
from xdsl.ir import Operation, SSAValue

from kopt.dialects import atomic, tile
from kopt.lowering.expr import Expr, spell
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.lowering.triton.memory import mask_argument, mask_of, pointer

_Update = atomic.RmwOp | atomic.CasOp
#: Triton compares floats by their bits: NaN goes to the end of the order that wins.
_NAN = {"max": "_nan_above({0})", "min": "_nan_below({0})"}


def _pointers(kernel: TritonPrinter, op: tile.Access, value: SSAValue) -> Expr:
    """A pointer for every lane: lanes that share an element update it each."""
    type = tile.tile_type(value)
    return kernel.broadcast(pointer(kernel, op), type.shape, type)


def _emit(kernel: TritonPrinter, op: _Update, arguments: list[str], shape: tuple[int, ...], read: str = "") -> None:
    """The call; where somebody reads its result, ``read`` follows, and it gets a name."""
    kind = op.kind.data if isinstance(op, atomic.RmwOp) else "cas"
    options = [f'sem="{op.ordering.data}"', 'scope="gpu"']
    text = f"tl.atomic_{kind}({', '.join([*arguments, *options])})"
    if not op.results or not op.results[0].uses:
        kernel.line(text)
        return
    hint = op.results[0].name_hint or f"{kernel[op.memory].text}_before"
    name = kernel.names.bind(op.results[0], hint)
    kernel.line(f"{name} = {text}{read}")
    kernel.alias(op.results[0], Expr(name, shape=shape))


def print_rmw(kernel: TritonPrinter, op: atomic.RmwOp) -> None:
    """``tl.atomic_max(pointer, v, …)``."""
    type, value, at = tile.tile_type(op.value), kernel[op.value], _pointers(kernel, op, op.value)
    kind, read = op.kind.data, ""
    if kind in _NAN and tile.is_float(type.element_type) and value.literal is None:
        value = kernel.spelt(_NAN[kind], value)
    if kind == "xchg" and type.element_type == f64:  # AMD's compiler exchanges integers of 64 bits only
        value = spell("{0}.to(tl.int64, bitcast=True)", kernel.typed(op.value))
        at, read = spell("{0}.to(tl.pointer_type(tl.int64), bitcast=True)", at), ".to(tl.float64, bitcast=True)"
    _emit(kernel, op, [at.text, value.text, *mask_argument(kernel, op)], type.shape, read)


def print_cas(kernel: TritonPrinter, op: atomic.CasOp) -> None:
    """``tl.atomic_cas(pointer, expected, desired, …)``, which takes no mask.

    Other lanes put what they expect in place of itself in the first element, which changes nothing.
    """
    at, mask = _pointers(kernel, op, op.desired), mask_of(kernel, op)
    expected, desired = kernel.whole(op.expected), kernel.whole(op.desired)
    arguments = [at.text, expected.text, desired.text]
    if mask is not None:
        expected = expected if expected.is_name else kernel.assign(op.expected, expected, "expected")
        first = kernel[op.memory].text
        arguments = [
            f"tl.where({mask.text}, {at.text}, {first})",
            expected.text,
            f"tl.where({mask.text}, {desired.text}, {expected.text})",
        ]
    _emit(kernel, op, arguments, at.shape)


HANDLERS: dict[type[Operation], Handler] = {atomic.RmwOp: print_rmw, atomic.CasOp: print_cas}
