"""Python's own functions of device values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt.language as hl
from kopt.errors import UnsupportedError
from kopt.frontend.state import current

from .support import imported, reference, seen

X = torch.randn(8, 16)


@pytest.mark.parametrize(
    "summed",
    [
        lambda v: sum([v, v * 2]),
        lambda v: sum([v, v * 2], 0),
        lambda v: sum([v, v * 2], 5),
        lambda v: sum([v, v * 2], 0.5),
        lambda v: sum([v, v * 2], v + 1),
        lambda v: sum((1, 2), v),
        lambda v: sum([v], start=-3),
        lambda v: v + sum([]) + sum([2, 3], 4),
    ],
    ids=range(8),
)
def test_sums_of_lists_from_a_start(summed: Callable[[Any], Any]) -> None:
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = summed(x[i, :])
        return out

    torch.testing.assert_close(reference(kernel, X), summed(X))


class Pair:
    """What a kernel asks whether it has something."""

    left = 1


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (lambda x, v, t: isinstance(v, torch.Tensor), True),
        (lambda x, v, t: isinstance(t, torch.Tensor), True),
        (lambda x, v, t: isinstance(v, (int, torch.Tensor)), True),
        (lambda x, v, t: isinstance(v, (int, float)), False),
        (lambda x, v, t: isinstance(v, int), False),
        (lambda x, v, t: isinstance(t.begin, int), True),
        (lambda x, v, t: isinstance(t.begin, (str, int)), True),
        (lambda x, v, t: isinstance(t.begin, torch.Tensor), False),
        (lambda x, v, t: isinstance(3, torch.Tensor), False),
        (lambda x, v, t: isinstance(3, int), True),
        (lambda x, v, t: isinstance("3", (int, str)), True),
        (lambda x, v, t: type(x.size(0)), int),
        (lambda x, v, t: type("A", (), {}).__name__, "A"),
        (lambda x, v, t: type(v).__name__, "DeviceTensor"),
        (lambda x, v, t: hasattr(v, "softmax"), True),  # an operation
        (lambda x, v, t: hasattr(v, "dtype"), True),  # an attribute
        (lambda x, v, t: hasattr(v, "begin"), False),
        (lambda x, v, t: hasattr(t, "begin"), True),
        (lambda x, v, t: hasattr(Pair(), "left"), True),
        (lambda x, v, t: hasattr(Pair(), "softmax"), False),
        (lambda x, v, t: [hl.cdiv(a, 4) for a in (1, 4, 5, 8)], [1, 1, 2, 2]),
        (lambda x, v, t: hl.cdiv(7, 3), 3),
        (lambda x, v, t: [hl.next_power_of_2(n) for n in (1, 2, 3, 5, 8)], [1, 2, 4, 8, 8]),
        (lambda x, v, t: (len(v), len(x), len([1, 2, 3])), (4, 8, 3)),
        (lambda x, v, t: list(range(2, 8, 3)), [2, 5]),
        (lambda x, v, t: (min(3, 2), max([3, 2]), min(3, 2, key=lambda n: -n)), (2, 3, 3)),
        (lambda x, v, t: (abs(-2), round(2.51), round(2.51, 1), pow(2, 5)), (2, 3, 2.5, 32)),
        (lambda x, v, t: (int("12"), float("1.5"), bool([]), int("ff", 16)), (12, 1.5, False, 255)),
    ],
    ids=range(28),
)
def test_what_python_is_told(asked: Callable[..., Any], wanted: object) -> None:
    assert seen(asked) == wanted


@pytest.mark.parametrize(
    ("kind", "wanted"), [(int, torch.int32), (float, torch.float32), (bool, torch.bool)], ids=["int", "float", "bool"]
)
def test_conversions_of_nothing(kind: type, wanted: object) -> None:
    made = seen(lambda x, v, t: kind())
    assert made == kind() and type(made) is kind


@pytest.mark.parametrize(
    ("kind", "wanted"), [(int, torch.int32), (float, torch.float32), (bool, torch.bool)], ids=["int", "float", "bool"]
)
def test_conversions_of_device_values_are_casts(kind: type, wanted: torch.dtype) -> None:
    found = seen(lambda x, v, t: kind(v.sum()))
    assert (found.dtype, found.rank) == (wanted, 0)


@pytest.mark.parametrize(("kind", "wanted"), [(int, 2), (float, 2.5), (bool, True)], ids=["int", "float", "bool"])
def test_conversions_of_host_tensors_read_them(kind: type, wanted: object) -> None:
    found = seen(lambda x, v, t, number: kind(number), X, torch.tensor([2.5]))
    assert found == wanted and type(found) is kind


def test_the_next_power_of_two_of_a_device_number() -> None:
    with pytest.raises(UnsupportedError, match="next_power_of_2 needs a number that is known"):
        seen(lambda x, v, t: hl.next_power_of_2(t.begin))


def test_sizes_and_their_powers_of_two_are_remembered() -> None:
    """Lanes of 3 and of 4 meet; those of 4 alone are as they are."""
    assert seen(lambda x, v, t: (hl.next_power_of_2(3), hl.next_power_of_2(4), current().powers_of_two))[2] == {(3, 4)}


def printing(x, file):
    print("rows", 2, sep="-", end=";", file=file)
    for tile in hl.tile(x.size(0), block_size=4):
        print("rows", x[tile, :], 3, sep="|", file=file)
        x[tile, :] = 0


class Paper:
    """A file to write to, no iterator."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


def test_printing_into_a_file_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["rows-2;", "rows|a device tensor [b0=4 x 16] of torch.float32|3\n"]
    stdout, other = Paper(), Paper()
    monkeypatch.setattr(sys, "stdout", stdout)
    assert imported(printing, X, other).printed == [] and other.text == "".join(texts)
    assert imported(printing, X, None).printed == texts
    assert imported(printing, X, stdout).printed == texts
    assert stdout.text == ""
