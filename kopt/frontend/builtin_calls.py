"""Python's own functions on device values."""

from __future__ import annotations

import builtins
import io
import math
import operator
import sys
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, TextIO

import torch

from kopt.diagnostics import Diagnostic, report
from kopt.frontend.block_size import Shape, follows, is_short, plain, valid
from kopt.frontend.calls import call
from kopt.frontend.loops.device import LoopDim, LoopSpec
from kopt.frontend.positions import fixed
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.run_time_scalars import OpenNumber, compute
from kopt.frontend.source import user_place
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, DeviceValue, Index, TileRange, describe, is_device
from kopt.ir.widths import next_power_of_two
from kopt.open_extents import check_known
from kopt.runtime.run_time_scalars import OPERATIONS as RUN_TIME_OPERATIONS

#: Ranges of Python longer than this become device loops inside one.
UNROLLED = 256


def _is_device_call(args: tuple[Any, ...]) -> bool:
    return any(isinstance(a, DeviceValue) for a in args)


def _pairwise(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """min and max."""

    def operation(*args: Any, **kwargs: Any) -> Any:
        values = tuple(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else args
        if _is_device_call(values):
            return reduce(OPERATIONS[name], values)
        if not kwargs and any(map(is_short, values)):
            return reduce(lambda a, b: follows(compute, OPERATIONS[name], a, b), values)
        return compute(*args, **kwargs)

    return operation


def _method(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """abs, round, pow: the operation of that name."""

    def operation(*args: Any) -> Any:
        args = tuple(map(valid, args))
        if len(args) == 1 and type(args[0]) is OpenNumber and name in RUN_TIME_OPERATIONS:
            return compute(name)(args[0])
        if not _is_device_call(args):
            return plain(*args)
        return OPERATIONS[name](*args)

    return operation


def _conversion(kind: type, dtype: torch.dtype) -> Callable[..., Any]:
    """int, float and bool of device values are casts; of host tensors, reads."""

    def operation(*args: Any) -> Any:
        args = tuple(map(valid, args)) if kind is float else args
        if len(args) == 1 and kind is int and (isinstance(args[0], Index) or is_short(args[0])):
            return args[0]
        if args and isinstance(args[0], DeviceValue):
            return OPERATIONS["to"](args[0], dtype)
        if args and isinstance(args[0], torch.Tensor):
            return kind(current().host.value_of(args[0], lambda t: t.item()))
        return kind(*args)

    return operation


def _range(*bounds: Any) -> Any:
    """``range``: a device loop where its bounds are the device's."""
    if not _is_device_call(bounds):
        fixed(bounds, "a bound of range")
        check_known(bounds)
        return range(*plain(bounds))
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) > 2 else 1
    if not isinstance(step, int) or step < 1:
        unsupported("a device range needs a positive static step", id="not-known-at-import")
    return LoopSpec([LoopDim(start, stop, int(step), None, scalar=True)], unpack=True)


def _isinstance(value: Any, kinds: Any) -> bool:
    """Device values are tensors, loop numbers are integers."""
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, DeviceTensor | TileRange) and torch.Tensor in listed:
        return True
    if isinstance(value, Index) and int in listed:
        return True
    return isinstance(value, kinds)


def _type(value: Any, *rest: Any) -> Any:
    """``type``: a number that each call gives is an int or a float."""
    return value.kind if type(value) is OpenNumber and not rest else type(value, *rest)


def _sum(values: Any, start: Any = 0) -> Any:
    """``sum`` of a list of device values adds them up."""
    items = list(values) if not is_device(values) else [values]
    if not _is_device_call(tuple(items)):
        return sum(items, start)
    return reduce(operator.add, items if isinstance(start, int) and start == 0 else [start, *items])


def _print(*values: Any, file: TextIO | None = None, **kwargs: Any) -> None:
    """``print`` prints when the kernel has been imported, a device value as its type."""
    tracer, text = current(), io.StringIO()
    shown = [describe(value) if is_device(value) else value for value in values]
    builtins.print(*shown, file=text, **kwargs)
    if file in (None, sys.stdout):
        tracer.printed.append(text.getvalue())
    else:
        file.write(text.getvalue())
    if _is_device_call(values):
        message = "print shows device values at import, by their types; hl.device_print is for their numbers"
        report(Diagnostic("remark", message, user_place(), "print-at-import"))


def _len(value: Any) -> Any:
    return value.shape[0] if isinstance(value, DeviceTensor) else len(value)


def _hasattr(value: Any, name: str) -> bool:
    if not isinstance(value, DeviceValue):
        return hasattr(value, name)
    return name in OPERATIONS or name in dir(type(value))


def cdiv(a: Any, b: Any) -> Any:
    """The quotient rounded up."""
    return (a + b - 1) // b


def next_power_of_2(value: int) -> int:
    """The smallest power of two that is not less; a dimension of that size meets one of ``value`` lanes."""
    if is_device(value):
        unsupported(
            "next_power_of_2 needs a number that is known while the kernel is imported", id="not-known-at-import"
        )
    power = next_power_of_two(int(value))
    if power != value:
        current().powers_of_two.add((int(value), power))
    return power


def _prod(values: Any, *, start: Any = 1) -> Any:
    """``math.prod``, of sizes too."""
    return reduce(operator.mul, values, start) if start != 1 else Shape(values).numel()


def _math(name: str) -> Callable[..., Any]:
    return _method(name, getattr(math, name))


def _partial(function: Any, *args: Any, **kwargs: Any) -> Any:
    """``functools.partial``: what it binds is called through the hooks."""
    return partial(call, function, *args, **kwargs)


def table() -> dict[Any, Callable[..., Any]]:
    """By function object."""
    return {
        builtins.min: _pairwise("minimum", min),
        builtins.max: _pairwise("maximum", max),
        builtins.abs: _method("abs", abs),
        builtins.round: _method("round", round),
        builtins.pow: _method("pow", pow),
        builtins.int: _conversion(int, torch.int32),
        builtins.float: _conversion(float, torch.float32),
        builtins.bool: _conversion(bool, torch.bool),
        builtins.range: _range,
        builtins.isinstance: _isinstance,
        builtins.type: _type,
        builtins.sum: _sum,
        builtins.print: _print,
        builtins.len: _len,
        builtins.hasattr: _hasattr,
        partial: _partial,
        math.prod: _prod,
        torch.Size: Shape,
        **{getattr(math, n): _math(n) for n in ("exp", "log", "log2", "sqrt", "sin", "cos", "tanh", "ceil", "floor")},
    }
