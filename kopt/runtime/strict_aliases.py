"""Mends JAX's TPU interpreter where a result takes over an operand whose last block is ragged.

JAX 0.10 pads such an operand to whole blocks and gives the padded array back as the result, under the result's type.
So the operand is padded before the call, the result's type said to be as large, and what is too much cut off after.
"""

# ruff: noqa: TID253 - only worker processes import this module

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp


def padding_aliased(pallas_call: Callable[..., Any]) -> Callable[..., Any]:
    """``pl.pallas_call`` whose aliased operands and results are whole blocks."""

    def call(*args: Any, **kwargs: Any) -> Any:
        aliases = kwargs.get("input_output_aliases") or {}
        if not aliases or "out_specs" not in kwargs:
            return pallas_call(*args, **kwargs)
        shapes, specs = _listed(kwargs["out_shape"]), _listed(kwargs["out_specs"])
        wide = list(shapes)
        for result in aliases.values():
            shape = _whole_blocks(shapes[result].shape, specs[result].block_shape)
            wide[result] = jax.ShapeDtypeStruct(shape, shapes[result].dtype)
        single = not isinstance(kwargs["out_shape"], (list, tuple))
        inner = pallas_call(*args, **{**kwargs, "out_shape": wide[0] if single else wide})

        def padded(*operands: Any) -> Any:
            grown = list(operands)
            for operand, result in aliases.items():
                grown[operand] = _grow(operands[operand], wide[result].shape)
            results = [_crop(r, s.shape) for r, s in zip(_listed(inner(*grown)), shapes, strict=True)]
            return results[0] if single else results

        return padded

    return call


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _whole_blocks(shape: Sequence[int], block: Sequence[Any] | None) -> tuple[int, ...]:
    if block is None:
        return tuple(shape)
    return tuple(-(-n // size) * size if isinstance(size, int) else n for n, size in zip(shape, block, strict=True))


def _grow(array: Any, shape: Sequence[int]) -> Any:
    return jnp.pad(array, [(0, m - n) for n, m in zip(array.shape, shape, strict=True)])


def _crop(array: Any, shape: Sequence[int]) -> Any:
    return array[tuple(slice(0, n) for n in shape)]
