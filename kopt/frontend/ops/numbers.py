"""Arithmetic on the loops' numbers and on tiles: ``tile.begin // 2``, ``tile + offset``, ``tile.index + 1``.

Integers stay ``index`` values, so that analyses see affine expressions; anything else becomes tensor arithmetic.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1

from kopt.dialects import tile
from kopt.dialects.tile import TileType
from kopt.frontend.state import current
from kopt.frontend.values import DeviceTensor, Index, LaneNumbers, TileRange, index_ssa, is_integer, is_number, sized


def _natural(value: Any) -> bool:
    return value.natural if isinstance(value, Index) else value >= 0


def _simple(op: type, keeps_natural: bool) -> Callable[[Any, Any], Index]:
    def operation(a: Any, b: Any) -> Index:
        natural = keeps_natural and _natural(a) and _natural(b)
        return Index(current().emit(op(index_ssa(a), index_ssa(b))), natural)

    return operation


_add, _sub, _mul = _simple(arith.AddiOp, True), _simple(arith.SubiOp, False), _simple(arith.MuliOp, True)
_floordiv = _simple(arith.FloorDivSIOp, True)
_min, _max = _simple(arith.MinSIOp, True), _simple(arith.MaxSIOp, True)


def _times(a: Any, b: Any) -> Index:
    """As many blocks as a number says are of the size that is chosen; elsewhere sizes are numbers that Python reads."""
    return _mul(sized(a), sized(b))


def _mod(a: Any, b: Any) -> Index:
    """Python's ``%``; the machine's remainder where nothing is negative."""
    if _natural(a) and _natural(b):
        return Index(current().emit(arith.RemSIOp(index_ssa(a), index_ssa(b))), True)
    return _sub(a, _mul(_floordiv(a, b), b))


def _compare(predicate: str) -> Callable[[Any, Any], DeviceTensor]:
    def operation(a: Any, b: Any) -> DeviceTensor:
        flag = current().emit(arith.CmpiOp(index_ssa(a), index_ssa(b), predicate))
        return DeviceTensor(current().emit(tile.SplatOp(flag, TileType([], i1))))

    return operation


_ON_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "add": _add,
    "sub": _sub,
    "mul": _times,
    "floor_divide": _floordiv,
    "remainder": _mod,
    "minimum": _min,
    "maximum": _max,
    "eq": _compare("eq"),
    "ne": _compare("ne"),
    "lt": _compare("slt"),
    "le": _compare("sle"),
    "gt": _compare("sgt"),
    "ge": _compare("sge"),
}


def extend(registry: dict[str, Callable[..., Any]]) -> None:
    """Lets the binary operations of a table know numbers and tiles first."""
    for name, on_numbers in _ON_NUMBERS.items():
        registry[name] = _with_numbers(name, on_numbers, registry[name])
    registry["neg"] = _negation(registry["neg"])


def _with_numbers(name: str, on_numbers: Callable[[Any, Any], Any], otherwise: Callable[..., Any]) -> Any:
    def operation(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 2 and not kwargs:
            a, b = args
            if is_integer(a) and is_integer(b):
                return on_numbers(a, b)
            if name in ("add", "sub") and (moved := _moved(name, a, b, otherwise)) is not None:
                return moved
        return otherwise(*args, **kwargs)

    return operation


def _moved(name: str, a: Any, b: Any, otherwise: Callable[..., Any]) -> Any:
    """A tile, or element numbers, moved by a whole number: it still numbers elements."""
    if name == "add" and is_integer(a):
        a, b = b, a
    if not is_integer(b):
        return None
    if isinstance(a, TileRange):
        return a.shifted(b if name == "add" else _negated(b))
    if not isinstance(a, DeviceTensor) or a.lanes is None:
        return None
    lanes = _moved_lanes(a, b if name == "add" else _negated(b))
    return None if lanes is None else DeviceTensor(otherwise(a, b).ssa, lanes)


def _moved_lanes(value: DeviceTensor, step: Any) -> LaneNumbers | None:
    """Element numbers moved; ``tile.begin + hl.arange(tile.block_size)`` are the tile's own."""
    lanes = value.lanes
    assert lanes is not None
    if lanes.range is not None:
        return dataclasses.replace(lanes, range=lanes.range.shifted(step))
    if is_number(step):
        return dataclasses.replace(lanes, start=lanes.start + int(step))
    owner, dim = step.ssa.owner, value.dims[lanes.axis]
    if (lanes.start, lanes.step) == (0, 1) and isinstance(owner, tile.BeginOp) and owner.range.type.dim == dim:  # pyright: ignore
        block = TileRange(owner.range, dim.tag.data, current().range_blocks.get(dim.tag.data))
        return dataclasses.replace(lanes, range=block)
    return None


def _negated(value: Any) -> Any:
    return -value if isinstance(value, int) else _sub(0, value)


def _negation(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    return lambda input: _sub(0, input) if isinstance(input, Index) else otherwise(input)
