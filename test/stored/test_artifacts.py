"""Saved kernels: loaded by kopt, imported where kopt is not installed; pickled kernels."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import kopt
import kopt.language as hl
from examples.registry import BY_NAME
from kopt.errors import ArgumentError
from kopt.open_extents import MOST
from kopt.stored import standalone
from test.kernels.jagged_kernels import jagged_softmax

HELD = torch.arange(100.0)


def square(v):
    return v * v


@kopt.kernel
def combined(x, pair, scale, f):
    """Tensors in a tuple, a number, a function, and a tensor of its own."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = f(x[i] + pair[0][i] * HELD[i] * scale)
    return {"out": out, "same": pair[1]}


@kopt.kernel
def updated(x, y, *, factor: float = 2.0):
    """A result, and an argument that changes."""
    total = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        y[i] = y[i] + factor * x[i]
        total[i] = x[i] * y[i]
    return total


@kopt.kernel
def read(x):
    """What the import read no folder holds."""
    factor = HELD[3].item()
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * factor
    return out


@kopt.kernel
def drawn(x):
    """Random numbers."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] + torch.rand_like(x[i])
    return out


@kopt.kernel(dynamic={"x": 0, "y": 0})
def doubled(x, y):
    """One module for all extents that are multiples of 4."""
    out = torch.empty_like(x)
    for i in hl.tile(kopt.multiple_of(x.size(0), 4)):
        out[i, :] = x[i, :] * 2 + y[i][:, None]
    return out


TARGETS = ("triton:interpret", "pallas:interpret")


@pytest.mark.parametrize("target", TARGETS)
def test_loaded(target: str, tmp_path: Path) -> None:
    """Each signature by its arguments; the function was compiled in."""
    for size in (100, 40):
        low = combined.lower(f"f32[{size}]", ("f32[100]", "f32[3]"), 2.0, square, target=target)
        low.save(tmp_path / "kept")
        low.save(tmp_path / "kept")
    assert len(json.loads((tmp_path / "kept" / "kernels.json").read_text())["kernels"]) == 2
    kernel = kopt.load(tmp_path / "kept")
    for size in (100, 40):
        x, y, z = torch.randn(size), torch.randn(100), torch.randn(3)
        got = kernel.combined(x, (y, z), scale=2.0)
        wanted = square(x + y[:size] * HELD[:size] * 2.0)
        torch.testing.assert_close(got["out"], wanted)
        assert got["same"] is z
        torch.testing.assert_close(kernel(x, (y, z), 2.0)["out"], wanted)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((torch.ones(41), (HELD, HELD[:3]), 2.0), "'x' is f32[100], found f32[41]"),
        ((HELD.int(), (HELD, HELD[:3]), 2.0), "'x' is f32[100], found i32[100]"),
        ((HELD, (HELD, HELD[:3]), 3.0), "'scale' is 2.0, found 3.0"),
        ((HELD, (HELD, HELD[:3]), 2), "'scale' is 2.0, found 2"),
        ((HELD, HELD, 2.0), "'pair' is a tuple of 2"),
        ((HELD, (1, HELD[:3]), 2.0), "'pair[0]' is f32[100], found 1"),
        ((HELD, (HELD, HELD[:3])), "missing a required argument: 'scale'"),
    ],
)
def test_other_arguments(args, reason: str, tmp_path: Path) -> None:
    low = combined.lower("f32[100]", ("f32[100]", "f32[3]"), 2.0, square, target="triton:sm90")
    low.save(tmp_path / "kept")
    with pytest.raises(ArgumentError, match="combined was not compiled for these arguments") as error:
        kopt.load(tmp_path / "kept").combined(*args)
    assert error.value.notes == (f"(x: f32[100], pair_0: f32[100], pair_1: f32[3]) for triton:sm90: {reason}",)


@pytest.mark.parametrize("target", TARGETS)
def test_extents_that_differ_from_call_to_call(target: str, tmp_path: Path) -> None:
    """One kernel for all of them, whichever call it was lowered for; one for a shape goes before."""
    for size in (40, 24):
        doubled.lower(f"f32[{size},5]", f"f32[{size}]", target=target).save(tmp_path / "kept")
    kopt.kernel(doubled, dynamic=()).lower("f32[8,5]", "f32[8]", target=target).save(tmp_path / "kept")
    kernel = kopt.load(tmp_path / "kept").doubled
    assert standalone._MOST == MOST  # which a folder cannot import
    assert len(kernel.records) == 2 and kernel.records[0]["parameters"][0][1][1] == [8, 5]
    for size in (8, 60, 12):
        x, y = torch.randn(size, 5), torch.randn(size)
        torch.testing.assert_close(kernel(x, y), x * 2 + y[:, None])
    for rows, others, reason in (
        (30, 30, r"x\.size\(0\) is a multiple of 4 from \d to"),
        (12, 16, r"y\.size\(0\) is 16 and x\.size\(0\) is 12: they have to be the same"),
    ):
        with pytest.raises(ArgumentError, match="was not compiled for these arguments") as error:
            kernel(torch.ones(rows, 5), torch.ones(others))
        assert any(re.search(reason, note) for note in error.value.notes), error.value.notes


def test_checks_come_along(tmp_path: Path) -> None:
    kopt.kernel(jagged_softmax).lower("f32[20,8]", "i64[3]", target="triton:interpret").save(tmp_path / "kept")
    kernel, x = kopt.load(tmp_path / "kept"), torch.randn(20, 8)
    good = torch.tensor([0, 3, 20])
    assert torch.equal(kernel(x, good), kopt.kernel(jagged_softmax).on("triton:interpret")(x, good))
    with pytest.raises(ArgumentError, match=r"offsets\[2\] = 2 is less than offsets\[1\] = 3"):
        kernel(x, torch.tensor([0, 3, 2]))


def test_what_is_not_saved(tmp_path: Path) -> None:
    for kernel, target in ((read, "triton:interpret"), (updated, "reference"), (drawn, "pallas:interpret")):
        args = [torch.ones(8)] * (2 if kernel is updated else 1)
        with pytest.raises(ArgumentError, match="cannot be saved"):
            kernel.lower(*args, target=target).save(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    with pytest.raises(ArgumentError, match="no saved kernels"):
        kopt.load(tmp_path / "kept")
    (tmp_path / "kernels.json").write_text('{"format": 0}')
    with pytest.raises(ArgumentError, match="not a list of kernels of this version"):
        kopt.load(tmp_path)


#: Nothing of kopt can be imported.
_WITHOUT_KOPT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "kopt":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
"""

