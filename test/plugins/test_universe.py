"""xDSL's own tools know kopt by the entry point ``xdsl.universe``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.xdsl_opt_main import xDSLOptMain

import kopt
from kopt.config import make_config
from kopt.dialects import DIALECTS
from kopt.passes import PASSES
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

ROOT = Path(__file__).resolve().parents[2]
IR = ROOT / "examples" / "ir" / "softmax.mlir"
GROUP = "xdsl.universe"


@pytest.fixture(scope="module")
def advertised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installed kopt says of itself: the entry point of ``pyproject.toml``."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]
    path = tmp_path_factory.mktemp("advertised")
    info = path / "advertised-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: advertised\nVersion: 1.0\n")
    lines = [f"[{GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def xdsl_opt(
    advertised: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """xDSL's tool, on a command line; gives what it prints."""
    monkeypatch.syspath_prepend(str(advertised))

    def run(*arguments: str) -> str:
        xDSLOptMain(args=arguments).run()
        return capsys.readouterr().out

    return run


def test_stock_xdsl_opt_parses_rewrites_and_prints(xdsl_opt: Callable[..., str]):
    out = xdsl_opt(str(IR), "-p", "canonicalize,insert-masks{fold-loads=true},cse")
    want = kopt.run_pipeline(kopt.parse(IR.read_text()), "canonicalize,insert-masks{fold-loads=true},cse")
    assert kopt.parse(out).is_structurally_equivalent(want)


def test_stock_xdsl_opt_goes_all_the_way_to_the_module_that_kopt_emits(xdsl_opt: Callable[..., str]):
    """But for places in the text, which xDSL's parser does not note."""
    passes = ",".join(str(each.pipeline_pass_spec()) for each in pipeline(parse_target("triton:sm90"), make_config({})))
    emitted = xdsl_opt(str(IR), "-p", passes, "-t", "triton-py")
    lowered = kopt.lower_module(kopt.parse(IR.read_text()), target="triton:sm90")
    assert "def softmax(x):" in emitted and emitted == re.sub(
        r"\n *# <string>:\d+(?=\n)|  # <string>:\d+", "", lowered.source
    )


def test_the_multiverse_has_every_dialect_and_pass(advertised: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(advertised))
    multiverse = Universe.get_multiverse()
    assert DIALECTS.keys() <= multiverse.all_dialects.keys() and PASSES.keys() <= multiverse.all_passes.keys()
    for name in PASSES.keys() - XDSL_UNIVERSE.all_passes.keys():
        assert multiverse.all_passes[name]().name == name
    assert [multiverse.all_targets[name]().name for name in ("pallas-py", "jax-py")] == ["pallas-py", "jax-py"]


def test_what_the_gui_lists_for_a_module(advertised: Path, monkeypatch: pytest.MonkeyPatch):
    """Its passes that change the module, in its context: the rest of it is widgets."""
    from xdsl.interactive.passes import get_condensed_pass_list, get_new_registered_context
    from xdsl.parser import Parser

    monkeypatch.syspath_prepend(str(advertised))
    multiverse = Universe.get_multiverse()
    context = get_new_registered_context(tuple(multiverse.all_dialects.items()))
    module = Parser(context, IR.read_text()).parse_module()
    ours = [
        (name, multiverse.all_passes[name]())
        for name in ("insert-masks", "pad-to-power-of-two", "convert-tile-to-triton")
    ]
    found = [each.module_pass.name for each in get_condensed_pass_list(context, module, tuple(ours))]
    assert found == ["pad-to-power-of-two", "convert-tile-to-triton"]  # no dimension that is reduced needs a mask
