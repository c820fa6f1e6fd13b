"""What kernels call that is not the language's: names that are told, objects that are not looked into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt.language as hl
from kopt.errors import KoptError, UnsupportedError
from kopt.frontend import import_kernel
from kopt.frontend.foreign import torch_name
from kopt.frontend.meanings import meaning
from kopt.frontend.registration import register_all
from kopt.frontend.state import current
from kopt.frontend.undefined import Undefined

from .support import seen, seen_before

X = torch.randn(8, 16)


@pytest.fixture(autouse=True)
def registered() -> None:
    register_all()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("exp", "torch.exp"),
        ("softplus", "torch.nn.functional.softplus"),
        ("logsumexp", "torch.logsumexp"),
        ("element_size", "x.element_size"),
        ("concatenate", "torch.cat"),
        ("dot", "torch.matmul"),  # by what it means there
        ("program_id", "hl.tile: its tiles have an id"),
        ("tile_index", "hl.tile_index"),
        ("nowhere", None),
    ],
)
def test_names_in_torch(name: str, wanted: str | None) -> None:
    assert torch_name(name) == wanted


class Equal:
    """What is called and compared, and has no hash."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # pyright: ignore

    def __call__(self, value: Any) -> Any:
        return value + 1


def test_objects_without_a_hash_mean_nothing_special() -> None:
    assert meaning(Equal()) is None and meaning([]) is None
    assert meaning(len) is not None and meaning(hl.zeros) is not None and meaning(seen) is None
    assert seen(lambda x, v, t: Equal()(v).shape, X) == (4, 16)
    assert seen_before(lambda: Equal()(2)) == 3


def test_values_outside_of_imports() -> None:
    with pytest.raises(UnsupportedError, match="a value of a kernel is used outside of its import") as caught:
        current()
    assert "[outside-device-loop]" in str(caught.value) and "kopt.kernel" in str(caught.value)
    value = seen(lambda x, v, t: v, X)
    with pytest.raises(UnsupportedError, match="outside of its import"):
        value + 1


UNSEEN = torch.empty(16, device="meta")


def of_no_operator(x):
    for i in hl.tile(8, block_size=4):
        x[i, :] = UNSEEN[:]


def test_tensors_that_nobody_made() -> None:
    with pytest.raises(KoptError, match="a tensor made by an operator that kopt does not see is used in a kernel"):
        import_kernel(of_no_operator, (X,), {})


@pytest.mark.parametrize(
    "of",
    [
        lambda u: torch.exp(u),
        lambda u: torch.add(1, u),
        lambda u: torch.add(X, other=u),
        lambda u: torch.stack([X, u]),
        lambda u: torch.exp(input=u),
        lambda u: u + 1,
        lambda u: 1 - u,
        lambda u: u[0],
        lambda u: u.shape,
        lambda u: u(),
        lambda u: bool(u),
        lambda u: len(u),
        lambda u: [*u],
        lambda u: float(u),
    ],
    ids=range(14),
)
def test_names_without_a_value(of: Callable[[Any], object]) -> None:
    with pytest.raises(UnsupportedError, match="'total' has no value here: nobody gave it one"):
        of(Undefined("total", "nobody gave it one"))