_TORCH = """
import torch, kept
held, x, y, z = torch.arange(100.0), torch.randn(100), torch.randn(100), torch.ones(3)
got = kept.combined(x, (y, z), 2.0)
torch.testing.assert_close(got["out"], (x + y * held * 2.0) ** 2)
assert got["same"] is z
other = y.clone()
torch.testing.assert_close(kept.updated(x, other), x * (y + 2 * x))
torch.testing.assert_close(other, y + 2 * x)
factor = torch.ones(100, requires_grad=True)
product = (factor * other).sum()
kept.updated(x, other)
for call, error in ((product.backward, RuntimeError), (lambda: kept.updated(factor, other), TypeError)):
    try:
        call()
    except error as found:
        assert "modified by an inplace" in str(found) or "requires grad" in str(found), found
    else:
        raise AssertionError("a gradient is wrong, or lost")
torch.manual_seed(1)
a = kept.drawn(x)
assert not torch.equal(a, kept.drawn(x)) and (a - x).min() >= 0 and (a - x).max() <= 1
for size in (16, 40):
    x2, y2 = torch.randn(size, 5), torch.randn(size)
    torch.testing.assert_close(kept.doubled(x2, y2), x2 * 2 + y2[:, None])
for wrong in (x[:50], torch.randn(200)[::2], x.double(), 3):
    try:
        kept.updated(wrong, other)
    except TypeError as error:
        assert "updated was not compiled for these arguments" in str(error), error
    else:
        raise AssertionError(wrong)
assert not {"kopt", "jax", "xdsl"} & {name.partition(".")[0] for name in sys.modules}
"""

