"""Operators of the host that JAX runs: as torch, with each set of arguments that has a text of its own."""

from __future__ import annotations

import linecache
from itertools import count

import pytest
import torch

import kopt
from kopt.lowering.host.jnp_spellings import PAIRS, SPELLINGS, spellings

NAN, INF = float("nan"), float("inf")
ARGUMENTS = {
    "special": torch.tensor([[-INF, -2.5, -1.5, -0.5, -0.0], [0.0, 0.5, 2.5, INF, NAN]]),
    "f32": torch.tensor([[-2.25, -1.5, -0.75], [0.25, 0.5, 3.5]]),
    "bf16": torch.tensor([[-2.25, -1.5, -0.75], [0.25, 0.5, 3.5]]).bfloat16(),
    "i32": torch.tensor([[-7, -3, -1], [0, 2, 100]], dtype=torch.int32),
    "bool": torch.tensor([[True, False, True], [False, False, True]]),
}
_LINES = count()

UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sqrt abs sign sin cos tan tanh sinh cosh floor ceil trunc square "
    "isnan isinf isfinite logical_not round neg asin acos atan asinh acosh atanh erf rsqrt reciprocal "
    "sigmoid relu frac"
).split()
BINARY = (
    "eq ne lt le gt ge add sub mul div pow remainder maximum minimum fmod floor_divide logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
).split()
#: With ``x``, ``y`` its rows in reverse, and ``m`` its products, a square matrix.
EXPRESSIONS = """
~x; x << 2; x >> 1; x + 3; x - 2.5; 3 - x; x * 2; x / 2; x // 2; x % 3; x ** 2; 2 ** abs(x); x ** y
torch.add(x, y, alpha=3); torch.sub(x, y, alpha=2); torch.rsub(x, 2, alpha=3); x.round(decimals=1)
torch.lerp(x, y, 0.3); x.sum(); x.sum(0); x.sum((0, 1)); x.sum(1, keepdim=True); x.prod(); x.prod(1); x.amax(1)
x.amin((0, 1)); x.max(); x.min(); x.any(); x.all(1); x.any(1, True); x.any((0, 1)); x.argmax(1); x.argmin()
x.argmax(0, True); x.cumsum(0); x.cumprod(1); torch.count_nonzero(x); torch.count_nonzero(x, 1)
torch.count_nonzero(x, dim=(0, 1)); x.mean(); x.mean((0, 1), True); x.var(); x.var(1); x.var((0, 1))
x.var(1, correction=0); x.std(correction=2); x.std(0, keepdim=True); x.softmax(1); x.log_softmax(0); x.logsumexp(1)
x.logsumexp((0, 1)); x.norm(); torch.linalg.vector_norm(x, 1); torch.linalg.vector_norm(x, 3, 1)
torch.linalg.vector_norm(x, 3, None, True); x.tril(); x.triu(1); x.rot90(); x.rot90(2); x.rot90(1, (1, 0))
x.unfold(1, 2, 1); x.unfold(-1, 2, 1); x.diagonal(); x.diagonal(1); x.diagonal(0, 1, 0); x.t(); x.permute(1, 0)
x.clamp(-1, 1); x.clamp(max=1); x.clamp(min=0); x.sort()[0]; x.sort()[1]; x.sort(0, True)[0]; x.topk(2)[0]
x.topk(2)[1]; x.topk(2, 1, False)[0]; x.max(1)[0]; x.max(1)[1]; x.min(0)[0]; x.min(0, True)[1]; x.to(torch.int32)
x.to(torch.bfloat16); x.to(torch.bool); torch.full_like(x, 2); x.masked_fill(x > 0, 5.5); torch.where(x > 0, x, y)
x.expand(2, 2, 3); x.reshape(3, 2); x.unsqueeze(1); torch.maximum(x, y); x @ x.t(); torch.addmm(m, x, x.t())
torch.addmm(m, x, x.t(), beta=2); torch.addmm(m, x, x.t(), beta=2, alpha=3); torch.nn.functional.gelu(x)
torch.nn.functional.gelu(x, approximate='tanh'); torch.nn.functional.leaky_relu(x)
torch.nn.functional.leaky_relu(x, 0.3); torch.nn.functional.softplus(x); torch.nn.functional.silu(x)
torch.arange(2, 9, 3) + 0; torch.linspace(0, 1, 5) + 0; torch.eye(3) + 0; torch.eye(2, 3) + 0
torch.full((2, 2), 3.5) + 0
"""


