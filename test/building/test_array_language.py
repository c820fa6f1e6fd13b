"""The toy array language of ``examples/frontends``: ragged sizes, dtypes, and errors that point into its text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import kopt
from examples.frontends.array_language import Program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "frontends"
TARGETS = ("triton:interpret", "pallas:interpret")

STATISTICS = """\
mean[i] = sum[j](x[i, j]) / sum[j](1 + 0 * x[i, j])
spread[i] = max[j](x[i, j]) - min[j](x[i, j])
scaled[j, i] = (x[i, j] - mean[i]) * w[j]
"""


def example(name: str) -> Program:
    path = FOLDER / name
    return Program(path.read_text(), str(path))


def run(program: Program, target: str, *arrays: torch.Tensor):
    specs = [f"{SPECS[array.dtype]}{list(array.shape)}" for array in arrays]
    return program.lower(*specs, target=target).compile()(*arrays)


SPECS = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int32: "i32", torch.float64: "f64"}


def test_the_frontend_is_short():
    assert len((FOLDER / "array_language.py").read_text().splitlines()) < 150


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(37, 50), (1, 3)])
def test_softmax(target: str, shape: tuple[int, int]):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(run(example("softmax.toy"), target, x), torch.softmax(x, 1))


@pytest.mark.parametrize("target", TARGETS)
def test_attention_is_of_matrix_products(target: str):
    q, k, v = (torch.randn(3, 37, 64, generator=torch.Generator().manual_seed(seed)) for seed in range(3))
    program = example("attention.toy")
    assert str(program.lower(*["f32[3,37,64]"] * 3, target=target).module).count("tile.dot") == 2
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(run(program, target, q, k, v), wanted, rtol=1e-4, atol=1e-5)  # two sums in another order


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_several_results_of_several_dtypes(target: str, dtype: torch.dtype):
    x = torch.randint(-8, 9, (37, 50), generator=torch.Generator().manual_seed(1)).to(dtype)
    w = torch.arange(50).to(dtype) / 4
    program = Program(STATISTICS)
    assert (program.arguments, program.results) == (["x", "w"], ["spread", "scaled"])
    spread, scaled = run(program, target, x, w)
    assert spread.dtype == scaled.dtype == dtype
    wide = x.float()
    mean = wide.mean(1, keepdim=True).to(dtype).float()
    assert torch.equal(spread, (wide.amax(1) - wide.amin(1)).to(dtype))
    one_rounding = torch.finfo(dtype).eps
    torch.testing.assert_close(scaled.float(), ((wide - mean) * w.float()).T, rtol=one_rounding, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_integers_and_mixed_dtypes(target: str):
    n = torch.randint(-9, 9, (19, 21), generator=torch.Generator().manual_seed(2), dtype=torch.int32)
    x = torch.randn(21, generator=torch.Generator().manual_seed(3)).to(torch.bfloat16)
    counts, products = run(
        Program("a[i] = sum[j](n[i, j] * n[i, j])\nb[i, j] = maximum(-n[i, j], 2) + x[j]"), target, n, x
    )
    assert counts.dtype == torch.int32 and torch.equal(counts, (n * n).sum(1).to(torch.int32))
    assert products.dtype == torch.float32 and torch.equal(products, (-n).clamp(min=2).float() + x.float())


MISTAKES = {
    "y[i] = x[i, k]": ("1:8", "'k' is neither on the left nor walked", "       ^^^^^^^"),
    "y[i, j] = x[i, j] + w[i]": ("1:21", "'i' has 37 values elsewhere, and 50 here", " " * 20 + "^^^^"),
    "y[i, j] = x[i, j] +* w[j]": ("1:20", "invalid syntax", " " * 19 + "^"),
    "y[i, j] = expo(x[i, j] + w[j])": (
        "1:11",
        "no function 'expo' of 1 values; did you mean 'exp'?",
        " " * 10 + "^" * 20,
    ),
    "y[i, j] = x[i, j] + exp(n[i, j] * w[j])\nz[i] = sum[j](exp(n[i, j]))": (
        "2:15",
        "tile.exp needs f32 or f64, found i32",
        " " * 14 + "^",
    ),
    "y[i] = x[i] * 2": ("1:8", "an array of 2 dimensions has as many indices, found 1", " " * 7 + "^"),
    "y[i, i] = x[i, j] + w[j]": ("1:1", "an index stands here twice", "^" * 7),
    "y[i, j] = x[i, j + 1] + w[j]": ("1:16", "expected the name of an array or an index", " " * 15 + "^" * 5),
    "y[i, z] = x[i, j] + w[j]": ("1:1", "'z' is an index of no array", "^" * 7),
    "y[i, j] = z[i, j] + x[i, j]\nz[i, j] = x[i, j] * w[j]": (
        "1:11",
        "'z' is computed by a later statement",
        " " * 10 + "^" * 7,
    ),
    "y[i, j] = x[i, j] if w[j] else 0": ("1:11", "this is no expression of the language", " " * 10 + "^" * 22),
    "y = x[i, j]": ("1:1", "a statement is: array[index, …] = expression", "^" * 11),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_point_into_the_program(text: str):
    place, message, carets = MISTAKES[text]
    shapes = {"x": "f32[37,50]", "w": "f32[50]", "n": "i32[37,50]"}
    with pytest.raises(kopt.KoptError) as caught:
        program = Program(text, "mistake.toy")
        program.lower(*(shapes[name] for name in program.arguments), target="reference")
    first, line, under = str(caught.value).splitlines()[:3]
    assert first == f"mistake.toy:{place}: error: {message} [{caught.value.id}]"
    assert line == text.splitlines()[int(place[0]) - 1] and under == carets


def test_what_a_target_refuses_points_into_the_program_too():
    program = Program("y[i] = sum[j](x[i, j])", "wide.toy")
    with pytest.raises(kopt.KoptError, match=r"wide.toy:1:\d+: error"):
        program.lower("f64[8,8]", target="pallas:v6e")


def test_it_shows_the_module_that_it_makes():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "show.py"), str(FOLDER / "softmax.toy"), "f32[100,50]"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "def softmax(x):" in done.stdout and "# softmax.toy:2" in done.stdout
