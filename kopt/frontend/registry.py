"""The operations on device values, by torch's names and by torch's functions.

`kopt.frontend.registration` fills the tables. Device values and operations look up here what they call, so that no
value imports an operation. A function, a method and an operator with one name are one entry, which takes torch's
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from kopt.frontend.state import unsupported
from kopt.registry import did_you_mean

Operation = Callable[..., Any]

#: Every operation by torch's name.
OPERATIONS: dict[str, Operation] = {}
#: Operations that make tensors of nothing: on the device they are called without device operands.
CREATION: dict[str, Operation] = {}
#: Methods whose arguments are not those of the function of their name.
METHODS: dict[str, Operation] = {
    "where": lambda input, condition, other: OPERATIONS["where"](condition, input, other),
}

#: What torch, or the language, calls what other array libraries call so.
RENAMED = {
    "astype": "to",
    "copy": "clone",
    "concatenate": "torch.cat",
    "dot": "torch.matmul",
    "expand_dims": "torch.unsqueeze",
    "power": "torch.pow",
    "negative": "torch.neg",
    "invert": "torch.bitwise_not",
    "max": "torch.amax",
    "min": "torch.amin",
    "fabs": "torch.abs",
    "program_id": "hl.tile: its tiles have an id",
}

#: The same by torch's function objects.
_functions: dict[Any, Operation] = {}
_makers: dict[Any, Operation] = {}
_NAMESPACES = (torch, torch.nn.functional, torch.special, torch.Tensor)


def register(operations: dict[str, Operation], creation: dict[str, Operation]) -> None:
    """Adds operations and makers of tensors; torch's functions of their names are found too."""
    for mine, table, found in ((operations, OPERATIONS, _functions), (creation, CREATION, _makers)):
        table.update(mine)
        for name, implementation in mine.items():
            for namespace in _NAMESPACES:
                function = getattr(namespace, name, None)
                if callable(function):
                    found.setdefault(function, implementation)


def handles(function: Any) -> Callable[[Operation], Operation]:
    """Decorator: registers what one function of torch's does with a device value among its arguments."""

    def decorate(implementation: Operation) -> Operation:
        _functions[function] = implementation
        return implementation

    return decorate


def torch_operation(function: Any) -> Operation | None:
    """What a function of torch's does on device values, or None."""
    return _functions.get(function) or _makers.get(function)


def maker(function: Any) -> Operation | None:
    """What a function of torch's that makes a tensor does in a device loop, or None."""
    return _makers.get(function)


class Method(partial[Any]):
    """A device value's method: an operation, and torch's name for it."""

    name: str


def method(value: Any, name: str, owner: Any = None) -> Any:
    """``value.name`` for an operation; ``owner`` is what the kernel has, where ``value`` is made of it."""
    implementation = METHODS.get(name) or OPERATIONS.get(name)
    if implementation is not None:
        found = Method(implementation, value)
        found.name = name
        return found
    if name.startswith("__"):
        raise AttributeError(name)
    if name.endswith("_") and name[:-1] in OPERATIONS:
        unsupported(
            f"'.{name}' writes a device value in place",
            f"use the result instead: acc = acc.{name[:-1]}(…)",
            id="in-place",
        )
    own = dir(type(value if owner is None else owner))
    known = {*OPERATIONS, *METHODS, *(known for known in own if not known.startswith("_"))}
    close, id = ("", "torch-function") if hasattr(torch.Tensor, name) else (_meant(name, known), "unknown-name")
    unsupported(f"'.{name}' is not supported on device values{close}", "docs/language.md lists the operations", id=id)


def _meant(name: str, known: set[str]) -> str:
    renamed = RENAMED.get(name, "")
    return f"; torch calls it '{renamed}'" if renamed in known else did_you_mean(name, known)
