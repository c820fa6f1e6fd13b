"""Shapes of results where torch leaves sizes open: the kernel's host program, run on tensors without elements.

Loops over tiles have no iterations there, so what remains computes shapes, and branches on sizes are torch's guards.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch

from kopt.language.running import RUNNING
from kopt.operators.structure import Structure, exact, hint
from kopt.runtime.results import FromResult
from kopt.trees import leaves

Shape = tuple[Any, ...]


def open_shapes(kernel: Any, values: Mapping[str, Any], structure: Structure) -> list[Shape] | None:
    """The shapes of the results with open sizes in them; None where the host program alone does not say them.

    ``structure`` is that of the example. What differs from it for the example's sizes is not believed.
    """
    call = inspect.BoundArguments(kernel._signature, dict(values))  # pyright: ignore
    token = RUNNING.set(_HostProgram())
    try:
        value = kernel.fn(*call.args, **call.kwargs)
    except Exception:  # whatever the loops would have computed is missing: the import says more
        return None
    finally:
        RUNNING.reset(token)
    tree, found = list(leaves(structure.results.tree)), list(leaves(value))
    if len(tree) != len(found):
        return None
    results = {leaf.number: item for leaf, item in zip(tree, found, strict=True) if isinstance(leaf, FromResult)}
    shapes = [_shape(results.get(number)) for number in range(len(structure.specs))]
    as_in_example = [None if shape is None else tuple(map(hint, shape)) for shape in shapes]
    return shapes if as_in_example == [spec.shape for spec in structure.specs] else None  # pyright: ignore


def like(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor without elements of the same form, which a host program may write."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)


def _shape(value: Any) -> Shape | None:
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


class _HostProgram:
    """A run of a kernel's Python of which only what is outside of device loops takes place."""

    def function(self, name: str) -> Callable[..., Any]:
        """What a function of the language does on the host."""
        if name not in _ON_HOST:
            raise NotImplementedError(name)
        return _ON_HOST[name]

    def call(self, fn: Callable[..., Any], config: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A kernel that the host program calls."""
        return fn(*args, **kwargs)

    def padded(self, size: int, power: int) -> None:
        """Sizes that are padded to powers of two are numbers already."""


_ON_HOST: dict[str, Callable[..., Any]] = {
    "tile": lambda *args, **kwargs: iter(()),
    "grid": lambda *args, **kwargs: iter(()),
    "barrier": lambda *args, **kwargs: None,
    "specialize": exact,
}
