"""What becomes of a kernel's arguments: arrays wherever they stand become parameters, all else stays as it is."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import pytest
import torch

import kopt.language as hl
from test.frontend.support import imported

Pair = namedtuple("Pair", ["left", "right"])


def arrays(count: int) -> list[torch.Tensor]:
    return [torch.zeros(8, dtype=torch.float32) for _ in range(count)]


class Seen(Exception):
    """What the kernel was called with."""


def looked_at(*args: Any) -> tuple[Any, list[tuple[str, tuple[Any, ...]]]]:
    """The arguments as a kernel sees them, and the parameters that were made of them."""
    seen: list[Any] = []

    def kernel(*given):
        seen.extend(given)
        out = torch.empty([8], dtype=torch.float32)
        for i in hl.tile(8):
            out[i] = hl.full([i], 1.0)
        return out

    found = imported(kernel, *args)
    return seen, [(param.name, param.path) for param in found.params]


A, B, C = arrays(3)


@pytest.mark.parametrize(
    ("argument", "names"),
    [
        (A, ["given_0"]),
        ([A, B], ["given_0_0", "given_0_1"]),
        ((A, 3, B), ["given_0_0", "given_0_2"]),
        (Pair(A, B), ["given_0_0", "given_0_1"]),
        (Pair(Pair(A, 1), [B]), ["given_0_0_0", "given_0_1_0"]),
        ({"first": A, "second": [B, C]}, ["given_0_first", "given_0_second_0", "given_0_second_1"]),
        ({"none": None}, []),
        (3, []),
        ("text", []),
        ([], []),
    ],
)
def test_arrays_become_parameters(argument: Any, names: list[str]) -> None:
    (value,), params = looked_at(argument)
    assert [name for name, _ in params] == names
    assert type(value) is (torch.Tensor if isinstance(argument, torch.Tensor) else type(argument)) or not names
    _same(value, argument)


def _same(value: Any, argument: Any) -> None:
    """All but arrays is as it was, in containers of the same kind; arrays have no elements."""
    if isinstance(argument, torch.Tensor):
        assert value is not argument and value.is_meta and value.shape == argument.shape
        return
    assert type(value) is type(argument)
    if isinstance(argument, list | tuple):
        assert len(value) == len(argument)
        for one, other in zip(value, argument, strict=True):
            _same(one, other)
    elif isinstance(argument, dict):
        assert list(value) == list(argument)
        for key in argument:
            _same(value[key], argument[key])
    else:
        assert value == argument


def test_paths_lead_to_arrays() -> None:
    _, params = looked_at({"a": [A, (B,)]}, C)
    assert params == [
        ("given_0_a_0", ("given", 0, "a", 0)),
        ("given_0_a_1_0", ("given", 0, "a", 1, 0)),
        ("given_1", ("given", 1)),
    ]


@pytest.mark.parametrize("name", ["ConstExpr", "constexpr"])
def test_constants_are_what_they_hold(name: str) -> None:
    constant = namedtuple(name, ["value"])
    (value,), params = looked_at(constant(7))
    assert value == 7 and not params


def test_other_classes_of_that_name_are_kept() -> None:
    class ConstExpr:
        """No tuple, and nothing is taken from it."""

    one = ConstExpr()
    (value,), params = looked_at(one)
    assert value is one and not params


def test_one_array_by_two_names_is_one() -> None:
    def kernel(x, y):
        for i in hl.tile(x.size(0)):
            x[i] = x[i] + 1.0
            y[i] = y[i] * 2.0

    same, other = imported(kernel, A, A), imported(kernel, A, B)
    assert len(same.params) == len(other.params) == 2
    assert len(same.mutated) == 1 and len(other.mutated) == 2


def test_dicts_of_other_classes_are_dicts() -> None:
    (value,), params = looked_at(OrderedDict(x=A))
    assert list(value) == ["x"] and [name for name, _ in params] == ["given_0_x"]
