"""What rewritten kernels call: Python's meaning on host values, IR on device values."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from typing import Any

import torch

from kopt.frontend import source
from kopt.frontend.block_size import BlockSize, plain, valid
from kopt.frontend.branches import DeviceBranch, HostBranch
from kopt.frontend.calls import call
from kopt.frontend.device_value import DeviceValue
from kopt.frontend.elements import CONTAINERS, getitem, setitem
from kopt.frontend.host_state import check_advanced, global_names
from kopt.frontend.loops.statement import make_loop as loop
from kopt.frontend.loops.while_loops import WhileLoop as while_loop
from kopt.frontend.naming import named
from kopt.frontend.naming import named_all as _named_all
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import current, unsupported
from kopt.open_extents import is_open
from kopt.trees import leaves

__all__ = [
    "all_of",
    "any_of",
    "binary",
    "branch",
    "call",
    "chain",
    "check",
    "choose",
    "getitem",
    "inplace",
    "inplace_item",
    "locals",
    "loop",
    "named",
    "named_all",
    "negation",
    "returned",
    "setitem",
    "slice",
    "truth",
    "while_loop",
]

slice = builtins.slice  # the name that rewritten code uses


def locals() -> dict[str, Any]:
    """The names of the calling frame, as they are now, and the global ones that it reads."""
    frame = sys._getframe(1)
    return global_names(frame.f_code, frame.f_globals) | frame.f_locals


def named_all(value: Any, names: tuple[str, ...]) -> Any:
    """What is unpacked into names."""
    check_advanced(value)
    return _named_all(value, names)


# conditions


def branch(test: Any, assigned: tuple[str, ...], merged: tuple[str, ...]) -> HostBranch | DeviceBranch:
    """The ``if`` statement."""
    if isinstance(test, DeviceValue):
        return DeviceBranch(test, assigned, merged)
    return HostBranch(truth(test))


def truth(test: Any, leaving: bool = False) -> bool:
    """A condition that must be known now: of an ``if`` of the host, or one whose arms leave (``leaving``)."""
    if leaving and isinstance(test, DeviceValue):
        unsupported(
            "return, break or continue under a device condition is not supported here",
            "assign a value in both arms, or use torch.where",
            id="jump",
        )
    return bool(test)


def check(test: Any) -> bool:
    """``assert``: conditions of the device are not checked."""
    return True if isinstance(test, DeviceValue) else bool(test)


def returned(value: Any) -> Any:
    """``return``, of the kernel or of a function that it calls."""
    current().returned = source.place_of(sys._getframe(1))
    return value


def negation(value: Any) -> Any:
    """``not``."""
    return OPERATIONS["logical_not"](value) if isinstance(value, DeviceValue) else not value


def all_of(first: Any, *rest: Callable[[], Any]) -> Any:
    """``and``."""
    value = first
    for thunk in rest:
        if isinstance(value, DeviceValue):
            value = OPERATIONS["logical_and"](value, thunk())
        elif not value:
            return value
        else:
            value = thunk()
    return value


def any_of(first: Any, *rest: Callable[[], Any]) -> Any:
    """``or``."""
    value = first
    for thunk in rest:
        if isinstance(value, DeviceValue):
            value = OPERATIONS["logical_or"](value, thunk())
        elif value:
            return value
        else:
            value = thunk()
    return value


def choose(test: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """``a if test else b``: on a device condition both, as one value."""
    if not isinstance(test, DeviceValue):
        return then() if test else otherwise()
    made = DeviceBranch(test, ("value",), ("value",))
    made.enter({})
    first = then()
    made.switch({"value": first})
    return made.merge({"value": otherwise()})[0]


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_BINARY = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def binary(kind: str, left: Any, right: Any) -> Any:
    """``left op right``. Others than integers ask a block's size for its number without the size's notice."""
    function = _PLAIN.get(kind) or _BINARY[kind]
    if kind in ("eq", "ne") and (unsure := [each for each in leaves((left, right)) if is_open(each)]) and left != right:
        unsure[0].needed()  # they may be as long as each other
    if isinstance(right, BlockSize) and type(left) is float:
        return function(left, plain(valid(right))) if kind in _PLAIN else _BINARY[_MIRRORED[kind]](right, left)
    if isinstance(left, CONTAINERS) and kind in _PLAIN:
        return function(left, right if isinstance(right, CONTAINERS) and kind == "add" else plain(right))
    return function(plain(left) if isinstance(left, BlockSize) and isinstance(right, CONTAINERS) else left, right)


def chain(kinds: tuple[str, ...], first: Any, *rest: Callable[[], Any]) -> Any:
    """``a < b < c``."""
    result, left = None, first
    for kind, thunk in zip(kinds, rest, strict=True):
        right = thunk()
        value = binary(kind, left, right)
        result = value if result is None else all_of(result, lambda value=value: value)
        if not isinstance(result, DeviceValue) and not result:
            return result
        left = right
    return result


_PLAIN = {name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")}
_PLAIN |= {name: getattr(operator, name) for name in ("and_", "or_", "xor", "lshift", "rshift", "matmul")}
_IN_PLACE = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "truediv": operator.itruediv,
    "floordiv": operator.ifloordiv,
    "mod": operator.imod,
    "pow": operator.ipow,
    "and_": operator.iand,
    "or_": operator.ior,
    "xor": operator.ixor,
    "lshift": operator.ilshift,
    "rshift": operator.irshift,
    "matmul": operator.imatmul,
}


def inplace(kind: str, target: Any, value: Any) -> Any:
    """``target op= value``: on device values it means ``target = target op value``."""
    if isinstance(target, torch.Tensor) and current().on_device:
        unsupported("a host tensor cannot be changed whole in a device loop", "index it: out[tile] += …", id="in-place")
    if isinstance(target, DeviceValue) or isinstance(value, DeviceValue) or isinstance(value, BlockSize):
        return binary(kind, target, value)
    return _IN_PLACE[kind](target, value)


def inplace_item(kind: str, container: Any, index: Any, value: Any) -> None:
    """``container[index] op= value``."""
    setitem(inplace(kind, getitem(container, index), value), container, index)
