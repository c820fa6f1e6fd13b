"""Numbers of tensors that a kernel makes on the host, read while it is imported."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import kopt.language as hl
from kopt.errors import KoptError
from kopt.frontend.host import to_torch
from kopt.specs import parse_spec

from .support import reference, seen_before

X = torch.randn(8, 16)
MADE = {
    "full": lambda: torch.full((), 3),
    "ones": lambda: torch.ones([2, 2], dtype=torch.int32).sum() - 1,
    "zeros": lambda: torch.zeros([2])[0] + 3,
    "arange": lambda: torch.arange(5)[3],
}


def scaled(make):
    def kernel(x):
        by = make().item()
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = x[i, :] * by
        return out

    return kernel


@pytest.mark.parametrize("name", MADE)
def test_what_is_filled_is_known(name: str) -> None:
    torch.testing.assert_close(reference(scaled(MADE[name]), X), X * 3)


def test_what_is_empty_is_not() -> None:
    with pytest.raises(KoptError):
        reference(scaled(lambda: torch.empty(())), X)


ONE = torch.tensor([2.0])


@pytest.mark.parametrize(
    ("of", "args"),
    [
        (torch.equal, (X, X.clone())),
        (torch.equal, (X, X + 1)),
        (torch.equal, (X, X[:2])),
        (torch.equal, (X[:1], X[0])),
        (torch.equal, (ONE, ONE + 1)),
        (torch.equal, (ONE * 0, ONE * 0)),
        (torch.equal, (ONE, ONE.int())),
        (lambda x: x.equal(ONE), (ONE.clone(),)),
        (torch.is_nonzero, (ONE,)),
        (lambda x: (x * 0).is_nonzero(), (ONE,)),
        (lambda x: x.sum().item() > 0, (X,)),
        (lambda x: bool(x.sum() > 0), (X,)),
        (lambda x: int(x[0] * 2.6), (ONE,)),
        (lambda x: x.tolist(), (X[0],)),
    ],
    ids=range(14),
)
def test_what_is_read(of: Callable[..., object], args: tuple[torch.Tensor, ...]) -> None:
    wanted, found = of(*args), seen_before(of, *args)
    assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize(
    "of",
    [
        lambda x: x.unbind(1)[2],
        lambda x: torch.unbind(x, dim=-1)[3],
        lambda x: x.unbind()[-1],
        lambda x: torch.cat(x.reshape(2, 4, 16).unbind(1)[1:3]),
        lambda x: x.view(torch.int32),
        lambda x: x.half().view(torch.int16),
        lambda x: x.chunk(3, 1)[2],
        lambda x: x.split(5, dim=-1)[1],
        lambda x: torch.zeros(8, 16).copy_(x[0]),
        lambda x: torch.zeros(8, 16).copy_(x[:, :1]),
        lambda x: torch.zeros(8, 16).fill_(x[0, 0]),
        lambda x: torch.zeros(3).fill_(2.5),
        lambda x: torch.zeros(3, dtype=torch.bool).fill_(2),
        lambda x: torch.ones(3).zero_(),
        lambda x: x.new_full((2, 3), 7),
        lambda x: torch.full((2,), 3, dtype=torch.bool),
        lambda x: x[[2, 0, 2]],
        lambda x: x[[2, 0], [1, 3]],
        lambda x: x.clone().index_put_((torch.tensor([0, 1]),), torch.tensor(3.0)),
        lambda x: x.T[3:9:2],
        lambda x: x[-3:, 2],
        lambda x: x.expand(2, 8, 16).select(0, 1),
    ],
    ids=range(22),
)
def test_what_the_host_computes(of: Callable[[torch.Tensor], torch.Tensor]) -> None:
    found, wanted = reference(of, X.clone()), of(X.clone())
    assert found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted)


def assigned(x, row):
    x[[0, 3]] = 1.5
    x[1] = row
    x[2:4, 0] = row[0]
    return x


def test_elements_that_the_host_assigns() -> None:
    """Before loops, by lists of numbers too."""
    x, row = X.clone(), torch.randn(16)
    got = reference(assigned, x, row)
    wanted = assigned(X.clone(), row)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(x, wanted)


def test_specs_have_no_elements_to_read() -> None:
    with pytest.raises(KoptError, match="reading a tensor's data needs real tensors, not specs"):
        seen_before(lambda x: x.sum().item(), parse_spec("f32[8,16]"))


def bf16_of_jax() -> object:
    import jax.numpy

    return jax.numpy.array([1.5, 2.0], dtype="bfloat16")


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor([1.5, 2.0], requires_grad=True),
        lambda: np.array([1.5, 2.0], dtype=np.float64),
        lambda: np.arange(6)[::2],
        lambda: [1, 2],
        bf16_of_jax,
    ],
    ids=["torch", "f64", "strided", "list", "bf16 of jax"],
)
def test_arrays_of_frameworks_as_torchs(make: Callable[[], object]) -> None:
    """A copy where it is not torch's own, in the same dtype."""
    array = make()
    found = to_torch(array)
    own = np.asarray(array.detach()) if isinstance(array, torch.Tensor) else np.asarray(array)
    assert not found.requires_grad
    assert str(found.dtype) == f"torch.{own.dtype.name}" and found.tolist() == own.astype(np.float64).tolist()
