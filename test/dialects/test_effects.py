"""Which memory an op reads and writes, through the regions of loops and branches."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import MemoryEffectKind, get_effects

from kopt.parsing import parse_module, verify

TEXT = """
func.func @f(%x: memref<8x8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %c: i1) {
  tile.grid (%i: b0=4) in (8) {
    %z0 = tile.full 0.0 : !tile.tile<b0=4 x f32>
    %r = tile.for %k: b1=4 in (0, 8) iter(%a = %z0) -> (!tile.tile<b0=4 x f32>) {
      %v = tile.load %x[%i, %k] : memref<8x8xf32> -> !tile.tile<b0=4 x b1=4 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=4 x b1=4 x f32>
      tile.yield %s : !tile.tile<b0=4 x f32>
    }
    %q = scf.if %c -> (!tile.tile<b0=4 x f32>) {
      %w = tile.load %y[%i] : memref<8xf32> -> !tile.tile<b0=4 x f32>
      scf.yield %w : !tile.tile<b0=4 x f32>
    } else {
      scf.yield %r : !tile.tile<b0=4 x f32>
    }
    tile.when first(%i) {
      tile.store %q, %z[%i] : !tile.tile<b0=4 x f32>, memref<8xf32>
    }
    tile.for %l: b2=4 in (0, 8) {
    }
  }
  func.return
}
"""


def named(module: ModuleOp, name: str) -> list[Operation]:
    """The module's operations of a name."""
    return [op for op in module.walk() if op.name == name]


def effects(op: Operation) -> set[tuple[str, str]]:
    """An op's effects: kind and value; they have to be known."""
    found = get_effects(op)
    assert found is not None, f"the effects of {op.name} are unknown"
    return {(effect.kind.name, effect.value.name_hint or "") for effect in found}


@pytest.fixture(scope="module")
def module() -> ModuleOp:
    """The text above."""
    parsed = parse_module(TEXT)
    verify(parsed)
    return parsed


def test_effects_go_through_regions(module: ModuleOp) -> None:
    """What is inside is what the loop does."""
    assert effects(*named(module, "tile.grid")) == {("READ", "x"), ("READ", "y"), ("WRITE", "z")}
    full, empty = named(module, "tile.for")
    assert effects(full) == {("READ", "x")} and effects(empty) == set()
    assert effects(*named(module, "tile.when")) == {("WRITE", "z")}
    assert effects(*named(module, "scf.if")) == {("READ", "y")}


def test_terminators_have_no_effects(module: ModuleOp) -> None:
    """Or loops would have unknown ones."""
    for name in ("tile.yield", "scf.yield"):
        for op in named(module, name):
            assert effects(op) == set()


@pytest.mark.parametrize("name", ["atomic.rmw", "atomic.cas"])
def test_updates_read_and_write_their_target(name: str) -> None:
    text = (Path(__file__).resolve().parents[1] / "lit" / "dialects" / "atomic.mlir").read_text()
    for op in named(parse_module(text), name):
        found = {(effect.kind, effect.value) for effect in get_effects(op) or ()}
        assert found == {(MemoryEffectKind.READ, op.memory), (MemoryEffectKind.WRITE, op.memory)}
