"""Symmetric memory: which arrays may lie in it, which ops read and write it; and what of it a device can capture."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, StridedLayoutAttr, f32
from xdsl.ir import Operation

from kopt import parse
from kopt.analysis.capture import can_be_captured, does_work, static_inputs
from kopt.analysis.host_order import host_ops
from kopt.analysis.symmetric import (
    can_choose,
    in_space,
    is_contiguous,
    is_reader,
    is_static,
    overwrites_input,
    uses,
    waits,
    writes,
)
from kopt.dialects.host import PartitionOp
from kopt.dialects.symm import group_of
from test.named import named, only


def strided(shape: tuple[int, ...], strides: tuple[int | None, ...], offset: int = 0) -> MemRefType:
    return MemRefType(f32, shape, StridedLayoutAttr(strides, offset))


@pytest.mark.parametrize(
    ("type", "wanted"),
    [
        (MemRefType(f32, [4, 8]), True),
        (strided((4, 8), (8, 1)), True),
        (strided((4, 8), (8, 1), 5), True),
        (strided((4, 8), (9, 1)), False),
        (strided((4, 8), (1, 4)), False),
        (strided((4, 8), (8, -1)), False),
        (strided((4, 8), (0, 1)), False),
        # Strides of one element say nothing, and of no elements neither.
        (strided((1, 8), (99, 1)), True),
        (strided((8, 1), (1, 99)), True),
        (strided((4, 1, 8), (8, 3, 1)), True),
        (strided((0, 8), (3, 7)), True),
        (strided((4, 8), (None, 1)), False),
        (strided((4,), (2,)), False),
        (MemRefType(f32, []), True),
    ],
)
def test_contiguous_arrays(type: MemRefType, wanted: bool) -> None:
    assert is_contiguous(type) == wanted


def test_static_arrays_have_numbers_for_sizes() -> None:
    assert is_static(MemRefType(f32, [4])) and not is_static(MemRefType(f32, [DYNAMIC_INDEX])) and not is_static(f32)


def test_a_type_moves_to_a_space_and_back() -> None:
    type = strided((4, 8), (9, 1))
    there = in_space(type, "tp")
    assert group_of(there) == "tp" and there.layout == type.layout and in_space(there, None) == type
    assert isinstance(in_space(there, None).memory_space, NoneAttr)


SYMM = 'memref<8xf32, #symm.space<"tp">>'
TEXT = f"""
func.func @f(%x: memref<8xf32>, %r: memref<8xf32>) {{
  %own = host.alloc : memref<8xf32>
  %a = host.alloc persistent "f.0" : {SYMM}
  %two = host.reshape %own : memref<8xf32> to memref<2x4xf32>
  host.copy %x to %a : memref<8xf32>, {SYMM}
  {{line}}
  func.return
}}
"""
OUT = f'symm.all_reduce_out add %a to %r group "tp" by {{}} : {SYMM} to memref<8xf32>'


def last(line: str) -> tuple[Operation, dict]:
    """The op in front of the return, and all values by name."""
    module = parse(TEXT.replace("{line}", line).replace("{{", "{").replace("}}", "}"))
    (func,) = module.ops
    *_, op, _ = func.regions[0].block.ops
    return op, named(module)


def test_a_collective_that_reads_waits_at_the_ends_that_it_names() -> None:
    op, _ = last(OUT.format("one_shot"))
    assert is_reader(op) and [waits(op, end) for end in ("entry", "exit")] == ["tp", "tp"]
    op, _ = last(OUT.format("one_shot barriers [exit]"))
    assert [waits(op, end) for end in ("entry", "exit")] == [None, "tp"]
    op, _ = last('symm.barrier group "tp"')
    assert not is_reader(op) and [waits(op, end) for end in ("entry", "exit")] == ["tp", "tp"]
    op, _ = last("host.copy %x to %r : memref<8xf32>, memref<8xf32>")
    assert waits(op, "entry") is None


def test_two_shots_leave_other_numbers_in_the_input() -> None:
    one, two = (last(OUT.format(kind))[0] for kind in ("one_shot", "two_shot"))
    assert not overwrites_input(one) and overwrites_input(two)


def test_what_an_op_writes_is_named_by_its_root() -> None:
    op, values = last("host.copy %x to %r : memref<8xf32>, memref<8xf32>")
    assert writes(op) == (values["r"],)
    op, values = last(
        "%y = host.reshape %x : memref<8xf32> to memref<2x4xf32>\n"
        "host.copy %y to %two : memref<2x4xf32>, memref<2x4xf32>"
    )
    assert writes(op) == (values["own"],)
    op, values = last(OUT.format("two_shot"))
    assert set(writes(op)) == {values["a"], values["r"]}
    op, values = last(OUT.format("one_shot"))
    assert writes(op) == (values["r"],)


def test_reuse_writes_where_it_fills() -> None:
    op, values = last("%b = host.reuse %own : memref<8xf32>")
    assert writes(op) == ()
    op, values = last("%b = host.reuse %own fill 0.0 : memref<8xf32>")
    assert writes(op) == (values["own"],)


def test_a_function_chooses_where_its_own_allocations_lie() -> None:
    _, values = last("")
    assert can_choose(values["own"]) and not can_choose(values["x"]) and not can_choose(values["two"])


def test_views_are_looked_through_for_uses() -> None:
    op, values = last("host.copy %two to %two : memref<2x4xf32>, memref<2x4xf32>")
    assert list(uses(values["own"])) == [op, op]
    assert list(uses(values["two"])) == [op, op]


@pytest.mark.parametrize(
    ("line", "work", "captured"),
    [
        ("host.copy %x to %r : memref<8xf32>, memref<8xf32>", True, True),
        # What the caller gives may lie elsewhere the next time; what ranks find must not be copied from there.
        (f"host.copy %x to %a : memref<8xf32>, {SYMM}", True, False),
        (f"host.copy %own to %a : memref<8xf32>, {SYMM}", True, True),
        ("host.copy %two to %t : memref<2x4xf32>, memref<2x4xf32>", True, True),
        (OUT.format("one_shot"), True, True),
        ('symm.barrier group "tp"', True, True),
        ("%b = host.alloc : memref<8xf32>", False, True),
        (f'%b = host.alloc persistent "f.1" : {SYMM}', False, False),
        ("%b = host.reuse %own : memref<8xf32>", False, True),
        ("%b = host.reshape %own : memref<8xf32> to memref<2x4xf32>", False, True),
        ('%b = host.call "aten.cumsum.default"(%x) args [unit, 0] : (memref<8xf32>) -> (memref<8xf32>)', False, False),
    ],
)  # fmt: skip
def test_what_a_device_captures(line: str, work: bool, captured: bool) -> None:
    if "%t :" in line:
        line = f"%t = host.reshape %r : memref<8xf32> to memref<2x4xf32>\n{line}"
    op, _ = last(line)
    assert (does_work(op), can_be_captured(op)) == (work, captured)


PARTITION = """
  %p = host.partition capture -> memref<8xf32> {
    %s = host.alloc : memref<8xf32>
    host.copy %own to %s : memref<8xf32>, memref<8xf32>
    host.copy %a to %s : memref<8xf32, #symm.space<"tp">>, memref<8xf32>
    host.copy %x to %s : memref<8xf32>, memref<8xf32>
    host.yield %s : memref<8xf32>
  }
"""


def test_ops_of_partitions_run_in_their_place() -> None:
    module = parse(TEXT.replace("{line}", PARTITION).replace("{{", "{").replace("}}", "}"))
    (func,) = module.ops
    names = [op.name for op in host_ops(func.regions[0].block)]
    assert names[-7:] == ["host.partition", "host.alloc", *["host.copy"] * 3, "host.yield", "func.return"]


def test_a_capture_finds_symmetric_arrays_and_those_of_partitions_again() -> None:
    module = parse(TEXT.replace("{line}", PARTITION).replace("{{", "{").replace("}}", "}"))
    assert static_inputs(only(module, PartitionOp)) == [named(module)["a"]]
