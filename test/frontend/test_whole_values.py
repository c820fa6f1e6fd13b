"""Functions of whole device values beside torch: results, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl

from .support import reference

torch.manual_seed(5)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randint(-5, 6, shape).float()


N, V, W = torch.tensor(3.0), numbers(4), numbers(4)
A, B, C = numbers(3, 4), numbers(4, 5), numbers(5, 4)
D, E = numbers(2, 3, 4), numbers(2, 4, 5)
PLACES = torch.tensor([[3, 0], [1, 1], [2, 3]])

CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "outer": (torch.outer, (V, numbers(3))),
    "outer by a method": (lambda a, b: a.outer(b), (V, numbers(5))),
    "ger of integers": (torch.ger, (V.int(), W.int())),
    "inner of vectors": (torch.inner, (V, W)),
    "inner of a scalar": (torch.inner, (N, A)),
    "inner by a scalar": (torch.inner, (A, N)),
    "inner of a matrix and a vector": (torch.inner, (A, V)),
    "inner of a vector and a matrix": (torch.inner, (V, A)),
    "inner of matrices": (torch.inner, (A, C)),
    "inner of a batch and a matrix": (torch.inner, (D, C)),
    "inner of a matrix and a batch": (torch.inner, (C, D)),
    "inner of a batch and a vector": (torch.inner, (D, V)),
    "inner of batches": (torch.inner, (D, numbers(3, 2, 4))),
    "a vector and a matrix": (torch.matmul, (V, B)),
    "a matrix and a vector": (torch.matmul, (A, V)),
    "vectors": (torch.matmul, (V, W)),
    "a vector and a batch": (torch.matmul, (V, E)),
    "a batch and a vector": (torch.matmul, (D, V)),
    "a batch and a matrix": (torch.matmul, (D, B)),
    "a matrix and a batch": (torch.matmul, (A, E)),
    "a batch of one": (torch.matmul, (D[:1], E)),
    "batches that broadcast": (torch.matmul, (numbers(2, 1, 3, 4), numbers(5, 4, 2))),
    "addmm": (lambda a, b, c: torch.addmm(c, a, b, beta=0.5, alpha=2.0), (A, B, numbers(3, 5))),
    "addmm of a row": (lambda a, b, c: torch.addmm(c, a, b), (A, B, numbers(5))),
    "addmm of integers": (
        lambda a, b, c: torch.addmm(c, a, b, beta=2, alpha=3),
        (A.int(), B.int(), numbers(3, 5).int()),
    ),
    "linear": (F.linear, (A, C, numbers(5))),
    "linear of one row": (F.linear, (A, V)),
    "gather": (lambda a, p: torch.gather(a, 1, p), (A, PLACES)),
    "gather along the first": (lambda a, p: torch.gather(a, 0, torch.cat([p, p], 1)), (A, PLACES.clamp(max=2))),
    "gather of a scalar": (lambda a, p: torch.gather(a, 0, p), (N, torch.zeros(3, dtype=torch.int64))),
    "gather of nothing": (lambda a, p: torch.gather(a, 1, p[:, 0:0]), (A, PLACES)),
    "take_along_dim": (lambda a, p: torch.take_along_dim(a, p, 1), (A, PLACES)),
    "index_select": (lambda a, p: torch.index_select(a, 1, p), (A, PLACES[0])),
    "index_select of rows": (lambda a, p: a.index_select(0, p), (A, PLACES[1])),
    "index_select of a scalar": (lambda a, p: torch.index_select(a, 0, p), (N, torch.tensor([0]))),
    "movedim": (lambda a: torch.movedim(a, 0, 2), (D,)),
    "movedim to the front": (lambda a: a.movedim(-1, 0), (D,)),
    "movedim from the front": (lambda a: a.movedim(0, -2), (D,)),
    "movedim to itself": (lambda a: a.movedim(1, 1), (D,)),
    "expand_as": (lambda a, b: a.expand_as(b), (V, D)),
    "expand_as of a column": (lambda a, b: a[:, :1].expand_as(b), (A, D)),
    "bits": (lambda a: a.view(torch.int32), (A,)),
    "bits of 16": (lambda a: a.view(torch.int16), (A.half(),)),
    "no other dtype": (lambda a: a.to("cpu"), (A,)),
    "no other dtype of integers": (lambda a: a.to(non_blocking=True), (A.int(),)),
    "full of a flag": (lambda a: torch.full((2, 3), True), (A,)),
    "full of an integer": (lambda a: torch.full((2, 3), 7), (A,)),
    "full of a float": (lambda a: torch.full((2, 3), 0.5), (A,)),
    "a tensor of lists": (lambda a: torch.tensor([[1, 2, 3], [4, 5, 6]]), (A,)),
    "a tensor of floats": (lambda a: torch.tensor([0.5, 1.5]), (A,)),
    "a tensor of flags": (lambda a: torch.tensor([True, False]), (A,)),
    "a tensor of lists in a dtype": (lambda a: torch.tensor([[1, 2], [4, 5]], dtype=torch.float32), (A,)),
    "arange from below 0": (lambda a: torch.arange(-2, 5).long(), (A,)),
    "arange by steps": (lambda a: torch.arange(1, 8, 3).long(), (A,)),
    "cat of nothing": (lambda a: torch.cat([a[:, 0:0], a], 1), (A,)),
    "cat of nothing but dimensions": (lambda a: torch.cat([a[:, 0:0], a[:, 0:0]], 1), (A,)),
    "cat behind nothing": (lambda a: torch.cat([a, a[0:0]], 0), (A,)),
    "pad of nothing": (lambda a: F.pad(a[:, 0:0], (2, 1), value=3.0), (A,)),
    "pad of nothing by rows": (lambda a: F.pad(a[0:0], (0, 0, 1, 2), value=-1.0), (A,)),
    "pad behind": (lambda a: F.pad(a, (0, 2, 1, 0), value=2.0), (A,)),
    "max of all": (torch.max, (A,)),
    "min of all": (lambda a: a.min(), (A,)),
    "max of all integers": (lambda a: a.max(), (D.int(),)),
    "max by a dimension": (lambda a: a.max(0).values, (D,)),
    "max of two": (torch.max, (A, numbers(3, 4))),
    "min of two by name": (lambda a, b: torch.min(a, other=b), (A, numbers(3, 4))),
    "norm 0": (lambda a: torch.norm(a, 0), (A,)),
    "norm 0 of rows": (lambda a: torch.norm(a, 0, dim=1), (A,)),
    "norm 0 of columns": (lambda a: torch.linalg.vector_norm(a, 0, dim=0, keepdim=True), (A,)),
    "norm 0 of half": (lambda a: torch.linalg.vector_norm(a, 0), (A.half(),)),
    "norm 1": (lambda a: torch.norm(a, 1, dim=1), (A,)),
    "norm 3": (lambda a: torch.norm(a, 3), (A,)),
    "norm of the largest": (lambda a: torch.norm(a, float("inf"), dim=0), (A,)),
    "norm of the smallest": (lambda a: torch.norm(a, -float("inf"), dim=0), (A,)),
    "flags to a power": (lambda a: (a > 0) ** 2, (A,)),
    "flags to a power of a float": (lambda a: (a > 0) ** 2.0, (A,)),
    "flags to a fourth power": (lambda a: (a > 0) ** 4, (A,)),
    "fmax of integers": (lambda a, b: torch.fmax(a.int(), b.int()), (A, numbers(3, 4))),
    "topk": (lambda a: torch.topk(a, 2, dim=1).values, (A,)),
    "tensor_split from the end": (lambda a: torch.tensor_split(a, [1, -1], dim=1)[1], (A,)),
    "tensor_split in parts": (lambda a: torch.tensor_split(a, 3, dim=1)[0], (A,)),
    "glu": (lambda a: F.glu(a, 1), (A,)),
    "mean in a dtype": (lambda a: a.int().mean(dtype=torch.float32), (A,)),
}


@pytest.mark.parametrize("name", CASES)
def test_as_torch(name: str) -> None:
    function, given = CASES[name]
    wanted = function(*given)

    def kernel(*arrays):
        out = torch.empty([1, *wanted.shape], dtype=wanted.dtype)
        for i in hl.grid(1):
            found = function(*[one[...] if one.ndim else one[()] for one in arrays])
            assert found.dtype == wanted.dtype and list(found.shape) == list(wanted.shape)
            out[i] = found
        return out

    torch.testing.assert_close(reference(kernel, *given)[0], wanted, atol=1e-5, rtol=1e-5)


FEW = torch.tensor([3, 5, 2])


@pytest.mark.parametrize(
    ("of", "wanted", "tag"),
    [
        (lambda t, n: torch.arange(t.begin, t.begin + 7, 3), lambda b, n: torch.arange(b, b + 7, 3), ""),
        (lambda t, n: torch.arange(t.begin - 2, t.begin + 2), lambda b, n: torch.arange(b - 2, b + 2), "b0"),
        (lambda t, n: hl.arange(t.begin, t.begin + 4), lambda b, n: torch.arange(b, b + 4), "b0"),
        (lambda t, n: hl.arange(t.begin + 1, t.begin + 5), lambda b, n: torch.arange(b + 1, b + 5), "b0"),
        (lambda t, n: hl.arange(t.begin, t.begin + 3), lambda b, n: torch.arange(b, b + 3), ""),
        (lambda t, n: hl.arange(t.end, t.end + 4), lambda b, n: torch.arange(b + 4, b + 8), ""),
        (lambda t, n: hl.arange(t.id * 4, t.id * 4 + 4), lambda b, n: torch.arange(b, b + 4), ""),
        (lambda t, n: torch.fmax(t.begin, n - 3)[None], lambda b, n: torch.tensor([max(b, n - 3)]), ""),
    ],
    ids=range(8),
)
def test_lanes_from_computed_numbers(of: Callable[..., Any], wanted: Callable[..., Any], tag: str) -> None:
    """As many as there are from one to the other; a block's where they are its own."""
    number = int(FEW[1])
    lanes = wanted(4, number)

    def kernel(out, few):
        for t in hl.tile(8, block_size=4):
            found = of(t, few[1])
            assert str(found.dims[0].tag.data) == tag and found.dtype in (torch.int32, torch.int64)
            out[t.id, :] = found
        return out

    found = reference(kernel, torch.zeros(2, len(lanes), dtype=torch.int64), FEW)
    torch.testing.assert_close(found, torch.stack([wanted(begin, number) for begin in (0, 4)]))