def square(x: torch.Tensor) -> torch.Tensor:
    """Rows by rows."""
    return (x.float() @ x.float().t()).to(x.dtype)


def expressions(dtype: str) -> dict[str, torch.Tensor]:
    """What torch takes for a dtype, with what it gives."""
    texts = [f"torch.{name}(x)" for name in UNARY] + [f"torch.{name}(x, y)" for name in BINARY]
    if dtype != "special":
        texts += [each.strip() for line in EXPRESSIONS.splitlines() for each in line.split(";") if each.strip()]
    given, found = ARGUMENTS[dtype], {}
    for text in texts:
        try:
            for each in (given.to("meta"), given):  # kernels see shapes and dtypes first
                found[text] = eval(text, {"torch": torch, "x": each, "y": each.flip(0), "m": square(each)})
        except (RuntimeError, TypeError, ValueError):
            found.pop(text, None)
    return found


def traced(texts: list[str]):
    """A kernel that returns what expressions give; its text is known to whoever asks where a line stands."""
    lines = ["def host(x, y, m):", *(f"    r{n} = {text}" for n, text in enumerate(texts))]
    lines.append(f"    return [{', '.join(f'r{n}' for n in range(len(texts)))}]")
    name = f"<host functions {next(_LINES)}>"
    linecache.cache[name] = (0, None, [f"{line}\n" for line in lines], name)
    names = {"torch": torch}
    exec(compile("\n".join(lines), name, "exec"), names)
    return kopt.kernel(names["host"]).on("pallas:interpret")


@pytest.mark.parametrize("dtype", ARGUMENTS)
def test_as_torch(dtype: str) -> None:
    given, wanted = ARGUMENTS[dtype], expressions(dtype)
    found = traced([*wanted])(given, given.flip(0), square(given))
    tolerance = 2e-2 if dtype == "bf16" else 2e-5
    for (text, value), got in zip(wanted.items(), found, strict=True):
        assert got.dtype == value.dtype and got.shape == value.shape, text
        close = torch.allclose(got.double(), value.double(), rtol=tolerance, atol=tolerance, equal_nan=True)
        assert close, f"{text}: {got.tolist()}, torch: {value.tolist()}"


@pytest.mark.parametrize(
    ("name", "arguments", "results", "text"),
    [
        ("aten.add.Tensor", ["a", "b"], 1, "({0} + {1}).astype({dtype})"),
        ("aten.add.Tensor", ["a", "b", "2"], 1, "({0} + {2} * {1}).astype({dtype})"),
        ("aten.sum.dim_IntList", ["a", "[]", "False"], 1, "jnp.sum({0}, dtype={dtype}).reshape({shape}){2:.0}{3:.0}"),
        ("aten.max.other", ["a", "b"], 1, "jnp.maximum({0}, {1})"),
        ("aten.softplus.default", ["a"], 1, "jnp.logaddexp({0}, 0)"),
        ("aten.softplus.default", ["a", "2"], 1, None),
        ("aten.add.Tensor", ["a"], 1, None),
        ("aten.add.Tensor", ["a", "b"], 2, None),
        ("aten.add.Tensor", ["a", "b"], 0, None),
        ("aten.max.dim", ["a", "0"], 1, None),
        ("aten.nothing.default", ["a"], 1, None),
        ("aten.nothing.default", ["a"], 2, None),
    ],
)
def test_the_first_text_that_says_all(name: str, arguments: list[str], results: int, text: str | None) -> None:
    assert spellings(name, arguments, results) == (None if text is None else [text])


def test_tables_have_as_many_texts_as_results() -> None:
    assert all(len(texts) == 2 for texts in PAIRS.values()) and not PAIRS.keys() & SPELLINGS.keys()
