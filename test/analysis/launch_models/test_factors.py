"""Where operands of products come from: loads of the same body, what is made there, what stays."""

from __future__ import annotations

import pytest

from kopt.analysis.launch_models.factors import factors
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.plans import GridNames
from kopt.ir.launch_model import Factor
from test.analysis.one_launch import one_launch

ROWS, SQUARE = "!tile.tile<b0=8 x 128 x bf16>", "!tile.tile<128 x 128 x bf16>"
SUMS = "!tile.tile<b0=8 x 128 x f32>"
DOT = f"{ROWS}, {SQUARE} -> {SUMS}"


def found(body: str, x: str = "64x128xbf16", load: str = "%x[%i, :]") -> list[Factor]:
    """Those of a kernel that loads ``%q`` of x, and ``%w`` of y."""
    text = f"""%q = tile.load {load} : memref<{x}> -> {ROWS}
    %w = tile.load %y[:, :] : memref<128x128xbf16> -> {SQUARE}
    {body}"""
    text = text.replace(": T\n", f": {ROWS}\n").replace(": D\n", f": {DOT}\n")
    grid = one_launch(text, x=x, y="128x128xbf16").grid
    return [*factors(Launch(grid, GridNames.of(grid)))]


def test_as_they_are() -> None:
    """Also with their lanes in another order."""
    body = f"%t = tile.transpose %w [1, 0] : {SQUARE}\n%d = tile.dot %q, %t : D\n"
    assert [(one.side, one.load, one.bits, one.waits, one.stays) for one in found(body)] == [
        ("lhs", "x", 16, False, False),
        ("rhs", "y", 16, False, False),
    ]


def test_what_is_computed_is_made_of_loads() -> None:
    """Of which threads read those that are multiplied, too."""
    made = f"%f = tile.cast %q : {ROWS} to {SUMS}\n%n = tile.neg %f : {SUMS}\n%p = tile.cast %n : {SUMS} to {ROWS}\n"
    lhs, rhs = found(made + "%d = tile.dot %p, %w : D\n")
    assert (lhs.load, lhs.of, rhs.load, rhs.waits) == ("", ("x",), "y", False)
    first, _, second, _ = found(f"%d = tile.dot %q, %w : D\n{made}%e = tile.dot %p, %w : D\n")
    assert first.waits and second.of == ("x",)


def test_sums_of_another_product() -> None:
    """What that one loads, this one does not; with its sums to begin with it adds to them."""
    cast = f"%p = tile.cast %d : {SUMS} to {ROWS}\n"
    *_, lhs, rhs = found(f"%d = tile.dot %q, %w : D\n{cast}%e = tile.dot %p, %w : D\n")
    assert (lhs.load, lhs.of, lhs.stays, rhs.load) == ("", (), False, "y")
    assert [one.adds for one in found("%d = tile.dot %q, %w : D\n%e = tile.dot %q, %w, %d : D\n")] == [
        False,
        False,
        True,
        True,
    ]


def test_what_is_loaded_around_a_loop_stays() -> None:
    body = f"tile.for %k: b1=2 in (0, 8) {{\n%v = tile.load %y[:, :] : memref<128x128xbf16> -> {SQUARE}\n"
    lhs, rhs = found(body + "%d = tile.dot %q, %v : D\n}\n")
    assert (lhs.stays, lhs.load, rhs.load, rhs.stays) == (True, "", "y#1", False)
    assert lhs.path == ("b0", "b1")


@pytest.mark.parametrize(
    ("array", "load", "waits"),
    [("3x64x128xbf16", "%x[0, %i, :]", False), ("64x3x128xbf16", "%x[%i, 0, :]", True)],
)
def test_blocks_of_descriptors_with_lanes_apart(array: str, load: str, waits: bool) -> None:
    """A dimension of one lane between those of a left operand: threads read it from shared memory."""
    lhs, rhs = found("%d = tile.dot %q, %w : D\n", array, load)
    assert lhs.waits == waits and not rhs.waits
