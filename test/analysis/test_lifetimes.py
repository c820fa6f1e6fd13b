"""From where to where arrays of a host function are used."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from kopt import parse
from kopt.analysis.lifetimes import Lifetime, bytes_of, lifetimes, made_by
from kopt.dialects.host import CopyOp, PartitionOp
from kopt.walk import walk
from test.named import named, only

V = "memref<8xf32>"
S = 'memref<8xf32, #symm.space<"tp">>'


def of(lines: str) -> tuple[list[Operation], dict[str, Lifetime]]:
    """The ops of a function's body, and its arrays' lifetimes by name."""
    func = only(parse(f"func.func @f(%x: {V}, %n: index) -> {V} {{\n{lines}\n}}"), FuncOp)
    return list(func.body.block.ops), {str(life.array.name_hint): life for life in lifetimes(func)}


def copy(source: str, target: str, source_type: str = V, target_type: str = V) -> str:
    """A copy of one array into another."""
    return f"host.copy %{source} to %{target} : {source_type}, {target_type}\n"


def test_from_the_first_use_to_the_last() -> None:
    ops, lives = of(
        f"%a = host.alloc : {V}\n%b = host.alloc : {V}\n%never = host.alloc : {V}\n"
        + copy("x", "a") + copy("a", "b") + copy("b", "x") + f"func.return %x : {V}"
    )  # fmt: skip
    assert list(lives) == ["a", "b"]
    assert (lives["a"].start, lives["a"].end) == (ops[3], ops[4])
    assert (lives["b"].start, lives["b"].end) == (ops[4], ops[5])
    assert lives["a"].block is lives["b"].block is ops[0].parent


def test_views_are_uses_and_what_is_returned_lives_until_then() -> None:
    ops, lives = of(
        f"%a = host.alloc : {V}\n" + copy("x", "a")
        + f"%v = host.reshape %a : {V} to memref<2x4xf32>\n%w = host.reshape %v : memref<2x4xf32> to {V}\n"
        + copy("x", "x") + f"func.return %w : {V}"
    )  # fmt: skip
    assert list(lives) == ["a"]
    assert (lives["a"].start, lives["a"].end) == (ops[1], ops[-1])


def test_a_calls_result_lives_from_the_call() -> None:
    ops, lives = of(
        copy("x", "x") + f'%c = host.call "aten.exp.default"(%x) args [unit] : ({V}) -> ({V})\n'
        + copy("x", "x") + copy("c", "x") + f"func.return %x : {V}"
    )  # fmt: skip
    assert (lives["c"].start, lives["c"].end) == (ops[1], ops[3])


def test_what_is_freed_is_given_back_already() -> None:
    _, lives = of(f"%a = host.alloc : {V}\n" + copy("x", "a") + f"host.free %a : {V}\nfunc.return %x : {V}")
    assert lives["a"].end is None


def test_accesses_of_a_grid_are_the_grids() -> None:
    ops, lives = of(f"""%a = host.alloc : {V}
      tile.grid (%i: b0=4) in (8) {{
        %v = tile.load %x[%i] : {V} -> !tile.tile<b0=4 x f32>
        tile.store %v, %a[%i] : !tile.tile<b0=4 x f32>, {V}
      }}
      {copy("a", "x")} func.return %x : {V}""")
    assert (lives["a"].start, lives["a"].end) == (ops[1], ops[2])


PARTITIONS = f"""
  %own = host.alloc : {V}
  %shared = host.alloc : {V}
  %p = host.partition capture -> {V} {{
    %inner = host.alloc : {V}
    %out = host.alloc : {V}
    {copy("x", "own")} {copy("own", "inner")} {copy("inner", "shared")} {copy("x", "out")}
    host.yield %out : {V}
  }}
  {copy("shared", "x")}
  func.return %p : {V}
