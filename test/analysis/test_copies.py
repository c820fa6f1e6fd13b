"""Copies that are started and waited for at once, and whether anything else touches what they use."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.copies import (
    array_of,
    is_fetch,
    is_only_read,
    kept_lanes,
    others_touching,
    refs_of_array,
    synchronous_copy,
)
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import GetOp, PutOp, SelectOp
from kopt.walk import walk
from test.named import named, only

HBM, BUFFER, SEM = "!tile.ref<64 x 128 x f32, hbm>", "!tile.ref<8 x 128 x f32, vmem>", "!tile.ref<1 x f32, semaphore>"
BLOCK = "!tile.tile<b0=8 x 128 x f32>"
TEXT = f"""
func.func @f(%x: memref<64x128xf32>, %old: memref<64x128xf32>) -> memref<64x128xf32> {{{{
  %out = pallas.call @f(%x, %old) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] : (memref<64x128xf32>, memref<64x128xf32>) -> (memref<64x128xf32>) {{{{
  ^bb0(%x_ref: {HBM}, %old_ref: {HBM}, %new_ref: {HBM}, %buffer: {BUFFER}, %sem: {SEM}, %buffer2: {BUFFER}, %sem2: {SEM}):
    tile.grid (%i: b0=8) in (64) {{{{
      %m = tile.full true : !tile.tile<b0=8 x 128 x i1>
      %z = tile.full 1.0 : {BLOCK}
      {{body}}
    }}}}
  }}}}
  func.return %out : memref<64x128xf32>
}}}}
"""  # noqa: E501


def dma(kind: str, source: str, target: str, sem: str = "sem") -> str:
    """One half of a copy between rows ``%i`` of an array and the whole of a buffer."""
    places = {name: ":, :" if name.startswith("buffer") else "%i, :" for name in (source, target)}
    types = {name: BUFFER if name.startswith("buffer") else HBM for name in (source, target)}
    ends = f"%{source}[{places[source]}] to %{target}[{places[target]}] signal %{sem}[0]"
    return f"pallas.dma_{kind} {ends} : {types[source]}, {types[target]}, {SEM}"


def both(source: str, target: str, sem: str = "sem") -> str:
    return "\n ".join(dma(kind, source, target, sem) for kind in ("start", "wait"))


def get(buffer: str = "buffer", name: str = "v") -> str:
    return f"%{name} = tile.get %{buffer}[:, :] : {BUFFER} -> {BLOCK}"


def put(buffer: str = "buffer", value: str = "z") -> str:
    return f"tile.put %{value}, %{buffer}[:, :] : {BLOCK}, {BUFFER}"


FETCH, SEND = f"{both('x_ref', 'buffer')}\n {get()}", f"{put()}\n {both('buffer', 'new_ref')}"


def parsed(body: str):
    module = parse(TEXT.format(body=body))
    return module, named(module)


def test_a_fetch_and_what_it_is_made_of() -> None:
    module, values = parsed(FETCH)
    start, wait = only(module, DmaStartOp), only(module, DmaWaitOp)
    read = values["v"].owner
    assert is_fetch(start) and array_of(start) is values["x_ref"]
    copy = synchronous_copy(start)
    assert copy is not None and copy.is_fetch and copy.ops == (start, wait, read)
    assert copy.array is values["x_ref"] and copy.buffer is values["buffer"]
    assert copy.entries == start.source_entries and copy.entries[0] is values["i"]
    assert copy.type == values["v"].type


def test_a_send_and_what_it_is_made_of() -> None:
    module, values = parsed(SEND)
    start = only(module, DmaStartOp)
    copy = synchronous_copy(start)
    assert not is_fetch(start) and array_of(start) is values["new_ref"]
    assert copy is not None and not copy.is_fetch and copy.access is only(module, PutOp)
    assert copy.array is values["new_ref"] and copy.buffer is values["buffer"]
    assert copy.entries[0] is values["i"] and copy.type == values["z"].type


NOT_SYNCHRONOUS = {
    "not waited for": f"{dma('start', 'x_ref', 'buffer')}\n {get()}",
    "waited for later": f"""{dma("start", "x_ref", "buffer")}
    %y = tile.exp %z : {BLOCK}
    {dma("wait", "x_ref", "buffer")}
    {get()}""",
    "another is waited for": f"{dma('start', 'x_ref', 'buffer')}\n {dma('wait', 'old_ref', 'buffer')}\n {get()}",
    "by another semaphore": f"{dma('start', 'x_ref', 'buffer')}\n {dma('wait', 'x_ref', 'buffer', 'sem2')}\n {get()}",
    "not read next": f"{both('x_ref', 'buffer')}\n %y = tile.exp %z : {BLOCK}\n {get()}",
    "read in part": f"""{both("x_ref", "buffer")}
    %v = tile.get %buffer[:, 0:8] : {BUFFER} -> !tile.tile<b0=8 x 8 x f32>""",
    "another buffer is read": f"{both('x_ref', 'buffer')}\n {get('buffer2')}",
    "the buffer is used elsewhere": f"{FETCH}\n {get(name='w')}",
    "the semaphore is used elsewhere": f"{FETCH}\n {both('old_ref', 'buffer2')}\n {get('buffer2', 'w')}",
    "not written before": both("buffer", "new_ref"),
    "the buffer that is sent is read": f"{SEND}\n {get()}",
}


@pytest.mark.parametrize("body", NOT_SYNCHRONOUS.values(), ids=NOT_SYNCHRONOUS)
def test_other_copies_are_not_synchronous(body: str) -> None:
    module, _ = parsed(body)
    assert synchronous_copy(walk(module, DmaStartOp)[0]) is None


def kept(array: str = "new_ref", value: str = "%z, %v", more: str = "") -> str:
    """A send of lanes where ``%m`` holds: the others are fetched before."""
    return f"""{both(array, "buffer", "sem")}
    {get()}
    %s = tile.select %m, {value} : {BLOCK}
    {more}
    {put("buffer2", "s")}
    {both("buffer2", "new_ref", "sem2")}"""


def lanes_kept(body: str):
    module, values = parsed(body)
    send = synchronous_copy(walk(module, DmaStartOp)[-1])
    assert send is not None
    return kept_lanes(send), module, values


def test_lanes_that_a_send_leaves_alone_are_fetched_before() -> None:
    found, module, values = lanes_kept(kept())
    assert found is not None and found.select is only(module, SelectOp)
    assert found.fetch == synchronous_copy(walk(module, DmaStartOp)[0]) and found.fetch.access is values["v"].owner


NOT_KEPT = {
    "a value alone": SEND,
    "of another array": kept("x_ref"),
    "the new lanes are the fetched": kept(value="%v, %z"),
    "what is selected is used elsewhere": kept(more=f"%y = tile.exp %s : {BLOCK}"),
    "what is fetched is used elsewhere": kept(more=f"%y = tile.exp %v : {BLOCK}"),
}


@pytest.mark.parametrize("body", NOT_KEPT.values(), ids=NOT_KEPT)
def test_sends_that_keep_no_lanes(body: str) -> None:
    assert lanes_kept(body)[0] is None


@pytest.mark.parametrize(
    ("ref", "wanted"), [("x_ref", {"x_ref"}), ("old_ref", {"old_ref", "new_ref"}), ("new_ref", {"old_ref", "new_ref"})]
)
def test_an_operand_and_the_result_that_takes_it_over_are_one(ref: str, wanted: set[str]) -> None:
    module, values = parsed("")
    assert refs_of_array(only(module, CallOp), values[ref]) == {values[name] for name in wanted}


@pytest.mark.parametrize(
    ("body", "ref", "wanted"),
    [
        ("", "x_ref", True),
        (FETCH, "x_ref", True),
        (FETCH, "buffer", False),
        (SEND, "x_ref", True),
        (SEND, "new_ref", False),
        (SEND, "old_ref", False),  # written as the result that takes it over
        (SEND, "buffer", False),
        (f"%v = tile.get %x_ref[0:8, :] : {HBM} -> !tile.tile<8 x 128 x f32>", "x_ref", True),
    ],
)
def test_arrays_that_nothing_writes(body: str, ref: str, wanted: bool) -> None:
    module, values = parsed(body)
    assert is_only_read(only(module, CallOp), values[ref]) is wanted


def test_what_else_names_an_array() -> None:
    module, values = parsed(f"{FETCH}\n {both('old_ref', 'buffer2', 'sem2')}\n {get('buffer2', 'w')}")
    ops = [*walk(module, DmaStartOp), *walk(module, DmaWaitOp), *walk(module, GetOp)]
    copy = synchronous_copy(ops[0])
    assert copy is not None
    assert not others_touching(ops, {values["x_ref"]}, copy.ops)
    assert others_touching(ops, {values["x_ref"]}, ())
    assert others_touching(ops, {values["old_ref"]}, copy.ops) and others_touching(ops, {values["buffer2"]}, copy.ops)
    assert not others_touching([], {values["x_ref"]}, ())
