"""`mismatch` beside torch: what it finds wrong torch refuses, and what torch takes it does not find wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from kopt.frontend.torch_signatures import mismatch

X, B = torch.randn(4, 4), torch.ones(4, 4, dtype=torch.bool)
RIGHT: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (torch.exp, (X,), {}),
    (torch.exp, (), {"input": X}),
    (torch.sum, (X,), {"axis": 0, "keepdims": True}),
    (torch.sum, (X, [0, 1]), {"dtype": torch.float64}),
    (torch.softmax, (X, 1), {}),
    (F.softmax, (X,), {"dim": -1, "dtype": torch.float64}),
    (torch.where, (B, X, 0.0), {}),
    (torch.where, (B,), {}),
    (torch.clamp, (X,), {"max": 1}),
    (torch.maximum, (), {"input": X, "other": X}),
    (torch.zeros, (2, 3), {"dtype": torch.int32, "requires_grad": False}),
    (torch.full, ((2, 3), 1.0), {"device": "cpu"}),
    (torch.Tensor.permute, (X, 1, 0), {}),
    (torch.Tensor.view, (X, 2, 8), {}),
    (torch.Tensor.where, (X, B, X), {}),
    (torch.cat, ([X, X],), {"axis": 1}),
    (torch.special.expit, (X,), {}),
    (F.layer_norm, (X, (4,)), {"eps": 1e-6}),
    (torch.einsum, ("ij,jk->ik", X, X), {}),
]
WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    (torch.exp, (X,), {"foo": 1}, "exp takes no 'foo'"),
    (torch.exp, (), {}, "exp needs 'input'"),
    (torch.sum, (X,), {"dims": 0}, "sum takes no 'dims'; did you mean 'dim'?"),
    (torch.softmax, (X,), {}, "softmax needs 'dim'"),
    (torch.Tensor.cumsum, (X,), {}, "cumsum needs 'dim'"),
    (F.softmax, (X,), {"dimm": 1}, "softmax takes no 'dimm'; did you mean 'dim'?"),
    (F.layer_norm, (X,), {}, "layer_norm: missing a required argument: 'normalized_shape'"),
    (torch.where, (B, X), {}, "where needs 'other'"),
    (torch.clamp, (X, 0, 1, 2, 3), {}, "clamp takes 3 arguments at most, found 5"),
    (torch.full, ((2, 3), 1.0), {"dtpe": torch.int32}, "full takes no 'dtpe'; did you mean 'dtype'?"),
    (torch.Tensor.gather, (X, 0), {"idx": B}, "gather takes no 'idx'; did you mean 'index'?"),
]


def _name(function: Callable[..., Any]) -> str:
    return function.__name__


@pytest.mark.parametrize(
    ("function", "args", "kwargs"), RIGHT, ids=[f"{_name(f)}-{n}" for n, (f, *_) in enumerate(RIGHT)]
)
def test_what_torch_takes(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    function(*args, **kwargs)
    assert mismatch(function, _name(function), args, kwargs) is None


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "said"), WRONG, ids=[f"{_name(f)}-{n}" for n, (f, *_) in enumerate(WRONG)]
)
def test_what_torch_refuses(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError):
        function(*args, **kwargs)
    assert mismatch(function, _name(function), args, kwargs) == said


def test_what_has_no_schema_is_not_checked() -> None:
    assert mismatch(torch.Tensor.numpy, "numpy", (X,), {"anything": 1}) is None


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "said"),
    [
        (lambda x, **others: 0, (1,), {"any": 1}, None),
        (lambda x, **others: 0, (1, 2, 3), {}, None),  # what passes everything on tells nothing
        (lambda x, *others: 0, (1, 2, 3), {}, None),
        (lambda x, *others: 0, (1, 2, 3), {"any": 1}, "f takes no 'any'"),
        (lambda x: 0, (1, 2), {}, "f: too many positional arguments"),
        (lambda x, y=1: 0, (), {"y": 1}, "f: missing a required argument: 'x'"),
    ],
    ids=range(6),
)
def test_functions_of_python(function, args: tuple, kwargs: dict, said: str | None) -> None:
    assert mismatch(function, "f", args, kwargs) == said
