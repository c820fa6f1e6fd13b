"""Dialects, passes and chips of other packages: the example package, installed, and packages that are wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kopt
from kopt.passes import ALL_PASSES
from kopt.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "plugin"
IR = EXAMPLE / "relu6.mlir"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example package is installed: pip builds in a copy, without a network."""
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "target"))
    shutil.copytree(EXAMPLE, source, dirs_exist_ok=True)
    flags = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "-q"]
    command = [sys.executable, "-m", "pip", "install", *flags, "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def example(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example package can be imported."""
    monkeypatch.syspath_prepend(str(installed))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "kopt_relu6"]:
        del sys.modules[name]


def package(path: Path, name: str, entry_points: str, module: str = "") -> None:
    """A package as pip leaves it behind."""
    info = path / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    (path / f"{name}.py").write_text(module)


def test_the_tool_runs_the_pass_on_the_dialect(installed: Path):
    command = [sys.executable, "-m", "kopt.tools.main", str(IR), "--pass-pipeline=builtin.module(lower-activation,cse)"]
    path = os.pathsep.join([str(ROOT), str(installed)])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "activation" not in done.stdout and "tile.maximum" in done.stdout and "tile.minimum" in done.stdout


@pytest.mark.usefixtures("example")
def test_the_tool_round_trips_the_dialect_and_lists_what_there_is(capsys: pytest.CaptureFixture[str]):
    assert main([str(IR), "--verify-roundtrip"]) == 0
    assert "activation.relu6 %" in capsys.readouterr().out
    assert main(["--show-plugins", "--show-passes", "--show-dialects"]) == 0
    out = capsys.readouterr().out
    assert "lower-activation             Replaces ``activation`` ops by ``tile`` ops." in out
    assert "activation                   The ``activation`` dialect" in out
    assert [line.split()[:3] for line in out.splitlines() if line.startswith("kopt.")] == [
        ["kopt.dialects", "activation", "(kopt-relu6)"],
        ["kopt.passes", "lower-activation", "(kopt-relu6)"],
        ["kopt.targets", "sm87", "(kopt-relu6)"],
    ]


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret@sm87"])
def test_the_library_runs_it_on_every_target_and_on_its_own_chip(target: str):
    module = kopt.parse(IR.read_text(), str(IR))
    with pytest.raises(kopt.KoptError, match=r"relu6\.mlir:5:10: error: .*'activation\.relu6'"):
        kopt.lower_module(module, target=target).compile()(np.zeros(1000, np.float32))
    lowered = kopt.lower_module(kopt.run_pipeline(module, "lower-activation"), target=target)
    x = np.linspace(-10, 10, 1000, dtype=np.float32)
    assert str(lowered.target) == target
    np.testing.assert_array_equal(np.asarray(lowered.compile()(x)), np.clip(x, 0, 6))


@pytest.mark.usefixtures("example")
def test_block_sizes_are_chosen_for_the_chip_by_its_costs():
    from kopt import build

    b = build.OpBuilder()
    with b.function("double", {"x": "f32[1000]"}) as (x,):
        with b.grid(1000) as (rows,):
            x[rows] = x[rows] * 2.0
    lowered = kopt.lower_module(b.module, target="triton:sm87")
    assert lowered.config.block_sizes and "@triton.jit" in lowered.source
    with pytest.raises(kopt.ConfigError, match="unknown target 'pallas:sm87'"):
        kopt.lower_module(b.module, target="pallas:sm87")


