"""Symmetric memory that one rank reads while another writes it, barrier by barrier."""

from __future__ import annotations

from itertools import product

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.symm_hazards import hazards, memory, name_of, written_by_later_calls
from test.named import named, only

SYMM = 'memref<8xf32, #symm.space<"tp">>'
TEXT = """
func.func @f(%x: memref<8xf32>, %r: memref<8xf32>){type} {{
  %a = host.alloc persistent "f.0" : {symm}
  {body}
  func.return{returned}
}}
"""
WRITE = f"host.copy %x to %a : memref<8xf32>, {SYMM}"
BARRIER, OTHER = 'symm.barrier group "tp"', 'symm.barrier group "dp"'


def read(barriers: str = "[]") -> str:
    return f'symm.all_reduce_out add %a to %r group "tp" by one_shot barriers {barriers} : {SYMM} to memref<8xf32>'


def function(*body: str, returns: str = "") -> FuncOp:
    type, returned = (f" -> {SYMM}", f" %{returns} : {SYMM}") if returns else ("", "")
    return only(parse(TEXT.format(body="\n  ".join(body), type=type, returned=returned, symm=SYMM)), FuncOp)


def messages(*body: str, **more: str) -> list[str]:
    return [hazard.message for hazard in hazards(function(*body, **more))]


@pytest.mark.parametrize(("before", "after"), [*product((True, False), repeat=2)])
def test_a_read_between_two_barriers(before: bool, after: bool) -> None:
    """In lines of their own, or in the collective's: each that is missing is one hazard."""
    lines = messages(WRITE, *[BARRIER] * before, read(), *[BARRIER] * after)
    words = [word for word, there in (("entry", before), ("exit", after)) if there]
    assert len(lines) == (not before) + (not after) == len(messages(WRITE, read(f"[{', '.join(words)}]")))


def test_what_was_never_written_here_needs_no_entry() -> None:
    assert messages(read("[exit]")) == []


def test_a_barrier_of_another_group_is_none() -> None:
    assert len(messages(WRITE, OTHER, read("[exit]"))) == 1


def test_a_barrier_counts_once() -> None:
    """What is written again after it is not there yet."""
    assert len(messages(WRITE, BARRIER, WRITE, read("[exit]"))) == 1


def test_writing_again_while_others_read() -> None:
    again, ends = messages(WRITE, BARRIER, read(), WRITE)
    assert "when it is written again" in again and "the next call writes it again" in ends


@pytest.mark.parametrize("reads", [1, 2])
def test_reads_may_follow_one_another(reads: int) -> None:
    assert messages(WRITE, BARRIER, *[read()] * reads, BARRIER) == []


def test_symmetric_memory_is_not_returned() -> None:
    (message,) = messages(returns="a")
    assert message == "'a' is returned, but its memory is symmetric: later calls write it again"


def test_an_id_is_one_arrays() -> None:
    (message,) = messages(f'%b = host.alloc persistent "f.0" : {SYMM}')
    assert message == 'two arrays have the id "f.0"'
    assert messages(f'%b = host.alloc persistent "f.1" : {SYMM}') == []


def test_memory_is_followed_through_views_and_reuse() -> None:
    two = 'memref<2x4xf32, #symm.space<"tp">>'
    func = function(f"%b = host.reuse %a : {SYMM}", f"%v = host.reshape %b : {SYMM} to {two}")
    values = named(func)
    assert memory(values["v"]) is values["a"] is memory(values["a"])
    assert name_of(values["v"]) == "'b'"
    assert written_by_later_calls(values["v"]) == "its memory is symmetric"
    assert written_by_later_calls(func.body.block.args[0]) is None
