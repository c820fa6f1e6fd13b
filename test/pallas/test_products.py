"""Products that Mosaic lacks: what ``expand-for-mosaic`` makes of them has the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.context import make_context
from kopt.interpreter import run as interpret
from kopt.parsing import parse_module, verify
from kopt.pass_manager import parse_pipeline, run

TEXT = """
func.func @f(%x: memref<{m}x{k}x{e}>, %y: memref<{k}x{n}x{e}>, %out: memref<{m}x{n}x{to}>) {{
  tile.grid (%i: b0={m}) in ({m}) {{
    %a = tile.load %x[%i, {cut}] : memref<{m}x{k}x{e}> -> !tile.tile<b0={m} x {dim} x {e}>
    %b = tile.load %y[{cut}, :] : memref<{k}x{n}x{e}> -> !tile.tile<{dim} x {n} x {e}>
    {acc}
    %d = tile.dot %a, %b{with_acc} : !tile.tile<b0={m} x {dim} x {e}>, !tile.tile<{dim} x {n} x {e}> -> \
!tile.tile<b0={m} x {n} x {to}>
    tile.store %d, %out[%i, :] : !tile.tile<b0={m} x {n} x {to}>, memref<{m}x{n}x{to}>
  }}
  func.return
}}
"""
TYPES = {"i8": np.int8, "ui8": np.uint8, "i16": np.int16, "i32": np.int32}


def product(element: str, k: int, accumulated: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """What a product of extreme numbers gives before and after the pass, and the text after it."""
    m, n, to = 3, 4, "i32"
    type = f"!tile.tile<b0={m} x {n} x {to}>"
    acc = f"%c = tile.full 7 : {type}" if accumulated else ""
    form = {"m": m, "n": n, "k": k, "e": element, "to": to, "cut": ":", "dim": k, "acc": acc}
    module = parse_module(TEXT.format(**form, with_acc=", %c" if accumulated else ""))
    verify(module)
    limits, random = np.iinfo(TYPES[element]), np.random.default_rng(k)
    x, y = (
        random.choice([limits.min, limits.max, -1 % (limits.max + 1), 0, 1, limits.max // 3], shape).astype(
            TYPES[element]
        )
        for shape in ((m, k), (k, n))
    )
    results = []
    for _ in range(2):
        out = np.zeros((m, n), np.int32)
        interpret(module, "f", [x.copy(), y.copy(), out])
        results.append(out)
        run(module, make_context(), parse_pipeline("expand-for-mosaic,canonicalize,cse,dce"))
        verify(module)
    exact = (x.astype(np.int64) @ y.astype(np.int64) + (7 if accumulated else 0)).astype(np.int32)
    assert np.array_equal(results[0], exact)
    return (*results, str(module))


@pytest.mark.parametrize("accumulated", [False, True])
@pytest.mark.parametrize("k", [1, 5, 256, 257, 600])
@pytest.mark.parametrize("element", TYPES)
def test_products_of_integers(element: str, k: int, accumulated: bool) -> None:
    """They wrap in 32 bits; unsigned bytes go by parts that f32 adds up exactly."""
    before, after, _ = product(element, k, accumulated)
    assert np.array_equal(before, after)
