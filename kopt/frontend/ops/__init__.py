"""The torch operations that device values know: one table a family, looked up by torch's own names.

A function, a method and an operator with one name are one entry. An entry takes torch's arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, DeviceValue

#: Every operation by torch's name.
REGISTRY: dict[str, Callable[..., Any]] = {}
#: Operations that make tensors of nothing: on the device they are called without device operands.
CREATION: dict[str, Callable[..., Any]] = {}

#: Methods whose arguments are not the function's of their name.
METHODS: dict[str, Callable[..., Any]] = {
    "where": lambda input, condition, other: REGISTRY["where"](condition, input, other),
}


def _load() -> None:
    from kopt.frontend.ops import (
        creation,
        elementwise,
        indexed,
        joining,
        matrices,
        numbers,
        random,
        reductions,
        scans,
        shapes,
        slicing,
        sorting,
    )
    from kopt.frontend.ops.scalars import with_scalars

    for family in (elementwise, reductions, scans, sorting, shapes, slicing, joining, matrices, indexed):
        REGISTRY.update(family.TABLE)
    for family in (reductions, scans, sorting):
        REGISTRY.update(with_scalars(family.TABLE))
    REGISTRY.update(with_scalars({name: REGISTRY[name] for name in ("transpose", "movedim", "flip")}))
    numbers.extend(REGISTRY)
    for family in (creation, random):
        CREATION.update(family.TABLE)
        REGISTRY.update(family.METHODS)


def method(value: DeviceTensor, name: str) -> Any:
    """``value.name`` for a method in the tables."""
    implementation = METHODS.get(name) or REGISTRY.get(name)
    if implementation is not None:
        return functools.partial(implementation, value)
    if name.startswith("__"):
        raise AttributeError(name)
    if name.endswith("_") and name[:-1] in REGISTRY:
        unsupported(f"'.{name}' writes a device value in place", f"use the result instead: acc = acc.{name[:-1]}(…)")
    return unsupported(f"'.{name}' is not supported on device values", "docs/language.md lists the operations")


_functions: dict[Any, Callable[..., Any]] = {}
_created: dict[Any, Callable[..., Any]] = {}
_NAMESPACES = (torch, torch.nn.functional, torch.special, torch.Tensor)
#: torch functions whose name in its namespace is not the operation's.
_ALIASES = {
    "expit": "sigmoid",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "subtract": "sub",
    "absolute": "abs",
    "negative": "neg",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
    "concat": "cat",
    "concatenate": "cat",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "clip": "clamp",
    "fix": "trunc",
}


def _index_functions() -> None:
    """torch's function objects by the tables' names."""
    REGISTRY.update({alias: REGISTRY[name] for alias, name in _ALIASES.items()})
    for table, found in ((REGISTRY, _functions), (CREATION, _created)):
        for name, implementation in table.items():
            for namespace in _NAMESPACES:
                function = getattr(namespace, name, None)
                if callable(function):
                    found.setdefault(function, implementation)


def torch_operation(function: Any) -> Callable[..., Any] | None:
    """Our implementation of a torch function on device values, or None."""
    return _functions.get(function) or _created.get(function)


def maker(function: Any) -> Callable[..., Any] | None:
    """Our implementation of a torch function that makes a tensor in a device loop, or None."""
    return _created.get(function)


def call_torch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A torch function with a device value among its arguments."""
    name = getattr(function, "__name__", str(function))
    if name in ("__getitem__", "__setitem__"):
        from kopt.frontend import hooks

        return hooks.getitem(*args) if name == "__getitem__" else hooks.setitem(args[2], args[0], args[1])
    implementation = torch_operation(function) or REGISTRY.get(name)
    if implementation is None and name.startswith("__") and name.endswith("__"):
        return _operator(name, args)
    if implementation is None:
        unsupported(f"torch function '{name}' is not supported on device values")
    return implementation(*args, **kwargs)


def _operator(name: str, args: tuple[Any, ...]) -> Any:
    """A tensor's operator method with a device value as the other operand."""
    mine = next(a for a in args if isinstance(a, DeviceValue))
    swapped = f"__r{name[2:]}" if not name.startswith("__r") or name == "__rshift__" else f"__{name[3:]}"
    method = getattr(type(mine), swapped if mine is not args[0] else name, None)
    if method is None:
        unsupported(f"'{name}' is not supported between a host tensor and a device value")
    other = args[0] if mine is not args[0] else args[1]
    return method(mine, current().host.load_whole(other) if isinstance(other, torch.Tensor) else other)


_load()
_index_functions()
