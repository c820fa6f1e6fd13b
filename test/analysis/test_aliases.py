"""Which storage a memref is, and who reads and writes it."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.traits import MemoryEffectKind

from kopt import parse
from kopt.analysis.aliases import accessed, effects_on_memory, root, users, view_chain, written_arguments
from kopt.dialects.host import CopyOp, PartitionOp
from kopt.dialects.tile import GridOp, LoadOp, StoreOp
from test.named import named, only

READ, WRITE = MemoryEffectKind.READ, MemoryEffectKind.WRITE

VIEWS = """
func.func @f(%x: memref<4x8xf32>, %y: memref<8xf32>) {
  %flat = host.reshape %x : memref<4x8xf32> to memref<32xf32>
  %part = host.slice %flat [8] [8] [1] : memref<32xf32> to memref<8xf32, strided<[1], offset: 8>>
  %wide = host.expand %part : memref<8xf32, strided<[1], offset: 8>> to memref<2x8xf32, strided<[0, 1], offset: 8>>
  %new = host.alloc : memref<8xf32>
  %again = host.reshape %new : memref<8xf32> to memref<2x4xf32>
  %copied = host.call "aten.exp.default"(%y) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  %first, %second = host.partition capture -> memref<8xf32>, memref<2x4xf32> {
    %inner = host.alloc : memref<8xf32>
    host.yield %inner, %again : memref<8xf32>, memref<2x4xf32>
  }
  %outer = host.partition capture -> memref<8xf32> {
    %passed = host.partition capture -> memref<8xf32> {
      host.yield %y : memref<8xf32>
    }
    host.yield %passed : memref<8xf32>
  }
  %end = host.reshape %second : memref<2x4xf32> to memref<8xf32>
  func.return
}
"""


@pytest.mark.parametrize(
    "value, storage, chain",
    [
        ("x", "x", []),
        ("flat", "x", ["flat"]),
        ("part", "x", ["flat", "part"]),
        ("wide", "x", ["flat", "part", "wide"]),
        ("new", "new", []),
        ("again", "new", ["again"]),
        ("copied", "copied", []),
        ("first", "inner", []),
        ("second", "new", []),
        ("outer", "y", []),
        ("end", "new", ["end"]),
    ],
)
def test_views_and_partitions_are_followed_to_the_storage(value: str, storage: str, chain: list[str]) -> None:
    values = named(parse(VIEWS))
    assert root(values[value]) is values[storage]
    assert view_chain(values[value]) == tuple(values[name].owner for name in chain)


ACCESSES = """
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %unused: memref<8xf32>, %n: index) {
  %flat = host.reshape %z : memref<8xf32> to memref<2x4xf32>
  tile.grid (%i: b0=4) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=4 x f32>
    tile.for %k: b1=2 in (0, 2) {
      %w = tile.load %flat[%k, 0] : memref<2x4xf32> -> !tile.tile<b1=2 x f32>
      %again = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=4 x f32>
      tile.store %w, %flat[%k, 1] : !tile.tile<b1=2 x f32>, memref<2x4xf32>
    }
    atomic.rmw add %v, %y[%i] : !tile.tile<b0=4 x f32>, memref<8xf32>
  }
  host.copy %x to %y : memref<8xf32>, memref<8xf32>
  func.return
}
"""


def test_effects_come_in_the_order_of_the_text_at_any_depth() -> None:
    module = parse(ACCESSES)
    values = named(module)
    x, y, flat = values["x"], values["y"], values["flat"]
    found = list(effects_on_memory(only(module, GridOp)))
    assert found[:4] == [(READ, x), (READ, flat), (READ, x), (WRITE, flat)]
    assert set(found[4:]) == {(READ, y), (WRITE, y)}


def test_accessed_memrefs_are_named_once_views_by_themselves() -> None:
    module = parse(ACCESSES)
    values = named(module)
    grid, copy = only(module, GridOp), only(module, CopyOp)
    assert accessed(grid, READ) == (values["x"], values["flat"], values["y"])
    assert accessed(grid, WRITE) == (values["flat"], values["y"])
    assert (accessed(copy, READ), accessed(copy, WRITE)) == ((values["x"],), (values["y"],))
    assert accessed(only(module, StoreOp), READ) == ()


def test_arguments_are_written_through_views_too() -> None:
    module = parse(ACCESSES)
    values = named(module)
    assert written_arguments(only(module, FuncOp)) == (values["y"], values["z"])


def test_what_a_function_makes_is_no_argument() -> None:
    module = parse(VIEWS)
    assert written_arguments(only(module, FuncOp)) == ()


def test_what_a_partition_passes_on_is_written_where_it_lies() -> None:
    module = parse("""
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      %p = host.partition capture -> memref<8xf32> {
        host.yield %y : memref<8xf32>
      }
      host.copy %x to %p : memref<8xf32>, memref<8xf32>
      func.return
    }
    """)
    assert written_arguments(only(module, FuncOp)) == (named(module)["y"],)
    assert only(module, PartitionOp).result_types == (named(module)["y"].type,)


def test_users_are_accesses_and_not_the_plan_of_a_grid() -> None:
    module = parse("""
    func.func @f(%x: memref<8xf32>) {
      tile.grid (%i: b0=4) in (8) plan {order [i] parallel [i] @x = %x window(i) x2} {
        %v = tile.load %x[%i] via @x : memref<8xf32> -> !tile.tile<b0=4 x f32>
        tile.store %v, %x[%i] via @x : !tile.tile<b0=4 x f32>, memref<8xf32>
      }
      func.return
    }
    """)
    memory, grid = named(module)["x"], only(module, GridOp)
    assert memory in grid.operands
    assert len(users(memory)) == 2 and set(users(memory)) == {only(module, LoadOp), only(module, StoreOp)}


def test_refs_of_a_kernel_are_no_memrefs() -> None:
    module = parse("""
    func.func @f(%x: memref<8xf32>) -> memref<8xf32> {
      %o = pallas.call @f(%x) windows [<[8], (d0) -> (0), vmem>, <[8], (d0) -> (0), vmem>]
          semantics (arbitrary) aliases [-1]
          : (memref<8xf32>) -> memref<8xf32> {
      ^bb0(%x_ref: !tile.ref<8 x f32, vmem>, %o_ref: !tile.ref<8 x f32, vmem>):
        tile.grid (%i: b0=8) in (8) {
          %v = tile.get %x_ref[:] : !tile.ref<8 x f32, vmem> -> !tile.tile<8 x f32>
          tile.put %v, %o_ref[:] : !tile.tile<8 x f32>, !tile.ref<8 x f32, vmem>
        }
      }
      func.return %o : memref<8xf32>
    }
    """)
    assert list(effects_on_memory(only(module, GridOp))) == []