def test_nothing_is_looked_for_until_a_name_is_not_kopts(monkeypatch: pytest.MonkeyPatch):
    code = """
import sys, kopt
from kopt.tools.main import main
assert main([sys.argv[1], "-p", "canonicalize,cse", "-o", "/dev/null"]) == 0
kopt.lower_module(kopt.parse(open(sys.argv[1]).read()), target="pallas:v6e")
from kopt.targets.target import parse_target
parse_target("triton:interpret"), parse_target("pallas:strict@v5e")
from kopt import dialects, passes
from kopt.targets import chips
print([group._path for group in (dialects.ALL_DIALECTS.plugins, passes.ALL_PASSES.plugins, chips.PLUGINS)])
"""
    command = [sys.executable, "-c", code, str(ROOT / "examples" / "ir" / "softmax.mlir")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[None, None, None]\n", done.stderr


PASS = """
from dataclasses import dataclass
from xdsl.passes import ModulePass
@dataclass(frozen=True)
class P(ModulePass):
    name = "p"
    def apply(self, ctx, op): raise KeyError("lost")
"""

WRONG = {
    "does not import": (
        "p = one:P",
        "import not_there",
        "does not load: ModuleNotFoundError: No module named 'not_there'",
    ),
    "has no such class": ("p = one:Q", PASS, "does not load: AttributeError: module 'one' has no attribute 'Q'"),
    "exits": ("p = one:P", "raise SystemExit(3)", "does not load: SystemExit: 3"),
    "is no pass": ("p = one:P", "P = 1", "does not load: a pass is a dataclass that is an xdsl.passes.ModulePass"),
    "has another name": ("p = one:P", PASS.replace('"p"', '"q"'), "does not load: its name is 'q'"),
    "clashes with kopt": (
        "p = one:P\ncse = one:P",
        PASS,
        "package 'one' brings a pass 'cse', which is a name of kopt's own",
    ),
}


@pytest.fixture
def clean() -> Iterator[None]:
    yield
    for name in ("one", "two"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("how", WRONG)
def test_a_broken_pass_is_a_diagnostic_where_it_is_named(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    entries, module, message = WRONG[how]
    package(tmp_path, "one", f"[kopt.passes]\n{entries}\n", module)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main([str(ROOT / "examples" / "ir" / "softmax.mlir"), "-p", "cse,p", "-o", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("<pass-pipeline>:1:5: error: ") and message in error and "Traceback" not in error
    assert error.splitlines()[1:3] == ["cse,p", "    ^"]
    assert main(["--show-plugins"]) == 0 and message in capsys.readouterr().out
    assert main(["--show-passes"]) == 0  # the others are listed


@pytest.mark.usefixtures("clean")
def test_a_name_of_two_packages_and_a_pass_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package(tmp_path / "a", "one", "[kopt.passes]\np = one:P\n", PASS)
    monkeypatch.syspath_prepend(str(tmp_path / "a"))
    module = kopt.parse("func.func private @f()\n")
    with pytest.raises(kopt.LoweringError, match="pass 'p' of package 'one' failed: KeyError: 'lost'"):
        kopt.run_pipeline(module, "p")
    package(tmp_path / "b", "two", "[kopt.passes]\np = two:P\n", PASS)
    monkeypatch.syspath_prepend(str(tmp_path / "b"))
    with pytest.raises(kopt.ConfigError, match="the pass 'p' is brought by package '(one|two)' and by '(one|two)'"):
        kopt.run_pipeline(module, "p")
    assert ALL_PASSES.package("cse") is None and ALL_PASSES.package("nothing") is None


@pytest.mark.usefixtures("clean")
def test_broken_dialects_and_chips_are_diagnostics_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    chip = "from dataclasses import replace\nfrom kopt.targets.chips import GPU_CHIPS\n"
    chip += "D = replace(GPU_CHIPS['sm90'], name='c')\n"
    package(tmp_path, "one", "[kopt.dialects]\nd = one:D\n[kopt.targets]\nc = one:D\n", chip)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(kopt.ConfigError) as caught:
        kopt.parse('%0 = "d.op"() : () -> !d.type\n', "f.mlir")
    assert str(caught.value).startswith(
        "f.mlir:1:6: error: the dialect 'd' of package 'one' does not load: a dialect is"
    )
    with pytest.raises(kopt.ConfigError, match="the chip 'c' of package 'one' does not load: it brings no costs"):
        kopt.lower_module(kopt.parse("func.func private @f()\n"), target="triton:c")
    with pytest.raises(kopt.ConfigError, match="unknown target 'triton:d'"):  # what is broken does not stand in the way
        kopt.lower_module(kopt.parse("func.func private @f()\n"), target="triton:d")
