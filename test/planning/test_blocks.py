"""The blocks of a plan's buffers: what accesses touch while the axes stand still that a buffer moves with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.division import floordiv
from kopt.ir.index_expr import ZERO, lane, symbol
from kopt.ir.launch_model import LaunchModel
from kopt.ir.polynomial import parameter
from kopt.planning.blocks import Blocks
from kopt.planning.trips import all_trips
from kopt.plans.plan import Buffer, Plan

from .launches import NATURAL, access, axis, begin, elementwise, grouped, grouped_plan, matmul, matmul_plan, operand

SIZES = {"b0": 128, "b1": 512, "b2": 128}


def blocks(model: LaunchModel, plan: Plan, lengths=None, **sizes) -> Blocks:
    return Blocks(model, plan, sizes, all_trips(model, sizes, lengths or {}))


PRODUCT = matmul(1024, 640, 2048)


@pytest.mark.parametrize(
    ("plan", "shapes"),
    [
        (matmul_plan(), {"x": (128, 128), "y": (128, 512), "o": (128, 512)}),
        (matmul_plan("resident"), {"x": (128, 640), "y": (640, 512), "o": (128, 512)}),
        (matmul_plan("prefetch"), {"x": (128, 128), "y": (128, 512), "o": (128, 512)}),
    ],
    ids=["grid", "resident", "prefetch"],
)
def test_blocks_of_a_product(plan: Plan, shapes: dict[str, tuple[int, int]]) -> None:
    """Windows hold all of the axes that they do not move with; copies move with all that their accesses do."""
    found = blocks(PRODUCT, plan, **SIZES)
    for name, shape in shapes.items():
        buffer = plan.buffer(name)
        assert found.shape(buffer) == shape
        assert found.size(buffer) == found.memory(buffer) == shape[0] * shape[1] * 2
        assert found.memory(buffer, 32) == shape[0] * shape[1] * 4


@pytest.mark.parametrize(
    ("kind", "wanted"), [("grid", {"i", "k"}), ("resident", {"i"}), ("prefetch", {"i", "k"}), ("dma", {"i", "k"})]
)
def test_axes(kind: str, wanted: set[str]) -> None:
    plan = matmul_plan(kind)
    assert blocks(PRODUCT, plan, **SIZES).axes(plan.buffer("x")) == wanted


@pytest.mark.parametrize(("size", "walked"), [(100, 700), (128, 640), (1000, 1000)])
def test_the_last_block_that_is_walked_may_reach_beyond_the_array(size: int, walked: int) -> None:
    plan = matmul_plan("resident")
    assert blocks(PRODUCT, plan, b0=128, b1=512, b2=size).shape(plan.buffer("x")) == (128, walked)


def test_copies_are_not_padded() -> None:
    model, plan = elementwise(4096, False)
    found = blocks(model, plan, b0=100)
    assert found.size(plan.buffers[0]) == 400 and found.memory(plan.buffers[0]) == 512


def test_reads_and_writes() -> None:
    """Of the result's array, whose blocks come in too where it is donated."""
    for donated in (False, True):
        model, plan = elementwise(4096, donated)
        found = blocks(model, plan, b0=1024)
        x, o = plan.buffers
        assert (found.reads(x), found.writes(x)) == (True, False)
        assert (found.reads(o), found.writes(o)) == (donated, True)
        assert [one.id for one in found.accesses(o)] == (["o", "o#1"] if donated else ["o"])
    unused = Buffer("unused", "x", "window")
    assert not found.accesses(unused) and not found.reads(unused) and not found.writes(unused)


def test_updates_read_and_write() -> None:
    model, plan = elementwise(4096, False)
    update = replace(model, accesses=(model.accesses[0], replace(model.accesses[1], mode="atomic")))
    found, o = blocks(update, plan, b0=1024), plan.buffers[1]
    assert found.reads(o) and found.writes(o)


def test_arrays() -> None:
    found = blocks(matmul(1024, 640, parameter("b1") * 4), matmul_plan(), **SIZES)
    assert [found.array_size(name) for name in "xyo"] == [1024 * 640 * 2, 640 * 2048 * 2, 1024 * 2048 * 2]


def strided_model(entries, path=("i", "k")) -> LaunchModel:
    """One load by some indices, in blocks of 8 along a grid's axis and of 4 along a loop's."""
    x = operand("x", (100, 60), bits=32, dtype="f32")
    axes = (axis("i", 8, 64), axis("k", 4, 20, "loop", ("i",)))
    return LaunchModel("strided", axes, (x,), (access("x", "load", x, entries, path),))


I, K = begin("i", 8), begin("k", 4)
LOADED = symbol("n", range=NATURAL)


