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

from .support import seen_before

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
    "reductions do not take out": (lambda x, v, t: v.sum(1, out=v), lambda x, v, t: v.sum(axis=1, keepdims=True)),
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
    "a device value is no Python integer": (
        lambda x, v, t: operator.index(t.begin),
        lambda x, v, t: operator.index(t.block_size),
    ),
    "a device value is no Python float": (lambda x, v, t: f"{v.sum():f}", lambda x, v, t: f"{v.size(1):f}"),
    "dtype torch.complex64 is not supported": (
        lambda x, v, t: hl.zeros([t], dtype=torch.complex64),
        lambda x, v, t: hl.zeros([t], dtype=torch.float64),
    ),
    "a device value cannot index list": (lambda x, v, t: [1, 2][t.begin], lambda x, v, t: [1, 2][0]),
    "a slice needs a positive step": (lambda x, v, t: x[t, ::-1], lambda x, v, t: x[t, ::2]),
    "use flip on the loaded value": (lambda x, v, t: v[:, ::-2], lambda x, v, t: v[:, ::2]),
    "str cannot be an index": (lambda x, v, t: x[t, "a"], lambda x, v, t: x[t, None, 0]),
    "use integers, or hl.load with extra_mask": (lambda x, v, t: x[t, v[0, :4]], lambda x, v, t: x[t, v[0, :4].int()]),
    "a slice with computed bounds beside an index tensor of several dimensions": (
        lambda x, v, t: x[t.begin : t.begin + 2, v.int()],
        lambda x, v, t: x[t.begin : t.begin + 2, v[0].int()],
    ),
    "hl.inline_triton's text is no Python": (
        lambda x, v, t: hl.inline_triton("{0} +", (v,), v),
        lambda x, v, t: hl.inline_triton("{0} + 1", (v,), v),
    ),
    "hl.inline_triton's text must end in an expression": (
        lambda x, v, t: hl.inline_triton("y = {0}", (v,), v),
        lambda x, v, t: hl.inline_triton("y = {0}", (v,), None),
    ),
    "output_like is a device tensor, several, or None": (
        lambda x, v, t: hl.inline_triton("{0}, 1", (v,), (v, 1)),
        lambda x, v, t: hl.inline_triton("{0}, {0}", (v,), [v, v]),
    ),
    "cannot be given to Triton code": (
        lambda x, v, t: hl.inline_triton("{0}", (x,), v),
        lambda x, v, t: hl.inline_triton("{0} + {1}", (v, 2), v),
    ),
    "begin, end and block_size need as many entries, found 1, 2, 2": (
        lambda x, v, t: hl.tile([0], [8, 8], [2, 2]),
        lambda x, v, t: hl.tile([0, 1], [8, 8], [2, 2]),
    ),
    "begin, end and step need as many entries, found 1, 1, 2": (
        lambda x, v, t: hl.grid(8, step=[1, 2]),
        lambda x, v, t: hl.grid(8, step=[2]),
    ),
    "a block size is a positive number": (
        lambda x, v, t: hl.tile(8, block_size=0),
        lambda x, v, t: hl.tile(8, block_size=1),
    ),
    "positive number known while the kernel is imported": (
        lambda x, v, t: hl.tile(8, block_size=t.begin),
        lambda x, v, t: hl.tile(8, block_size=t),
    ),
    "hl.static_range needs bounds": (
        lambda x, v, t: hl.static_range(t.begin),
        lambda x, v, t: hl.static_range(t.block_size),
    ),
    "use hl.grid": (lambda x, v, t: hl.static_range(0, 4, t.id), lambda x, v, t: hl.static_range(0, 4, 2)),
    "hl.arange has a length that is known": (lambda x, v, t: hl.arange(t.begin), lambda x, v, t: hl.arange(t)),
    "arange needs a positive step": (
        lambda x, v, t: torch.arange(8, 0, -1),
        lambda x, v, t: torch.arange(0, 8, 1),
    ),
    "positive step that is known while the kernel is imported": (
        lambda x, v, t: torch.arange(0, 8, 0.5),
        lambda x, v, t: torch.arange(0, 8, step=2),
    ),
    "hl.load needs a host tensor": (lambda x, v, t: hl.load(v, [0]), lambda x, v, t: hl.load(x, [t, 0])),
    "hl.store needs a host tensor": (lambda x, v, t: hl.store(v, [0], 1), lambda x, v, t: hl.store(x, [t, 0], 1)),
    "hl.split needs a last dimension of 2": (
        lambda x, v, t: hl.split(v),
        lambda x, v, t: hl.split(v.reshape(4, 8, 2)),
    ),
    "hl.barrier inside a device loop is not supported": (lambda x, v, t: hl.barrier(), lambda x, v, t: None),
    "hl.tile_begin needs a tile": (lambda x, v, t: hl.tile_begin(t.begin), lambda x, v, t: hl.tile_begin(t)),
    "hl.breakpoint is not supported yet": (lambda x, v, t: hl.breakpoint(), lambda x, v, t: hl.device_print("v", v)),
    "is used as a device value": (lambda x, v, t: v + x, lambda x, v, t: v + x[t, :]),
    "lanes of a tensor are combined along one of its dimensions": (
        lambda x, v, t: hl.reduce(torch.add, v.sum(), dim=0),
        lambda x, v, t: hl.reduce(torch.add, v, dim=0),
    ),
    "bitwise operations need integers or booleans, found torch.float32": (
        lambda x, v, t: v & v,
        lambda x, v, t: v.int() & v.int(),
    ),
    "gather needs an index tensor of the input's rank": (
        lambda x, v, t: torch.gather(v, 1, v[0].long()),
        lambda x, v, t: torch.gather(v, 1, v.long()),
    ),
    "einsum 'ij,...->ij' is not supported": (
        lambda x, v, t: torch.einsum("ij,...->ij", v, v.sum()),
        lambda x, v, t: torch.einsum("ij->ij", v),
    ),
    "einsum 'ii->i' is not supported": (
        lambda x, v, t: torch.einsum("ii->i", v[:, :4]),
        lambda x, v, t: torch.einsum("ij->i", v[:, :4]),
    ),
    "einsum 'ij,jk->ik' is not supported": (
        lambda x, v, t: torch.einsum("ij,jk->ik", v),
        lambda x, v, t: torch.einsum("ij,jk->ik", v, v.T),
    ),
    "einsum 'i->i' is not supported": (
        lambda x, v, t: torch.einsum("i->i", v),
        lambda x, v, t: torch.einsum("i->i", v[0]),
    ),
    "dropout takes a probability from 0 to 1": (
        lambda x, v, t: F.dropout(v, 1.5),
        lambda x, v, t: F.dropout(v, 1.0),
    ),
    "a probability from 0 to 1 that is known": (
        lambda x, v, t: F.dropout(v, v.sum()),
        lambda x, v, t: F.dropout(v, 0.5),
    ),
    "a size must be known while the kernel is imported": (
        lambda x, v, t: hl.zeros([t.begin]),
        lambda x, v, t: hl.zeros([t]),
    ),
    "cannot be reshaped to sizes that are not known": (
        lambda x, v, t: v.reshape(-1, -1),
        lambda x, v, t: v.reshape(-1, 4),
    ),
    "to sizes that are not known while the kernel is imported": (
        lambda x, v, t: v.reshape(t.id, 4),
        lambda x, v, t: v.reshape(t.block_size, 16),
    ),
    "a remote copy copies host tensors in a device loop, found a device tensor": (
        lambda x, v, t: hl.make_async_remote_copy(v, [0], 1),
        lambda x, v, t: hl.make_async_remote_copy(x, [0], 1),
    ),
    "the index of a remote copy picks elements": (
        lambda x, v, t: hl.make_async_remote_copy(x, t, 1),
        lambda x, v, t: hl.make_async_remote_copy(x, t.begin, 1),
    ),
    "picks elements of leading dimensions": (
        lambda x, v, t: hl.make_async_remote_copy(x, [0, 1, 2], 1),
        lambda x, v, t: hl.make_async_remote_copy(x, [0, 1], 1),
    ),
    "use tile.begin for a tile": (
        lambda x, v, t: hl.make_async_remote_copy(x, [slice(0, 2)], 1),
        lambda x, v, t: hl.make_async_remote_copy(x, [2], 1, x, 3),
    ),
    "a remote copy copies regions of one shape, found [16] and []": (
        lambda x, v, t: hl.make_async_remote_copy(x, [0], 1, x, [0, 1]),
        lambda x, v, t: hl.make_async_remote_copy(x, [0], 1, x, [1]),
    ),
    "a remote copy keeps the dtype, found torch.float32 and torch.bool": (
        lambda x, v, t: hl.make_async_remote_copy(x, [0], 1, MASK, [0]),
        lambda x, v, t: hl.make_async_remote_copy(MASK, [0], 1),
    ),
    "hl.remote_barrier takes a rank, a list of ranks, or a row": (
        lambda x, v, t: hl.remote_barrier(v.int()),
        lambda x, v, t: hl.remote_barrier(t.begin),
    ),
    "a list of ranks, or a row of a host tensor": (
        lambda x, v, t: hl.remote_barrier(v[0].int()),
        lambda x, v, t: hl.remote_barrier([0, 1]),
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


BEFORE: dict[str, Callable[[torch.Tensor], Any]] = {
    "hl.load works inside device loops": lambda x: hl.load(x, [0, 0]),
    "hl.store works inside device loops": lambda x: hl.store(x, [0, 0], 1),
    "hl.remote_barrier works inside device loops": lambda x: hl.remote_barrier([0]),
    "a remote copy copies host tensors in a device loop, found a host tensor": lambda x: hl.make_async_remote_copy(
        x, [0], 1
    ),
    "random numbers by seed are made inside device loops": lambda x: hl.rand([8], 0),
    "hl.atomic_add works inside device loops": lambda x: hl.atomic_add(x, [0, 0], 1),
    "the in-place operator aten.fill_diagonal_.default is not supported": lambda x: x.fill_diagonal_(2.0),
    "a kernel is made of a Python function, found int": lambda x: import_kernel(3, (x,), {}),
}


@pytest.mark.parametrize("said", BEFORE)
def test_what_is_refused_before_loops(said: str) -> None:
    with pytest.raises(KoptError) as caught:
        seen_before(BEFORE[said], X.clone())
    assert said in str(caught.value)


#: Of a tile of 4 of 10 rows: the last has 2.
RAGGED: dict[str, tuple[Call, Call]] = {
    "the last block has fewer lanes than this size says": (
        lambda x, v, t: hl.zeros([v.size(0) * 2]),
        lambda x, v, t: hl.zeros([v.size(0)]),
    ),
    "no dimension of a loop tells which": (
        lambda x, v, t: hl.zeros([v.size(0) + 1]),
        lambda x, v, t: hl.zeros([v.size(1) + 1]),
    ),
    "has fewer lanes in the last block than the sizes that it goes to": (
        lambda x, v, t: v.expand(4, 16),
        lambda x, v, t: v.expand(-1, 16),
    ),
    "give -1 or the tile for a dimension that stays as it is": (
        lambda x, v, t: v[:, 0].expand(2, 4),
        lambda x, v, t: v[:, 0].expand(2, t),
    ),
    "the number of parts of dimension 0": (lambda x, v, t: v.split(2, 0), lambda x, v, t: v.split(4, 0)),
    "the number of parts": (lambda x, v, t: v.split([2, 2], 0), lambda x, v, t: (v.split([4]), v.split((4,)))),
    "a cut counted from the end of dimension 0": (
        lambda x, v, t: torch.tensor_split(v, [1, -1], 0),
        lambda x, v, t: (torch.tensor_split(v, [1, 3], 0), torch.tensor_split(v, [1, -1], 1)),
    ),
    "a slice counted from the end of dimension 0": (
        lambda x, v, t: v[:-1],
        lambda x, v, t: (v[:, :-1], v[:1], v[0:]),
    ),
    "a slice counted from the end": (lambda x, v, t: v[-1:], lambda x, v, t: v[:, -1:]),
    "a number of lanes that follows from the size of a block": (
        lambda x, v, t: torch.topk(v, v.size(0), dim=1),
        lambda x, v, t: torch.topk(v, v.size(0), dim=0),
    ),
    "the number of lanes of dimension 0": (lambda x, v, t: v.unbind(0), lambda x, v, t: v.unbind(1)),
}


@pytest.mark.parametrize("said", RAGGED)
def test_one_is_refused_of_a_short_last_block(said: str) -> None:
    refused, taken = RAGGED[said]
    with pytest.raises(KoptError) as caught:
        import_kernel(by_rows, (torch.zeros(10, 16), refused), {})
    assert said in str(caught.value)
    import_kernel(by_rows, (torch.zeros(10, 16), taken), {})
    import_kernel(by_rows, (X, refused), {})