_JAX = """
import jax, jax.numpy as jnp, numpy as np, kept
held, x, y, z = jnp.arange(100.0), jnp.linspace(0, 1, 100), jnp.linspace(3, 4, 100), jnp.ones(3)
got = jax.jit(lambda x, y: kept.combined(x, (y, z), 2.0)["out"])(x, y)
np.testing.assert_allclose(got, (x + y * held * 2.0) ** 2, rtol=1e-6)
total, changed = kept.updated(x, y)
np.testing.assert_allclose(total, x * (y + 2 * x), rtol=1e-6)
np.testing.assert_allclose(changed, y + 2 * x, rtol=1e-6)
for size in (16, 40):
    a, b = jnp.ones((size, 5)), jnp.arange(float(size))
    np.testing.assert_allclose(jax.jit(kept.doubled)(a, b), a * 2 + b[:, None], rtol=1e-6)
assert not {"kopt", "torch", "xdsl"} & {name.partition(".")[0] for name in sys.modules}
"""


@pytest.mark.parametrize(("target", "script"), [("triton:interpret", _TORCH), ("pallas:interpret", _JAX)])
def test_without_kopt(target: str, script: str, tmp_path: Path) -> None:
    """The folder is a package that needs torch and triton, or jax, alone."""
    combined.lower("f32[100]", ("f32[100]", "f32[3]"), 2.0, square, target=target).save(tmp_path / "kept")
    updated.lower("f32[100]", "f32[100]", target=target).save(tmp_path / "kept")
    doubled.lower("f32[20,5]", "f32[20]", target=target).save(tmp_path / "kept")
    if target.startswith("triton"):
        drawn.lower("f32[100]", target=target).save(tmp_path / "kept")
    file = tmp_path / "script.py"
    file.write_text(_WITHOUT_KOPT + script)
    environment = {**os.environ, "TRITON_INTERPRET": "1", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, timeout=180)
    assert run.returncode == 0, run.stderr


def test_kernels_pickle_by_reference() -> None:
    assert pickle.loads(pickle.dumps(combined)) is combined
    other = combined.on("pallas:interpret")
    assert pickle.loads(pickle.dumps(other)) is other
    local = kopt.kernel(lambda x: x)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(local)


@pytest.mark.parametrize("name", ["softmax", "embedding"])
@pytest.mark.parametrize("target", [*TARGETS, "reference"])
def test_lowered_kernels_pickle_by_content(name: str, target: str) -> None:
    example = BY_NAME[name]
    args = example.make_args("tiny", torch.float32)
    low = example.kernel.lower(*args, target=target)
    other = pickle.loads(pickle.dumps(low))
    assert other.ir == low.ir and other.source == low.source and other.config == low.config
    assert [text for _, text in other.stages()] == [text for _, text in low.stages()]
    torch.testing.assert_close(other.compile()(*args), low.compile()(*args), rtol=0, atol=0)


def test_a_lowered_module(tmp_path: Path) -> None:
    """IR without a Python function: tensors in, results out."""
    text = Path("examples/ir/softmax.mlir").read_text()
    low = kopt.lower_module(kopt.parse(text), target="triton:interpret")
    low.save(tmp_path / "kept")
    (spec,) = low.signature.specs
    x = torch.randn(spec.shape)
    torch.testing.assert_close(kopt.load(tmp_path / "kept")(x), torch.softmax(x, -1))
    assert copy.deepcopy(low).source == low.source
