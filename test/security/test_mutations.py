"""Mutants of IR texts are accepted or refused: no traceback, no hang."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import kopt
from kopt.passes import PASSES
from test.fuzzing.record import Record
from test.security import fuzz_ir
from test.security.journeys import TARGETS, Journey
from test.security.mutations import texts
from test.security.rewrites import REWRITES

#: Other mutants: ``KOPT_FUZZ_SEED=7 pytest test/security``; without an end: ``make fuzz-ir``.
SEED = int(os.environ.get("KOPT_FUZZ_SEED", "1"))
#: Mutants that once failed, as small as they were found.
CORPUS = sorted(Path(__file__).with_name("corpus").glob("*.mlir"))


@pytest.mark.parametrize("part", range(2))
def test_mutants_are_accepted_or_refused(part: int, tmp_path: Path) -> None:
    """In a process of its own, of limited memory: a mutant that takes all of it ends with it."""
    seed = 2 * SEED + part
    command = [sys.executable, str(Path(fuzz_ir.__file__)), "--worker", "--seed", str(seed), "--each", "250"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stderr}\n{(tmp_path / f'{seed}.case').read_text()}"
    record = Record.load(tmp_path / f"{seed}.json")
    assert not record.failures, "\n".join(f"{what}\n{text}" for what, text in record.failures.items())
    assert record.counts["passed parse"] > 40, record.counts  # what is refused at once tests little


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_failed_once_is_answered(path: Path) -> None:
    """By every pass alone, and on the way to each kind of target."""
    journey = Journey(random.Random(0))
    assert journey.failure(path.read_text(), 20, [*PASSES], TARGETS) is None


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.__name__)
def test_rewrites_change_modules(rewrite) -> None:
    """Each changes a good part of the texts, or tests nothing."""
    changed = 0
    for number, text in enumerate(texts()[::40]):
        try:
            module = kopt.parse(text)
        except kopt.KoptError:
            continue
        before = module.clone()
        rewrite(module, random.Random(number))
        changed += not module.is_structurally_equivalent(before)
    assert changed >= 2


GRID = """
func.func @f(%x: memref<64xf32>, %i32s: memref<64xi32>) -> memref<64xf32> {{
  %out = host.alloc fill 1.0 : memref<64xf32>
  tile.grid (%i: b0={size}) in ({extent}) {{
    {body}
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0={size} x f32>
    tile.store %v, %out[%i] : !tile.tile<b0={size} x f32>, memref<64xf32>
  }}
  func.return %out : memref<64xf32>
}}
"""
BODIES = {
    "huge integers": "%a = arith.constant 1 : i2147483648",
    "huge tiles": "%a = tile.full 0 : !tile.tile<b0=32 x i2147483648>",
    "huge index": "%a = arith.constant 9223372036854775808 : index",
    "huge block": "%a = tile.full 0.0 : !tile.tile<999999999 x 999999999 x f32>",
    "host.copy beside a load": "host.copy %out to %x : memref<64xf32>, memref<64xf32>",
    "host.call": '%a = host.call "aten.exp.default"(%x) args [unit] : (memref<64xf32>) -> (memref<64xf32>)',
    "escape": "%c = arith.constant true\n scf.if %c {\n %e = tile.full 0.0 : !tile.tile<b0=32 x f32>\n }\n"
    " %f = tile.exp %e : !tile.tile<b0=32 x f32>",
    "use before definition": "%f = tile.exp %v : !tile.tile<b0=32 x f32>",
    "other sizes of a tag": "%f = tile.full 0.0 : !tile.tile<b0=16 x f32>",
    "nested attribute": f"%a = tile.full 0.0 {{a = {'[' * 5000}{']' * 5000}}} : !tile.tile<f32>",
    "nested locations": f'%a = tile.full 0.0 : !tile.tile<f32> loc({"callsite(" * 5000}"a":1:1{")" * 5000})',
    "nested regions": "%c = arith.constant true\n" + "scf.if %c {\n" * 500 + "}\n" * 500,
    "a wide type": f"%a = tile.full 0.0 : !tile.tile<{'1 x ' * 100_000}f32>",
    "a wide memref": f"%a = host.alloc : memref<{'1x' * 200_000}f32>",
    "quotes": '"' + '\\"' * 200_000,
}


@pytest.mark.parametrize("what", BODIES)
def test_what_is_beyond_limits_is_refused_at_its_place(what: str) -> None:
    text = GRID.format(size=32, extent=64, body=BODIES[what])
    with pytest.raises((kopt.ParseError, kopt.VerifyError), match=r"^<string>:\d+:\d+: error: ") as refused:
        kopt.parse(text)
    assert len(str(refused.value)) < 6000
    assert Journey(random.Random(0)).failure(text, 20) is None


@pytest.mark.parametrize("extent", [0, 1, 64])
@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_grids_without_cells_write_nothing(extent: int, target: str) -> None:
    import numpy as np

    module = kopt.parse(GRID.format(size=32, extent=extent, body=""))
    found = kopt.lower_module(module, target=target).compile()(np.zeros(64, np.float32), np.zeros(64, np.int32))
    assert np.asarray(found).tolist() == [0.0] * extent + [1.0] * (64 - extent)


@pytest.mark.parametrize("target", ["pallas:v6e", "pallas:tpu7x", "triton:sm90"])
def test_grids_without_cells_lower(target: str) -> None:
    kopt.lower_module(kopt.parse(GRID.format(size=32, extent=0, body="")), target=target)


@pytest.mark.parametrize("target", ["reference", "pallas:v6e", "triton:sm90"])
def test_indices_of_one_lane_may_be_broadcast(target: str) -> None:
    body = """
    %n = tile.index %i : !tile.range<b0=1>
    %w = tile.broadcast %n dims [0] : !tile.tile<b0=1 x i32> to !tile.tile<b0=1 x 8 x i32>
    %g = tile.load %x[%w] : memref<64xf32> -> !tile.tile<b0=1 x 8 x f32>
    %s = tile.reduce add %g [1] : !tile.tile<b0=1 x 8 x f32>
    tile.store %s, %x[%i] : !tile.tile<b0=1 x f32>, memref<64xf32>"""
    kopt.lower_module(kopt.parse(GRID.format(size=1, extent=64, body=body)), target=target)


def test_the_reference_runs_a_limited_number_of_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Visits of loops in loops multiply: each loop's own limit does not end them."""
    import numpy as np

    body = """
    tile.for %k: b1=1 in (0, 64) {
      tile.for %l: b2=1 in (0, 64) {
        %n = tile.index %l : !tile.range<b2=1>
      }
    }"""
    module = kopt.parse(GRID.format(size=1, extent=64, body=body))
    monkeypatch.setattr("kopt.interpreter.machine.OPERATIONS", 10_000)
    with pytest.raises(kopt.UnsupportedError, match="runs at most 10000 operations") as refused:
        kopt.lower_module(module, target="reference").compile()(np.zeros(64, np.float32), np.zeros(64, np.int32))
    assert refused.value.location is not None
