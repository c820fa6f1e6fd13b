"""A call's values taken apart: what an operator of torch takes, and what is part of the operator itself.

Tensors, numbers, texts, dtypes and devices are operands, those in tuples, lists and dicts too. Everything else (None,
functions, objects) has no type in an operator's schema: it makes an operator of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from kopt.runtime.cache import value_key
from kopt.specs import TensorSpec, framework_of

#: The types of schemas, by those of values; a bool is an int too, so the first that fits counts.
_TYPES: tuple[tuple[Any, str], ...] = (
    ((torch.Tensor, TensorSpec), "Tensor"),
    ((bool, torch.SymBool), "bool"),
    ((int, torch.SymInt), "SymInt"),
    ((float, torch.SymFloat), "Scalar"),
    (str, "str"),
    (torch.dtype, "ScalarType"),
    (torch.device, "Device"),
)


@dataclass(frozen=True)
class OperandPlace:
    """The place of an operand in a call's values, by its number: its name and its type in the schema."""

    number: int
    name: str
    type: str

    @property
    def is_tensor(self) -> bool:
        return self.type == "Tensor"


@dataclass(frozen=True)
class Fixed:
    """The place of a value that is part of the operator."""

    value: Any = field(compare=False)
    key: Hashable


@dataclass(frozen=True)
class Form:
    """What calls of one operator have in common: the values of their parameters with operands as leaves."""

    tree: tuple[tuple[str, Any], ...]

    @property
    def operands(self) -> tuple[OperandPlace, ...]:
        """All operands in order."""
        return tuple(leaf for leaf in self._leaves() if isinstance(leaf, OperandPlace))

    @property
    def fixed(self) -> tuple[Fixed, ...]:
        """What is no operand."""
        return tuple(leaf for leaf in self._leaves() if isinstance(leaf, Fixed))

    @property
    def key(self) -> Hashable:
        """What tells forms apart, with the places of their leaves."""
        return _key(self.tree)

    def values(self, operands: Sequence[Any]) -> dict[str, Any]:
        """The values of all parameters for operands."""
        put = lambda leaf: operands[leaf.number] if isinstance(leaf, OperandPlace) else leaf.value  # noqa: E731
        return {name: mapped(item, put) for name, item in self.tree}

    def _leaves(self) -> Iterator[Any]:
        return (leaf for _, item in self.tree for leaf in leaves(item))


def taken_apart(values: Mapping[str, Any]) -> tuple[Form, list[Any]]:
    """The form of a call and its operands."""
    operands: list[Any] = []
    names: set[str] = set()

    def leaf(value: Any, name: str) -> Any:
        type = next((type for kinds, type in _TYPES if isinstance(value, kinds)), None)
        if type is None:
            return Fixed(value, value_key(value))
        operands.append(value)
        return OperandPlace(len(operands) - 1, _unused(name, names), type)

    tree = tuple((name, _with_names(value, name, leaf)) for name, value in values.items())
    return Form(tree), operands


def has_foreign_arrays(values: Sequence[Any]) -> bool:
    """Whether there are arrays of JAX or NumPy in a call's values."""
    return any(framework_of(leaf) in ("jax", "numpy") for value in values for leaf in leaves(value))


def open_numbers(operand: Any) -> bool:
    """Whether an operand is, or has in its shape, a number that torch leaves open."""
    numbers = (*operand.shape, *operand.stride()) if isinstance(operand, torch.Tensor) else (operand,)
    return any(isinstance(number, torch.SymInt | torch.SymFloat | torch.SymBool) for number in numbers)


def tensors_in(values: Sequence[Any]) -> list[torch.Tensor]:
    """The tensors in a call's values."""
    return [leaf for value in values for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def _with_names(value: Any, name: str, change: Callable[[Any, str], Any]) -> Any:
    if type(value) is dict:
        return {key: _with_names(item, f"{name}_{key}", change) for key, item in value.items()}
    if _is_sequence(value):
        return _like(value, [_with_names(item, f"{name}_{number}", change) for number, item in enumerate(value)])
    return change(value, name)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value with what `leaves` gives changed."""
    return _with_names(value, "", lambda leaf, _: change(leaf))


def leaves(value: Any) -> Iterator[Any]:
    """What is in a value, or in its tuples, lists and dicts."""
    if type(value) is dict:
        for item in value.values():
            yield from leaves(item)
    elif _is_sequence(value):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def _key(value: Any) -> Hashable:
    if type(value) is dict:
        return dict, tuple((key, _key(item)) for key, item in value.items())
    if _is_sequence(value):
        return type(value), tuple(map(_key, value))
    return value


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) and not isinstance(value, torch.Size)


def _like(value: Any, items: list[Any]) -> Any:
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def _unused(name: str, names: set[str]) -> str:
    """A name for the schema that no other operand has."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    found, number = name, 0
    while found in names:
        found, number = f"{name}_{number}", number + 1
    names.add(found)
    return found
