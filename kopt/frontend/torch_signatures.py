"""Checks the arguments of a call on device values against the signature of torch's function.

The names are those of torch's schemas, with NumPy's where torch takes these too. What has no schema is not checked.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from functools import cache
from math import inf
from types import FunctionType
from typing import Any

import torch

from kopt.registry import did_you_mean

#: What torch's functions in Python's C API call parameters of their schemas, or take for them.
_ALSO = {
    "self": ("input", "x", "a", "x1"),
    "other": ("x2",),
    "dim": ("axis",),
    "keepdim": ("keepdims",),
}
#: What they take without a schema's saying so.
_ANYWHERE = ("out", "requires_grad", "names")


def mismatch(function: Any, name: str, args: Collection[Any], kwargs: Collection[str]) -> str | None:
    """Why torch would refuse a call, None where it would not or nothing tells.

    The first argument of a method is its owner. What arguments are is not looked at.
    """
    if isinstance(function, FunctionType):
        return _unbound(function, name, args, kwargs)
    overloads = _overloads(name)
    if not overloads:
        return None
    known = {word for params in overloads for param in params for word in _words(param.name)} | {*_ANYWHERE}
    if (unknown := _unknown(name, kwargs, known)) is not None:
        return unknown
    long_enough = [params for params in overloads if len(args) <= _most(params)]
    if not long_enough:
        return f"{name} takes {max(map(_most, overloads)):.0f} arguments at most, found {len(args)}"
    fewest = min(([*_missing(params, len(args), kwargs)] for params in long_enough), key=len)
    return f"{name} needs '{fewest[0]}'" if fewest else None


def _unbound(function: FunctionType, name: str, args: Collection[Any], kwargs: Collection[str]) -> str | None:
    """Why Python would not bind a call; what passes everything on tells nothing."""
    signature = inspect.signature(function, follow_wrapped=False)
    if any(param.kind is param.VAR_KEYWORD for param in signature.parameters.values()):
        return None
    if (unknown := _unknown(name, kwargs, signature.parameters)) is not None:
        return unknown
    try:
        signature.bind(*args, **dict.fromkeys(kwargs))
    except TypeError as error:
        return f"{name}: {error}"
    return None


def _unknown(name: str, kwargs: Collection[str], known: Collection[str]) -> str | None:
    """What is said of the first keyword that is not known."""
    found = next((word for word in kwargs if word not in known), None)
    return None if found is None else f"{name} takes no '{found}'{did_you_mean(found, known)}"


@cache
def _overloads(name: str) -> tuple[tuple[torch.Argument, ...], ...]:
    """The parameters of each schema that has no argument for its result."""
    found = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    return tuple(tuple(schema.arguments) for schema in found if not any(each.is_out for each in schema.arguments))


def _most(params: Collection[torch.Argument]) -> float:
    """How many positional arguments there may be: numbers of a list may be arguments of their own."""
    positional = [param for param in params if not param.kwarg_only]
    return inf if any("List[" in str(param.type) for param in positional) else len(positional)


def _words(name: str) -> tuple[str, ...]:
    return (name, *_ALSO.get(name, ()))


def _missing(params: Collection[torch.Argument], count: int, kwargs: Collection[str]) -> Iterator[str]:
    """The parameters that a number of positional arguments and some names leave without an argument."""
    for number, param in enumerate(params):
        given = number < count and not param.kwarg_only or any(word in kwargs for word in _words(param.name))
        if not given and not param.has_default_value():
            yield _ALSO["self"][0] if param.name == "self" else param.name
