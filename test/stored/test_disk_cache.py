"""The cache on disk: another process, or a kernel that compiled nothing, finds what was compiled, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

import kopt
import kopt.language as hl
from examples.check import configured
from examples.registry import BY_NAME
from kopt.errors import ArgumentError, KoptError
from kopt.kernels import Kernel
from test.kernels.jagged_kernels import jagged_softmax

TARGETS = ("triton:interpret", "pallas:interpret")
SCALE = 2.0
HELD = torch.arange(40.0)
SETTINGS = types.ModuleType("settings")
SETTINGS.bias = 1.0  # pyright: ignore[reportAttributeAccessIssue]


class Pair(NamedTuple):
    """Two tensors."""

    first: torch.Tensor
    second: torch.Tensor


class Opaque:
    """An object that no text stands for."""

    factor = 3.0


OPAQUE = Opaque()


def scaled(v):
    return v * SCALE


def plain(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = scaled(x[i]) + SETTINGS.bias
    return out


def with_held(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] + HELD[i]
    return {"sum": out, "x": x, "of": (1.5, torch.float32, None)}


def updated(x, y):
    total = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        y[i] = y[i] + x[i]
        total[i] = x[i] * y[i]
    return total, y


def random(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] + torch.rand_like(x[i])
    return out


def read(x):
    out = torch.empty_like(x)
    factor = HELD[3].item()
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * factor
    return out


def opaque(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * OPAQUE.factor
    return out


def named(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i]
    return Pair(out, x)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    monkeypatch.setenv("KOPT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def files(folder: Path) -> list[Path]:
    """The kernels that are kept."""
    return sorted(folder.glob("*.json"))


def from_disk(function, *args, target: str = "triton:interpret", config=None):
    """A call of a kernel that has compiled nothing, and may not."""
    kernel = Kernel(function, config, target)

    def refuse(*args):
        raise AssertionError("compiled again")

    kernel._lower = refuse
    return kernel(*args)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", [plain, with_held], ids=["plain", "held tensors, a tree of results"])
def test_a_call_is_found_again(function, target: str, folder: Path) -> None:
    x = torch.randn(40)
    wanted = Kernel(function, None, target)(x)
    assert len(files(folder)) == 1
    got = from_disk(function, x, target=target)
    if function is with_held:
        assert got["x"] is x and got["of"] == wanted["of"] == (1.5, torch.float32, None)
        got, wanted = got["sum"], wanted["sum"]
    assert torch.equal(got, wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_written(target: str) -> None:
    x, y = torch.randn(40), torch.randn(40)
    wanted = Kernel(updated, None, target)(x, y.clone())
    z = y.clone()
    total, same = from_disk(updated, x, z, target=target)
    assert same is z
    torch.testing.assert_close((total, z), wanted, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["matmul", "softmax", "layer_norm", "embedding", "attention", "cross_entropy"])
@pytest.mark.parametrize("target", TARGETS)
def test_examples(name: str, target: str) -> None:
    """Bit for bit what was computed when they were compiled."""
    example = BY_NAME[name]
    args = example.make_args("tiny", torch.float32)
    kernel = configured(example, "tiny").on(target)
    wanted = Kernel(kernel.fn, kernel.config, target)(*args)
    torch.testing.assert_close(from_disk(kernel.fn, *args, target=target, config=kernel.config), wanted, rtol=0, atol=0)


def test_seeds_are_drawn_by_each_call(folder: Path) -> None:
    x = torch.zeros(40)
    torch.manual_seed(5)
    wanted = Kernel(random, None, "triton:interpret")(x)
    assert len(files(folder)) == 1
    torch.manual_seed(5)
    assert torch.equal(from_disk(random, x), wanted)
    assert not torch.equal(from_disk(random, x), wanted)


def test_checks_are_those_of_the_kernel(folder: Path) -> None:
    """What the arguments hold is looked at, by the IR that was kept."""
    x, good, bad = torch.randn(20, 8), torch.tensor([0, 3, 20]), torch.tensor([0, 23, 20])
    with pytest.raises(ArgumentError) as refused:
        Kernel(jagged_softmax, None, "triton:interpret")(x, bad)
    assert not files(folder)
    wanted = Kernel(jagged_softmax, None, "triton:interpret")(x, good)
    assert len(files(folder)) == 1
    assert torch.equal(from_disk(jagged_softmax, x, good), wanted)
    with pytest.raises(ArgumentError) as error:
        from_disk(jagged_softmax, x, bad)
    assert error.value.message == refused.value.message


def test_what_another_process_cannot_know(folder: Path) -> None:
    """Elements that the import read, and objects and classes of the user's."""
    x = torch.randn(40)
    for function in (read, opaque, named):
        Kernel(function, None, "triton:interpret")(x)
    assert not files(folder)


