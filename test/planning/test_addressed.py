"""Windows at loaded numbers: experts of a grouped product, pages of a cache, blocks at multiples, on every target."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.config import Config
from kopt.context import make_context
from kopt.lowered import Lowered
from kopt.parsing import parse_module
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

STRICT = pytest.param("pallas:strict", marks=pytest.mark.slow)


def grouped(x, w, expert):
    m, k = x.size()
    out = torch.empty([m, w.size(2)], dtype=x.dtype)
    for i, j in hl.tile([m, w.size(2)], block_size=[64, 128]):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for kk in hl.tile(k, block_size=128):
            acc = torch.addmm(acc, x[i, kk], w[expert[i.id], kk, j])
        out[i, j] = acc.to(x.dtype)
    return out


def pages(cache, table):
    out = torch.empty([table.size(0), cache.size(1), cache.size(2)], dtype=cache.dtype)
    for p in hl.grid(table.size(0)):
        out[p, :, :] = cache[table[p], :, :] * 2
    return out


def pages_of_rows(cache, table, rows):
    out = torch.empty([rows.size(0), table.size(1), cache.size(1), cache.size(2)], dtype=cache.dtype)
    for b, p in hl.grid([rows.size(0), table.size(1)]):
        out[b, p, :, :] = cache[table[rows[b], p], :, :] * 2
    return out


def blocks_of_rows(x, starts):
    out = torch.zeros([starts.size(0), x.size(1)], dtype=x.dtype)
    for i in hl.grid(starts.size(0)):
        for lanes in hl.tile(16, block_size=16):
            out[i, :] = x[starts[i] * 16 + lanes.index, :].sum(0)
    return out


def arithmetic(x, numbers):
    out = torch.empty([numbers.size(0), x.size(1), x.size(2)], dtype=x.dtype)
    for i in hl.grid(numbers.size(0)):
        at = (numbers[i] + i) % x.size(0)
        out[i, :, :] = x[at, :, :] * x[at, :, :]
    return out


def clamped(x, numbers):
    out = torch.empty([numbers.size(0), x.size(1), x.size(2)], dtype=x.dtype)
    for i in hl.grid(numbers.size(0)):
        out[i, :, :] = x[torch.clamp(numbers[i], 0, x.size(0) - 1), :, :] + 1
    return out


def two_numbers(x, a, b):
    out = torch.empty([a.size(0), b.size(0), x.size(2), x.size(3)], dtype=x.dtype)
    for i, j in hl.grid([a.size(0), b.size(0)]):
        out[i, j, :, :] = x[a[i], b[j], :, :] + 1
    return out


def two_places(x, a, b):
    out = torch.empty([a.size(0), x.size(1), x.size(2)], dtype=x.dtype)
    for i in hl.grid(a.size(0)):
        out[i, :, :] = x[a[i], :, :] + x[b[i], :, :]
    return out


def where_there_is_one(x, numbers):
    out = torch.zeros([numbers.size(0), x.size(1), x.size(2)], dtype=x.dtype)
    for i in hl.grid(numbers.size(0)):
        n = numbers[i]
        if n >= 0:
            out[i, :, :] = x[n, :, :] + 1
    return out


def below(most: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, most, shape, dtype=torch.int32)


def _pages(cache, table):
    return cache[table.long()] * 2


Case = tuple[Callable[..., Any], Callable[[], tuple[torch.Tensor, ...]], Callable[..., torch.Tensor]]
CASES: dict[str, Case] = {
    "grouped": (
        grouped,
        lambda: (torch.randn(250, 300), torch.randn(5, 300, 200), below(5, 4)),
        lambda x, w, e: torch.cat([rows @ w[n] for rows, n in zip(x.split(64), e.tolist(), strict=True)]),
    ),
    "pages": (pages, lambda: (torch.randn(50, 16, 128), below(50, 6)), _pages),
    "pages_of_bf16": (pages, lambda: (torch.randn(50, 16, 128).bfloat16(), below(50, 6).long()), _pages),
    "pages_of_rows": (
        pages_of_rows,
        lambda: (torch.randn(50, 16, 128), below(50, 6, 3), below(6, 4)),
        lambda cache, table, rows: _pages(cache, table[rows.long()]),
    ),
    "blocks_of_rows": (
        blocks_of_rows,
        lambda: (torch.randn(208, 128), below(13, 5)),
        lambda x, starts: x.view(13, 16, 128)[starts.long()].sum(1),
    ),
    "arithmetic": (
        arithmetic,
        lambda: (torch.randn(20, 16, 128), below(20, 5)),
        lambda x, n: x[(n.long() + torch.arange(5)) % 20] ** 2,
    ),
    "clamped": (
        clamped,
        lambda: (torch.randn(20, 16, 128), below(60, 9) - 20),
        lambda x, n: x[n.long().clamp(0, 19)] + 1,
    ),
    "two_numbers": (
        two_numbers,
        lambda: (torch.randn(5, 4, 16, 128), below(5, 4), below(4, 3)),
        lambda x, a, b: x[a.long()][:, b.long()] + 1,
    ),
}
#: Arrays whose blocks no window follows: two places of one array, and numbers that may be anything where nothing loads.
OTHERS: dict[str, Case] = {
    "two_places": (
        two_places,
        lambda: (torch.randn(20, 16, 128), below(20, 5), below(20, 5)),
        lambda x, a, b: x[a.long()] + x[b.long()],
    ),
    "where_there_is_one": (
        where_there_is_one,
        lambda: (torch.randn(20, 16, 128), torch.tensor([3, -1, -7, 19], dtype=torch.int32)),
        lambda x, n: torch.where(n[:, None, None] >= 0, x[n.long().clamp(0, 19)] + 1, 0.0),
    ),
}


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret", STRICT])
@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_values(name: str, target: str) -> None:
    kernel, new, expected = (CASES | OTHERS)[name]
    args = new()
    tolerance = 1e-2 if args[0].dtype == torch.bfloat16 else 1e-4
    found = kopt.kernel(kernel).on(target)(*args)
    torch.testing.assert_close(found, expected(*args), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_windows_load_their_numbers(name: str) -> None:
    kernel, new, _ = (CASES | OTHERS)[name]
    source = kopt.kernel(kernel).lower(*new(), target="pallas:v6e").source
    assert ("PrefetchScalarGridSpec" in source) == (name in CASES), source
    assert "make_async_copy" not in source, source


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_chip_takes_them(name: str) -> None:
    kernel, new, _ = CASES[name]
    report = kopt.kernel(kernel).lower(*new(), target="pallas:v6e").report()
    assert report["legal"], report["reason"]


def test_numbers_outside_are_refused() -> None:
    """As of any other access, before anything runs."""
    with pytest.raises(kopt.KoptError, match="outside|beyond|range"):
        kopt.kernel(pages).on("pallas:interpret")(torch.randn(50, 16, 128), torch.tensor([3, 50], dtype=torch.int32))


def test_large_experts_are_no_copies_of_our_own() -> None:
    """A loop that walks a large array at loaded numbers can be a dimension of the grid, its blocks windows."""
    args = torch.randn(256, 1024), torch.randn(8, 1024, 512), below(8, 4)
    for loop_type, window in (("grid", "lambda i, j, kk, expert: (expert[i], kk, j)"), ("auto", "(expert[i], ")):
        source = kopt.kernel(grouped).lower(*args, target="pallas:v6e", config={"loop_type": loop_type}).source
        assert window in source, source
        assert "make_async_copy" not in source, source


def test_small_arrays_come_once_where_that_is_less() -> None:
    """More cells than pages: the array as a whole moves fewer bytes."""
    args = torch.randn(4, 16, 128), below(4, 300)
    assert "PrefetchScalarGridSpec" not in kopt.kernel(pages).lower(*args, target="pallas:v6e").source


# Plans as text.

PAGES = """
func.func @pages(%cache: memref<2000x16x128xf32>, %table: memref<6xi32>) -> memref<6x16x128xf32> {
  %out = host.alloc : memref<6x16x128xf32>
  tile.grid (%p: b0=1) in (6) {
    %at = tile.id %p : !tile.range<b0=1>
    %number = tile.load %table[%at] : memref<6xi32> -> !tile.tile<i32>
    %n = tile.extract %number : !tile.tile<i32> to index
    %v = tile.load %cache[%n, :, :] : memref<2000x16x128xf32> -> !tile.tile<16 x 128 x f32>
    %d = tile.add %v, %v : !tile.tile<16 x 128 x f32>
    tile.store %d, %out[%at, :, :] : !tile.tile<16 x 128 x f32>, memref<6x16x128xf32>
  }
  func.return %out : memref<6x16x128xf32>
}
"""


def planned(text: str = PAGES) -> str:
    """A launch as text, with its plan."""
    module, passes = parse_module(text), pipeline(parse_target("pallas:interpret"), Config())
    last = [pass_.name for pass_ in passes].index("plan-accesses")
    run(module, make_context(), passes[: last + 1], verify_each=True)
    return str(module)


def edited(*edits: tuple[str, str]) -> Lowered:
    """The pages with a plan that was edited."""
    text = planned()
    for old, new in edits:
        assert old in text, text
        text = text.replace(old, new)
    return kopt.lower_module(parse_module(text), target="pallas:interpret")


def check(low: Lowered) -> None:
    cache, table = torch.randn(2000, 16, 128), below(2000, 6)
    torch.testing.assert_close(torch.as_tensor(low.compile()(cache, table)), cache[table.long()] * 2)


def test_the_plan_is_text() -> None:
    text = planned()
    assert "@table = %table_1 smem whole" in text
    assert "@cache = %cache_1 window(p) address @table x2" in text
    assert str(parse_module(text)) == text
    check(edited())


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([("window(p) address @table x2", "dma")], "make_async_copy"),
        ([("window(p) address @table x2", "window")], r"BlockSpec\(\(2000, 16, 128\)"),
        ([("window(p) address @table x2", "window"), ("smem whole", "smem")], r"grid=\(6,\)"),
        ([("window(p) address @table x2", "window")], "num_scalar_prefetch=1"),
    ],
)
def test_edits_are_obeyed(edits: list[tuple[str, str]], expected: str) -> None:
    low = edited(*edits)
    assert re.search(expected, low.source), low.source
    check(low)


def test_an_address_may_be_asked_for() -> None:
    """Where the planner takes the array as a whole."""
    text = planned(PAGES.replace("2000x", "4x").replace("memref<6x", "memref<60x").replace("in (6)", "in (60)"))
    assert "address" not in text
    text = re.sub(r"%cache_1 window[^@]*", "%cache_1 window(p) x2 address @table\n", text)
    text = text.replace("%table_1 smem(p)", "%table_1 smem whole")
    low = kopt.lower_module(parse_module(text), target="pallas:interpret")
    assert "table[p]" in low.source
    cache, table = torch.randn(4, 16, 128), below(4, 60)
    torch.testing.assert_close(torch.as_tensor(low.compile()(cache, table)), cache[table.long()] * 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("smem whole", "smem", "'table' tells where blocks of 'cache' are: it has to be 'smem whole'"),
        ("address @table", "address @out", "no window of 'cache' follows the numbers in @out"),
        ("window(p) address @table x2", "smem", "'cache' cannot stand in a buffer of kind 'smem' here: window or dma"),
    ],
)
def test_what_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(kopt.KoptError, match=message):
        edited((old, new))


# Pins beside them.


@pytest.mark.parametrize(
    ("accesses", "expected", "gone"),
    [
        ({"cache": "window"}, "table[p]", "make_async_copy"),
        ({"cache": "window(p) x2"}, "table[p]", "make_async_copy"),
        ({"table": "smem whole"}, "table[p]", "make_async_copy"),
        ({"cache": "dma"}, "make_async_copy", "PrefetchScalarGridSpec"),
        ({"cache": "dma", "table": "smem whole"}, "make_async_copy", "table[p],"),
        ({"table": "smem"}, "SMEM", "PrefetchScalarGridSpec"),
    ],
)
def test_pins(accesses: dict[str, str], expected: str, gone: str) -> None:
    """They stay, and what follows from others does not go against them."""
    cache, table = torch.randn(50, 16, 128), below(50, 6)
    low = kopt.kernel(pages).lower(cache, table, target="pallas:interpret", config={"accesses": accesses})
    assert expected in low.source, low.source
    assert gone not in low.source, low.source
    torch.testing.assert_close(torch.as_tensor(low.compile()(cache, table)), _pages(cache, table))


def test_a_pinned_order_is_that_of_windows_at_numbers() -> None:
    args = torch.randn(256, 1024), torch.randn(8, 1024, 512), below(8, 4)
    config = {"order": ["j", "i", "kk"], "loops": {"kk": "grid"}}
    source = kopt.kernel(grouped).lower(*args, target="pallas:v6e", config=config).source
    assert "lambda j, i, kk, expert: (expert[i], kk, j)" in source, source


@pytest.mark.parametrize(
    ("accesses", "message"),
    [
        ({"cache": "window x3"}, "'cache' has x2 as 'window' here: no Pallas code is made of x3 yet"),
        ({"cache": "smem whole"}, "'cache' cannot stand in a buffer of kind 'smem' here: window or dma"),
        ({"table": "dma"}, "'table' cannot stand in a buffer of kind 'dma' here: smem"),
    ],
)
def test_pins_that_cannot_be_are_refused(accesses: dict[str, str], message: str) -> None:
    args = torch.randn(50, 16, 128), below(50, 6)
    with pytest.raises(kopt.KoptError, match=message):
        kopt.kernel(pages).lower(*args, target="pallas:v6e", config={"accesses": accesses})