"""


def test_the_innermost_run_of_ops_that_has_all_uses() -> None:
    ops, lives = of(PARTITIONS)
    partition = ops[2]
    assert isinstance(partition, PartitionOp)
    copies = walk(partition, CopyOp)
    inside = partition.body.block
    assert (lives["own"].block, lives["own"].start, lives["own"].end) == (inside, copies[0], copies[1])
    assert (lives["inner"].block, lives["inner"].start, lives["inner"].end) == (inside, copies[1], copies[2])
    assert (lives["shared"].block, lives["shared"].start, lives["shared"].end) == (ops[0].parent, partition, ops[3])


def test_what_a_partition_passes_on_outlives_it() -> None:
    ops, lives = of(PARTITIONS)
    partition = ops[2]
    assert isinstance(partition, PartitionOp)
    assert lives["out"].block is partition.body.block and lives["out"].end is None
    assert "p" not in lives


READS = f'symm.all_reduce_out add %a to %x group "tp" by one_shot barriers [entry] : {S} to {V}\n'
WAITS = f'symm.all_reduce_out add %a to %x group "tp" by one_shot : {S} to {V}\n'
BARRIER = 'symm.barrier group "tp"\n'


@pytest.mark.parametrize(
    "lines, end",
    [
        (WAITS, 2),
        (READS, None),
        (READS + BARRIER, 3),
        (READS + 'symm.barrier group "dp"\n', None),
        (READS + copy("x", "x") + BARRIER + BARRIER, 4),
        (READS + BARRIER + copy("a", "x", S), 4),
        (READS + copy("a", "x", S) + BARRIER, 4),
        (READS + WAITS, 3),
        (WAITS + READS, None),
        (copy("a", "x", S), 2),
    ],
)
def test_other_ranks_may_read_until_all_have_waited(lines: str, end: int | None) -> None:
    text = f'%a = host.alloc persistent "f.0" : {S}\n' + copy("x", "a", V, S) + lines + f"func.return %x : {V}"
    ops, lives = of(text)
    assert lives["a"].end is (None if end is None else ops[end])


@pytest.mark.parametrize("inside", [WAITS, READS, READS + BARRIER])
@pytest.mark.parametrize("behind", ["", BARRIER])
def test_ends_are_ops_of_the_arrays_own_block(inside: str, behind: str) -> None:
    """A reader in a partition that has not all uses: what it waits for in there is no op of the block."""
    partition = f"host.partition capture {{\n{inside}}}\n"
    text = f'%a = host.alloc persistent "f.0" : {S}\n' + copy("x", "a", V, S) + partition + behind
    ops, lives = of(text + f"func.return %x : {V}")
    life = lives["a"]
    assert (life.block, life.start) == (ops[0].parent, ops[1])
    assert life.end is None or life.end.parent is life.block


@pytest.mark.parametrize(
    "type, size",
    [("8xf32", 32), ("2x3xbf16", 12), ("f32", 4), ("5xi1", 5), ("3x0xi64", 0), ("7xi8", 7)],
)
def test_bytes(type: str, size: int) -> None:
    module = parse(f"func.func @f(%a: memref<{type}>) {{ func.return }}")
    assert bytes_of(named(module)["a"].type) == size


def test_arrays_of_static_shape_are_made_by_allocations_and_calls() -> None:
    module = parse(f"""
    func.func @f(%x: {V}, %d: memref<?xf32>) {{
      %a = host.alloc : {V}
      %c = host.call "aten.exp.default"(%x) args [unit] : ({V}) -> ({V})
      %e = host.call "aten.exp.default"(%d) args [unit] : (memref<?xf32>) -> (memref<?xf32>)
      %v = host.reshape %a : {V} to memref<2x4xf32>
      %p = host.partition capture -> {V} {{
        host.yield %a : {V}
      }}
      %n = arith.constant 3 : index
      func.return
    }}
    """)
    func = only(module, FuncOp)
    made = [value.name_hint for op in func.body.block.ops for value in made_by(op)]
    assert made == ["a", "c"]
