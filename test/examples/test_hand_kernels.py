"""The kernels of benchmarks/hand/triton compute what torch does, in Triton's interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import hand.triton as hand  # noqa: E402

from examples.registry import BY_NAME, DTYPES  # noqa: E402
from kopt.runtime.executable import Executable  # noqa: E402
from kopt.runtime.signature import Signature, TensorParameter  # noqa: E402
from kopt.runtime.tolerance import mismatch  # noqa: E402
from kopt.specs import spec_of  # noqa: E402

#: An example of each kernel, and extents at which blocks are full or not, and rows and columns are several.
CASES = {
    "exp": ("exp", ((3, 2501),)),
    "softmax_row": ("softmax", ((5, 300), (3, 1024))),
    "softmax_online": ("softmax", ((3, 300), (2, 9000))),
    "layer_norm": ("layer_norm", ((5, 300),)),
    "rms_norm": ("rms_norm", ((5, 300),)),
    "cross_entropy": ("cross_entropy_rows", ((5, 300), (2, 9000))),
    "swiglu": ("swiglu", ((3, 500),)),
    "geglu": ("geglu", ((3, 500),)),
    "kl_divergence": ("kl_divergence", ((3, 5000),)),
    "matmul_grouped": ("matmul", ((150, 100, 300), (1200, 64, 512))),
    "matmul_descriptors": ("matmul", ((150, 104, 304), (1200, 64, 512))),
    "attention": ("attention", ((1, 2, 150, 64), (1, 1, 256, 32))),
    "causal_attention": ("causal_attention", ((1, 2, 300, 64), (2, 1, 256, 32))),
    "linear_attention_halves": ("linear_attention", ((1, 2, 256, 32, 48, 128),)),
    "bmm_descriptors": ("bmm", ((3, 150, 104, 304), (2, 300, 64, 512))),
}


def test_all_are_checked() -> None:
    assert {name for names in hand.HAND.values() for name in names} == set(CASES)


@pytest.mark.parametrize(("name", "dims"), [(name, dims) for name, (_, sizes) in CASES.items() for dims in sizes])
def test_by_hand_is_torch(name: str, dims: tuple[int, ...]) -> None:
    from examples.example import Inputs

    example = BY_NAME[CASES[name][0]]
    args = example.args(Inputs(DTYPES["bf16"]), *dims)
    wanted = _tuple(example.reference(*args))
    tensors = tuple(arg for arg in args if isinstance(arg, torch.Tensor))
    found = _tuple(interpreted(name, tensors)(*tensors))
    assert len(found) == len(wanted)
    for value, truth in zip(found, wanted, strict=True):
        assert value.dtype == truth.dtype
        assert not mismatch(value, truth, spec_of(truth).dtype, example.terms(*dims))


@pytest.mark.slow
def test_what_the_compiler_makes_of_them() -> None:
    """Descriptors become TMA and wgmma, and a long row is read and written 128 bits at a time."""
    from gpu_static import compiled

    matrix, row = spec_of(torch.empty(512, 512, dtype=torch.bfloat16)), spec_of(torch.empty(1 << 16))
    product = compiled(hand.source("matmul_descriptors"), "matmul_descriptors", (matrix, matrix), "sm90")
    assert (product["mma"], product["tma"], product["programs"]) == ("wgmma", True, 8)
    assert product["loop"] and product["moved"] == 8 * (128 * 512 + 512 * 256 + 128 * 256) / (3 * 512 * 512)
    powers = compiled(hand.source("exp"), "exp", (row,), "sm90")
    assert (powers["blocks"], powers["programs"], powers["loop"]) == ([1024], 64, None)
    assert powers["occupancy"] == 1.0 and set(powers["loads"]) == set(powers["stores"]) == {"128"}


def interpreted(name: str, args: tuple[Any, ...]) -> Callable[..., Any]:
    parameters = tuple(TensorParameter(f"x{number}", spec_of(arg)) for number, arg in enumerate(args))
    return Executable(hand.source(name), name, Signature(name, parameters), "triton:interpret")


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
