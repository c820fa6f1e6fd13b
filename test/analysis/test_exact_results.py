"""Values of which every bit may matter: what is not seen through roundings to 16 bits alone."""

from __future__ import annotations

import pytest

from kopt.analysis.exact_results import exact_values
from test.analysis.one_launch import one_launch

BLOCK = "!tile.tile<b0=8 x 128 x f32>"
LOADED = f"%v = tile.load %x[%i, :] : memref<64x128xf32> -> {BLOCK}\n"
NARROW = "!tile.tile<b0=8 x 128 x bf16>"
ROUNDED = "%h = tile.cast %e : F to H\ntile.store %h, %narrow[%i, :] : H, memref<64x128xbf16>\n"


def exact(lines: str) -> set[str]:
    """The names of a kernel's values that are exact; ``F`` and ``H`` are blocks of f32 and of bf16."""
    lines = lines.replace("F", BLOCK).replace("H", NARROW)
    found = one_launch(LOADED + lines, writes="wide narrow", x="64x128xf32", wide="64x128xf32", narrow="64x128xbf16")
    return {str(value.name_hint) for value in exact_values(found.grid)} & {"v", "e", "h", "f"}


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        # Rounded before it is stored; stored as it is; both.
        (
            "%e = tile.exp %v : F\n%h = tile.cast %e : F to H\ntile.store %h, %narrow[%i, :] : H, memref<64x128xbf16>",
            "h",
        ),
        ("%e = tile.exp %v : F\ntile.store %e, %wide[%i, :] : F, memref<64x128xf32>", "ev"),
        (
            "%e = tile.exp %v : F\n" + ROUNDED + "tile.store %e, %wide[%i, :] : F, memref<64x128xf32>",
            "evh",
        ),
        # Rounded and widened again: what is stored is what was rounded.
        (
            "%e = tile.exp %v : F\n%h = tile.cast %e : F to H\n%f = tile.cast %h : H to F\n"
            "tile.store %f, %wide[%i, :] : F, memref<64x128xf32>",
            "fh",
        ),
        # A step of a function jumps.
        (
            "%e = tile.exp %v : F\n%f = tile.floor %e : F\n%h = tile.cast %f : F to H\n"
            "tile.store %h, %narrow[%i, :] : H, memref<64x128xbf16>",
            "evh",
        ),
    ],
)
def test_values_that_are_seen(lines: str, names: str) -> None:
    assert exact(lines) == set(names)