@pytest.mark.parametrize(
    ("entries", "axes", "kind", "shape"),
    [
        ([(I, 8), (K, 4)], "ik", "window", (8, 4)),
        ([(I, 8), (K, 4)], "i", "window", (8, 20)),
        ([(I, 8), (K, 4)], "k", "window", (64, 4)),
        ([(I, 8), (K, 4)], "", "window", (64, 20)),
        ([I + lane(0, 8) * 3, K], "ik", "window", (22, 1)),
        ([I + lane(0, 8) * 3, K], "i", "window", (22, 17)),  # 5 blocks: from 0 to 16
        ([(K * 2, 4), I], "i", "window", (4 + 2 * 16, 1)),
        ([(K * 9, 4), I], "i", "window", (103, 1)),  # 0 to 147: all that there is, and a block that begins there
        ([(-K + 16, 4), I], "i", "window", (20, 1)),
        ([floordiv(lane(0, 8), 2), I], "i", "window", (100, 1)),  # a lane in a quotient: anything may be
        ([LOADED, I], "i", "window", (100, 1)),  # nothing tells its place but the axes
        ([(LOADED * 8, 8), (ZERO, 60)], "i", "dma", (8, 60)),
        ([(LOADED * 4, 4), (ZERO, 60)], "i", "dma", (100, 60)),  # half a tile of memory: no DMA takes it
        ([(LOADED * 8, 8), (K, 4)], "ik", "dma", (100, 4)),
    ],
)
def test_spans(entries, axes: str, kind: str, shape: tuple[int, int]) -> None:
    """From the least element to the largest, by hand."""
    buffer = Buffer("b", "x", kind, tuple(axes), 2)
    plan = Plan(("i",), frozenset(), (buffer,), {"x": "b"})
    assert blocks(strided_model(entries), plan).shape(buffer) == shape


def test_the_widest_access_counts() -> None:
    """Of each dimension by itself."""
    x = operand("x", (100, 60), bits=32, dtype="f32")
    loads = (access("x", "load", x, [(I, 8), K], ("i", "k")), access("x#1", "load", x, [I, (K, 4)], ("i", "k")))
    model = replace(strided_model([I, K]), accesses=loads)
    buffer = Buffer("b", "x", "window", ("i", "k"), 2)
    both, one = (Plan(("i",), frozenset(), (buffer,), dict.fromkeys(names, "b")) for names in (("x", "x#1"), ("x",)))
    assert blocks(model, both).shape(buffer) == (8, 4) and blocks(model, one).shape(buffer) == (8, 1)


def test_rows_come_one_by_one() -> None:
    """Their elements are the lanes, wherever these are; copies are as many as the runs."""
    places = symbol("n", [0], NATURAL)
    model = strided_model([(I, 8), (K, 4)])
    relation = replace(model.accesses[0].relation, lanes=(8, 4), indices=(places, K + lane(1, 4)))
    model = replace(model, accesses=(replace(model.accesses[0], relation=relation),))
    for kind in ("rows", "row_dma"):
        buffer = Buffer("b", "x", kind, ("i",), 2)
        found = blocks(model, Plan(("i",), frozenset(), (buffer,), {"x": "b"}))
        assert found.size(buffer) == 8 * 4 * 4 and found.rows(buffer) == 8


@pytest.mark.parametrize(
    ("bits", "entries", "memory"),
    [
        (32, [(K, 4)], 8 * 128 * 4),  # a row of words stands alone
        (32, [(K, 1)], 8 * 128 * 4),  # be it of one
        (16, [(K, 4)], 8 * 8 * 128 * 2),  # a narrower one comes with others
        (8, [(K, 4)], 8 * 32 * 128),
        (32, [(I, 8), (K, 4)], 8 * 8 * 128 * 4),  # a block for each number
        (8, [(I, 64), (K, 4)], 8 * 64 * 128),
        (32, [(K, 0)], 0),  # of an array without elements nothing comes
    ],
)
def test_memory_of_rows(bits: int, entries: list, memory: int) -> None:
    """Each of 8 numbers brings a row, or a block of rows; of all that comes narrow rows are picked."""
    x = operand("x", (100, 60, 60)[-1 - len(entries) :], bits=bits, dtype="")
    loads = access("x", "load", x, [(symbol("n", [0], NATURAL), 8), *entries], ("i", "k"))
    relation = replace(loads.relation, indices=(symbol("n", [0], NATURAL), *loads.relation.indices[1:]))
    model = replace(strided_model([I, K]), operands=(x,), accesses=(replace(loads, relation=relation),))
    buffer = Buffer("b", "x", "rows", ("i",))
    found = blocks(model, Plan(("i",), frozenset(), (buffer,), {"x": "b"}))
    assert found.memory(buffer) == memory and found.picked(buffer) == (0 if bits == 32 else memory * 8 // bits)


def test_addressed_windows_hold_a_block_anywhere() -> None:
    """Where prefetched numbers tell its place, a window need not hold the array."""
    model, plan = grouped(4096, 256, 512, 8), grouped_plan()
    sizes = {"b0": 128, "b1": 256, "b2": 64}
    found, x = blocks(model, plan, {"m": [128] * 8}, **sizes), plan.buffer("x")
    assert found.shape(x) == (128, 64)
    unaddressed = replace(x, address=None)
    assert blocks(model, plan, {"m": [128] * 8}, **sizes).shape(unaddressed) == (4096, 64)


def test_candidates_at_once_are_each_by_itself() -> None:
    plan, sizes = matmul_plan("resident"), [64, 100, 1024]
    rows, columns = blocks(PRODUCT, plan, b0=np.array(sizes), b1=512, b2=64).shape(plan.buffer("x"))
    assert list(rows) == sizes and np.all(columns == 640)
