"""What arguments may be: each array whose elements cannot be read, or written, is refused by name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, ConfigError
from kopt.runtime.admission import overlaps_itself
from kopt.specs import TensorSpec, parse_spec

X = torch.arange(12.0).reshape(3, 4)
J = jnp.arange(12.0).reshape(3, 4)
TARGETS = ["reference", "pallas:interpret"]


@kopt.kernel
def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


@kopt.kernel
def add_into(
    out,
    x,
):
    for rows in hl.tile(x.size(0)):
        out[rows, :] += x[rows, :]


@kopt.kernel
def total(items, scale):
    out = torch.empty_like(items[0])
    for rows in hl.tile(out.size(0)):
        out[rows, :] = (items[0][rows, :] + items[1][rows, :]) * scale
    return out


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError("a kernel must not compute with it")


class Named(torch.Tensor):
    pass


def freed() -> torch.Tensor:
    tensor = torch.ones(3, 4)
    tensor.untyped_storage().resize_(0)
    return tensor


def deleted() -> jax.Array:
    array = jnp.ones((3, 4))
    array.delete()
    return array


REFUSED: dict[str, tuple[Callable[[], Any], str, str]] = {
    "coo": (X.to_sparse, "not dense", "x.to_dense()"),
    "csr": (X.to_sparse_csr, "not dense", "x.to_dense()"),
    "mkldnn": (X.to_mkldnn, "not dense", "x.to_dense()"),
    "nested": (lambda: torch.nested.nested_tensor([X, X[:2]]), "a nested tensor", "x.values()"),
    "jagged": (lambda: torch.nested.nested_tensor([X, X[:2]], layout=torch.jagged), "a nested tensor", "x.offsets()"),
    "quantized": (lambda: torch.quantize_per_tensor(X, 0.1, 0, torch.qint8), "quantized", "x.dequantize()"),
    "complex": (lambda: X + 1j, "dtype complex64 is not supported", "view_as_real"),
    "masked": (lambda: torch.masked.masked_tensor(X, X > 3), "a MaskedTensor", "x.get_data()"),
    "negated": (lambda: torch._neg_view(X), "negated only when", "x.resolve_neg()"),
    "zeros": (lambda: torch._efficientzerotensor((3, 4)), "in no memory", "x.clone()"),
    "meta": (lambda: X.to("meta"), "a meta tensor", "lower() takes"),
    "lazy": (lambda: torch.nn.UninitializedParameter(requires_grad=False), "without a shape", "initialise"),
    "freed": (freed, "larger than its storage", "has its memory"),
    "numpy masked": (lambda: np.ma.array(X.numpy(), mask=X.numpy() > 3), "a masked array", "x.filled"),
    "byte order": (lambda: X.numpy().astype(">f4"), "dtype >f4 is not supported", "byte order"),
    "records": (lambda: np.zeros((3, 4), [("a", "f4")]), "is not supported", "dtypes: "),
    "objects": (lambda: np.zeros((3, 4), object), "dtype object is not supported", "dtypes: "),
    "deleted": (deleted, "deleted", "has its memory"),
    "jax complex": (lambda: J + 1j, "dtype complex64 is not supported", "x.real"),
    "jax key": (lambda: jax.random.key(0), "dtype key<fry> is not supported", "key_data"),
    "jax reference": (lambda: jax.new_ref(J), "a mutable reference", "x[...]"),
    "jax spec": (lambda: jax.ShapeDtypeStruct((3, 4), jnp.float32), "a spec", "lower() takes"),
    "spec": (lambda: parse_spec("f32[3,4]"), "a spec", "lower() takes"),
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("make", "found", "advice"), REFUSED.values(), ids=REFUSED)
def test_arrays_without_plain_elements_are_refused(make, found, advice, target):
    with pytest.raises(ArgumentError) as caught:
        doubled.on(target)(make())
    text = str(caught.value)
    assert "argument 'x'" in text and found in text and advice in text
    place = caught.value.location
    assert place is not None and (place.file, place.line) == (__file__, doubled.fn.__code__.co_firstlineno + 1)


COMPILED: dict[str, tuple[Callable[[], Any], str, str]] = {
    "wrapper": (lambda: Wrapper(X), "a Wrapper, a tensor class", "the plain tensor"),
    "grad": (lambda: X.clone().requires_grad_(), "requires grad", "x.detach()"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("make", "found", "advice"), COMPILED.values(), ids=COMPILED)
def test_what_only_operators_take_is_refused_by_what_is_compiled(make, found, advice, target):
    with pytest.raises(ArgumentError) as caught:
        doubled.lower(X, target=target).compile()(make())
    assert "argument 'x'" in (text := str(caught.value)) and found in text and advice in text


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_arrays_in_tuples_and_closures_are_found():
    with pytest.raises(ArgumentError, match="argument 'items_1' is not dense"):
        total.on("reference")((X, X.to_sparse()), 2.0)
    hidden = X.to_sparse()

    @kopt.kernel(target="reference")
    def closes(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = x[rows, :] + hidden[rows, :]
        return out

    with pytest.raises(kopt.KoptError) as caught:
        closes(X)
    assert caught.value.location is not None


ACCEPTED: dict[str, Callable[[], Any]] = {
    "a subclass without operators of its own": lambda: X.as_subclass(Named),
    "a parameter": lambda: torch.nn.Parameter(X, requires_grad=False),
    "a buffer": lambda: torch.nn.Buffer(X),
    "expanded": lambda: torch.arange(4.0).expand(3, 4),
    "overlapping": lambda: torch.arange(20.0).as_strided((3, 4), (2, 1)),
    "transposed": lambda: torch.arange(12.0).reshape(4, 3).T,
    "inference": lambda: torch.inference_mode()(X.clone)(),
    "read-only": lambda: np.broadcast_to(np.arange(4, dtype=np.float32), (3, 4)),
    "backwards": lambda: X.numpy()[::-1],
    "unaligned": lambda: np.frombuffer(bytes(49), np.uint8)[1:].view(np.float32).reshape(3, 4),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("make", ACCEPTED.values(), ids=ACCEPTED)
def test_unusual_arrays_that_are_plain(make, target):
    value = make()
    np.testing.assert_array_equal(np.asarray(doubled.on(target)(value)), np.asarray(value) * 2)


def inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(3, 4)


UNWRITABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "expanded": (lambda: torch.ones(1, 4).expand(3, 4), "at one address"),
    "as_strided": (lambda: torch.ones(20).as_strided((3, 4), (2, 1)), "at one address"),
    "inference": (inference, "an inference tensor"),
    "read-only": (lambda: np.broadcast_to(np.float32(1), (3, 4)), "read-only"),
    "numpy strides": (
        lambda: np.lib.stride_tricks.as_strided(np.ones(20, np.float32), (3, 4), (8, 4)),
        "at one address",
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("make", "found"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_cannot_be_written_is_refused(make, found, target):
    out = make()
    before = out.tolist()
    x = X if isinstance(out, torch.Tensor) else X.numpy()
    with pytest.raises(ArgumentError, match=rf"argument 'out' is written, and it is .*{found}") as caught:
        add_into.on(target)(out, x)
    assert out.tolist() == before
    assert caught.value.location.line == add_into.fn.__code__.co_firstlineno + 2


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6)), max_size=3))
def test_overlaps_are_found(dims):
    """As counting the addresses of all elements finds them."""
    addresses = [
        sum(i * s for i, (_, s) in zip(index, dims, strict=True))
        for index in itertools.product(*(range(n) for n, _ in dims))
    ]
    wanted = len(set(addresses)) < len(addresses)
    assert overlaps_itself(tuple(n for n, _ in dims), tuple(s for _, s in dims)) == wanted


@pytest.mark.parametrize(
    "text", ["f32[10000000000000000000000]", "f32[-3,4]", "i8[9223372036854775808]", "f32[10000000000,10000000000]",
             "f64[2305843009213693952]", "f32[1 0]", "f32[2.5]", "f32[x]", "f32[" + "9" * 5000 + "]"],
)  # fmt: skip
def test_specs_that_no_array_has(text):
    with pytest.raises(ArgumentError) as caught:
        doubled.lower(text, target="reference")
    assert caught.value.location is not None and len(caught.value.message) < 200


def test_specs_of_negative_extents():
    with pytest.raises(ArgumentError, match="no negative extents"):
        TensorSpec((2, -1), parse_spec("f32[]").dtype)


def test_texts_that_are_no_specs_stay_texts():
    @kopt.kernel
    def chosen(x, how):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = x[rows, :] * (2 if how == "by[two]" else 3)
        return out

    assert "2.0" in chosen.lower("f32[3,4]", "by[two]", target="reference").ir


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90", "triton:gfx942"])
def test_chips_that_are_not_here_say_how_to_go_on(target, monkeypatch):
    monkeypatch.setattr("kopt.runtime.devices._is_here", lambda target: False)
    for call in (doubled.on(target), doubled.lower(X, target=target).compile()):
        with pytest.raises(ConfigError, match=rf"target '{target}' runs on a [TG]PU(.|\n)*\.report\(\)") as caught:
            call(X)
        assert caught.value.location is not None


@pytest.mark.parametrize("target", [3, b"x", "", "pallas:v99", ["reference"]])
def test_targets_that_are_none(target):
    with pytest.raises(ConfigError, match="unknown target"):
        doubled.lower(X, target=target)


@pytest.mark.parametrize("target", [*TARGETS, "eager", "triton:interpret"])
@pytest.mark.parametrize(
    "huge",
    [torch.empty(1).as_strided((2**40, 7), (0, 0)), np.broadcast_to(np.float32(1), (2**40, 7))],
    ids=["torch", "numpy"],
)
def test_arrays_expanded_beyond_memory_are_refused(huge: Any, target: str) -> None:
    """Before anything writes their elements out; to lower, none is needed."""
    with pytest.raises(ArgumentError, match="argument 'x' is expanded to more elements than this machine's memory"):
        doubled.on(target)(huge)
    if target in TARGETS:
        assert doubled.lower(huge, target=target).ir