def changed_global(monkeypatch):
    monkeypatch.setitem(globals(), "SCALE", 3.0)


def changed_attribute(monkeypatch):
    monkeypatch.setattr(SETTINGS, "bias", 4.0)


def changed_function(monkeypatch):
    monkeypatch.setitem(globals(), "scaled", lambda v: v * 7)


def changed_torch(monkeypatch):
    monkeypatch.setattr(torch, "get_default_dtype", lambda: torch.float64)


@pytest.mark.parametrize("change", [changed_global, changed_attribute, changed_function, changed_torch])
def test_what_a_call_depends_on(change, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key differs, and in the process that compiled it the result does too."""
    x = torch.randn(40)
    kernel = Kernel(plain, None, "triton:interpret")
    assert torch.equal(kernel(x), x * 2 + 1)
    change(monkeypatch)
    wanted = scaled(x) + SETTINGS.bias
    torch.testing.assert_close(kernel(x), wanted)
    torch.testing.assert_close(Kernel(plain, None, "triton:interpret")(x), wanted)
    assert len(files(folder)) == 2


@pytest.mark.parametrize("other", [torch.randn(41), torch.randn(80)[::2], torch.arange(40)])
def test_other_arguments(other: torch.Tensor, folder: Path) -> None:
    for x in (torch.randn(40), other):
        Kernel(plain, None, "triton:interpret")(x)
    Kernel(plain, {"block_sizes": [8]}, "triton:interpret")(torch.randn(40))
    assert len(files(folder)) == 3


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def foreign(content: bytes) -> bytes:
    import hashlib

    body = json.dumps({"held": [], "source": "raise SystemExit"}).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


@pytest.mark.parametrize("damage", [cut, foreign, lambda content: b"", lambda content: content.replace(b"+", b"-")])
def test_damaged_files_are_made_again(damage, folder: Path) -> None:
    x = torch.randn(40)
    Kernel(plain, None, "triton:interpret")(x)
    (file,) = files(folder)
    content = file.read_bytes()
    file.write_bytes(damage(content))
    assert torch.equal(Kernel(plain, None, "triton:interpret")(x), scaled(x) + 1)
    assert file.read_bytes() == content


def test_calls_that_fail_keep_nothing(folder: Path) -> None:
    with pytest.raises(KoptError):
        Kernel(plain, None, "triton:interpret")(torch.randn(40), 3)
    assert not files(folder)


def test_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOPT_CACHE_DIR", "")
    Kernel(plain, None, "triton:interpret")(torch.randn(40))
    assert not folder.exists()


SCRIPT = """
import sys
import torch
import kopt
import kopt.language as hl

offset = torch.arange(100.0)

@kopt.kernel(target="triton:interpret")
def add(x, y):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile] + y[tile] + offset[tile]
    return out

x = torch.ones(100)
assert torch.equal(add(x, x), offset + 2)
assert torch.equal(add(x, x), offset + 2)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"xdsl", "helion"}),
      sorted(name for name in sys.modules if name.startswith(("kopt.frontend", "kopt.passes", "kopt.lowering"))))
"""


def test_a_second_process_imports_no_frontend(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor xDSL, passes or lowerings: it reads one file."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    runs = [subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120) for _ in range(2)]
    assert [run.stderr for run in runs] == ["", ""]
    assert "kopt.frontend" in runs[0].stdout and runs[1].stdout == "[] []\n"
    assert len(files(folder)) == 1
    script.write_text(SCRIPT.replace("+ offset[tile]", "+ 1.0 * offset[tile]"))
    edited = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert "kopt.frontend" in edited.stdout and len(files(folder)) == 2


def test_reports_are_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the chip's compiler said; figures of kopt's own are computed anew."""
    low = kopt.kernel(plain).lower("f32[1000]", target="triton:sm90")
    report = low.report()
    assert len(list((folder.parent / "reports").glob("*.json"))) == 1
    monkeypatch.setattr("kopt.runtime.report._gpu.call", None)
    assert low.report() == report
    with pytest.raises(TypeError):
        kopt.kernel(plain).lower("f32[2000]", target="triton:sm90").report()
