"""Calls that are refused, each beside one that is like it and is not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl
from kopt.errors import KoptError
from kopt.frontend import import_kernel

X, MASK = torch.zeros(8, 16), torch.ones(8, 16, dtype=torch.bool)
Call = Callable[[torch.Tensor, torch.Tensor, Any], Any]


def by_rows(x, of):
    for tile in hl.tile(x.size(0), block_size=4):
        of(x, x[tile, :], tile)


def summed(bounds: Callable[[Any], tuple[Any, ...]]) -> Call:
    """Adds what a device's range numbers."""

    def call(x, v, tile):
        total = hl.zeros([tile], dtype=torch.int32)
        for k in range(*bounds(tile)):
            total = total + k
        return total

    return call


def combined(function: Callable[..., Any], tensors: int = 1) -> Call:
    def call(x, v, tile):
        return hl.associative_scan(function, (v,) * tensors if tensors > 1 else v, dim=1)

    return call


#: What is said, the call of which it is said, and one that is taken.
CALLS: dict[str, tuple[Call, Call]] = {
    "has no dimension 2": (lambda x, v, t: v.cumsum(2), lambda x, v, t: v.cumsum(1)),
    "has no dimension -3": (lambda x, v, t: v.cumsum(-3), lambda x, v, t: v.cumsum(-2)),
    "has no dimension 1": (lambda x, v, t: v.sum().cumsum(1), lambda x, v, t: v.sum().cumsum(0)),
    "a store by a mask writes one value to all elements": (
        lambda x, v, t: operator.setitem(x, MASK, x[:, 0]),
        lambda x, v, t: operator.setitem(x, MASK, x[:1, 0]),
    ),
    "need as many entries": (lambda x, v, t: list(hl.tile([0], [8, 8])), lambda x, v, t: hl.tile([0, 0], [8, 8])),
    "a tile is no bound of a loop": (lambda x, v, t: hl.tile(t), lambda x, v, t: hl.tile(t.begin, t.end)),
    "loop bounds are integers, found 2.0": (lambda x, v, t: hl.tile(2.0), lambda x, v, t: hl.tile(2)),
    "run by a for statement": (lambda x, v, t: list(hl.grid(4)), lambda x, v, t: hl.grid(4)),
    "a device range needs a positive static step": (
        summed(lambda t: (t.begin, t.end, 0)),
        summed(lambda t: (t.begin, t.end, 1)),
    ),
    "needs a positive static step": (
        summed(lambda t: (t.begin, t.end, 1.5)),
        summed(lambda t: (t.begin, t.end, 2)),
    ),
    "a positive static step": (summed(lambda t: (0, t.end, t.id)), summed(lambda t: (t.id, t.end, 1))),
    "lengths are integers": (lambda x, v, t: hl.jagged_tile(v[:, 0]), lambda x, v, t: hl.jagged_tile(v[:, 0].int())),
    "a tile of lengths, found one number": (
        lambda x, v, t: hl.jagged_tile(v.sum().int()),
        lambda x, v, t: hl.jagged_tile(v.sum(1).int()),
    ),
    "must be a plain value": (
        lambda x, v, t: hl.register_tunable("n", v),
        lambda x, v, t: hl.register_tunable("n", 4),
    ),
    "eviction_policy is one of": (
        lambda x, v, t: hl.load(x, [t, 0], eviction_policy="evict_never"),
        lambda x, v, t: hl.load(x, [t, 0], eviction_policy="evict_last"),
    ),
    "a boolean cannot be an index": (lambda x, v, t: x[t, True], lambda x, v, t: x[t, 1]),
    "index 16 is outside a dimension of 16": (lambda x, v, t: x[t, 16], lambda x, v, t: x[t, 15]),
    "index -17 is outside a dimension of 16": (lambda x, v, t: x[t, -17], lambda x, v, t: x[t, -16]),
    "a slice needs static bounds": (lambda x, v, t: x[t.begin : t.end, 0], lambda x, v, t: x[1:5, 0]),
    "cannot be an index": (lambda x, v, t: x[t, v[0]], lambda x, v, t: x[t, v[0].int()]),
    "lane 4 is outside a block of 4": (lambda x, v, t: v[hl.arange(1, 5)], lambda x, v, t: v[hl.arange(1, 4)]),
    "T needs a matrix": (lambda x, v, t: v[None].T, lambda x, v, t: v.T),
    "expected an integer, found": (lambda x, v, t: x[v.sum(), 0], lambda x, v, t: x[v.sum().int(), 0]),
    "expected a tensor or a number": (lambda x, v, t: torch.exp("v"), lambda x, v, t: torch.add(v, 1)),
    "pad adds constants only": (
        lambda x, v, t: F.pad(v, (1, 1), mode="reflect"),
        lambda x, v, t: F.pad(v, (0, 1), mode="constant"),
    ),
    "cannot be multiplied": (lambda x, v, t: v @ v, lambda x, v, t: v @ v.T),
    "operands of rank 1 or more": (lambda x, v, t: torch.matmul(v, v.sum()), lambda x, v, t: torch.matmul(v, v[0])),
    "mean needs a floating-point dtype": (lambda x, v, t: v.int().mean(), lambda x, v, t: v.int().float().mean()),
    "glu halves a dimension of 15": (lambda x, v, t: F.glu(v[:, :15]), lambda x, v, t: F.glu(v[:, :14])),
    "the combining function gives 1 values for 2": (
        combined(lambda a, b, c, d: (a + c,), 2),
        combined(lambda a, b, c, d: (a + c, b + d), 2),
    ),
    "works lane by lane": (combined(lambda a, b: (a + b)[None]), combined(operator.add)),
    "randint needs low below high, found 3 and 3": (
        lambda x, v, t: hl.randint([t], 3, 3, 0),
        lambda x, v, t: hl.randint([t], 3, 4, 0),
    ),
    "torch has no power -1 of integers": (lambda x, v, t: v.int() ** -1, lambda x, v, t: v.int() ** -1.0),
    "torch has no power -2 of integers": (lambda x, v, t: (v > 0) ** -2, lambda x, v, t: v**-2),
    "changes the width": (lambda x, v, t: v.view(torch.int16), lambda x, v, t: v.view(torch.int32)),
    "torch has no 'sub' of booleans": (lambda x, v, t: (v > 0) - (v > 1), lambda x, v, t: (v > 0) ^ (v > 1)),
    "index(es) for a device value of 2 dimensions": (lambda x, v, t: v[0, 0, 0], lambda x, v, t: v[0, 0, None]),
    "cannot index a device value": (lambda x, v, t: v[v[0]], lambda x, v, t: v[hl.arange(2)]),
    "hl.dot_scaled has the formats": (
        lambda x, v, t: scaled(v, "e3m4", 4, 1),
        lambda x, v, t: scaled(v, "e4m3", 4, 1),
    ),
    "'e4m3' in hl.dot_scaled is torch.float8_e4m3fn": (
        lambda x, v, t: hl.dot_scaled(v, ones(4, 1), "e4m3", v, ones(4, 1), "e4m3"),
        lambda x, v, t: scaled(v, "e4m3", 4, 2),
    ),
    "elements do not fall into 3 groups": (
        lambda x, v, t: scaled(v, "e4m3", 4, 3),
        lambda x, v, t: scaled(v, "e4m3", 4, 4),
    ),
    "has no row of scales for each": (
        lambda x, v, t: scaled(v, "e4m3", 3, 1),
        lambda x, v, t: scaled(v, "e4m3", 4, 1),
    ),
    "multiplies matrices with matrices of scales": (
        lambda x, v, t: hl.dot_scaled(bytes_of(v), v, "e4m3", bytes_of(v).T, ones(4, 1), "e4m3"),
        lambda x, v, t: scaled(v, "e4m3", 4, 1),
    ),
}


def ones(*sizes: int) -> torch.Tensor:
    return hl.full(list(sizes), 127, dtype=torch.uint8)


def bytes_of(value: torch.Tensor) -> torch.Tensor:
    return value.to(torch.float8_e4m3fn)


def scaled(value: torch.Tensor, format: str, rows: int, groups: int) -> torch.Tensor:
    return hl.dot_scaled(bytes_of(value), ones(rows, groups), format, bytes_of(value).T, ones(4, groups), format)


@pytest.mark.parametrize("said", CALLS)
def test_one_is_refused_and_one_is_not(said: str) -> None:
    """At import, before any pass runs."""
    refused, taken = CALLS[said]
    with pytest.raises(KoptError) as caught:
        import_kernel(by_rows, (X, refused), {})
    assert said in str(caught.value)
    import_kernel(by_rows, (X, taken), {})
