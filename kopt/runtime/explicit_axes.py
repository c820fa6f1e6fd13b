"""Kernels where the types of arrays name the axes of a mesh (``AxisType.Explicit``): what is whole on every device."""

# ruff: noqa: TID253 - only modules that run JAX import this one

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec, get_abstract_mesh

from kopt.errors import ArgumentError

_NOTES = (
    "call it inside jax.shard_map to compute each device's part; jax.sharding.reshard(x, PartitionSpec()) brings the "
    "whole to every device; under jax.sharding.auto_axes(kernel, out_sharding=…) XLA splits the work"
)


def of_whole_arrays(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function of JAX arrays, none of which an explicit axis splits; so are its results.

    The function itself sees such axes as automatic ones. Raises `ArgumentError` where an argument is split: the type of
    the result would have to say how it is, and a kernel tells nobody.
    """

    def whole(*arrays: Any) -> Any:
        mesh = _explicit_mesh(arrays)
        if mesh is None:
            return function(*arrays)
        for array in arrays:
            _check(array, name)
        on_all = NamedSharding(mesh, PartitionSpec())
        automatic: Any = jax.sharding.auto_axes(function, axes=mesh.explicit_axes, out_sharding=on_all)
        return automatic(*arrays)

    whole.__name__ = name
    return whole


def _explicit_mesh(arrays: Sequence[Any]) -> Any:
    """The mesh with explicit axes that is set, else of an array; None where there is none."""
    meshes = (get_abstract_mesh(), *(jax.typeof(array).sharding.mesh for array in arrays))
    return next((mesh for mesh in meshes if mesh.explicit_axes), None)


def _check(array: Any, name: str) -> None:
    kind = jax.typeof(array)
    if any(axis is not None for axis in kind.sharding.spec):
        message = f"{name}: an argument is {kind.str_short()}, split over a mesh, and a kernel computes of whole arrays"
        raise ArgumentError(message, notes=[_NOTES])
