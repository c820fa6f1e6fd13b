"""Values as powers of a running maximum, ``g * exp(rate * t)``: a table, and runs with other maxima."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import kopt
from kopt.analysis.powers import Power, Powers, depends, is_infinite, is_shift, is_zero, terms, unmoved, wide_dims
from kopt.dialects.tile import ReduceOp
from kopt.interpreter import run
from kopt.walk import walk
from test.named import named

V, C, W = "!tile.tile<8 x 16 x f32>", "!tile.tile<8 x f32>", "!tile.tile<16 x 4 x f32>"
HEAD = f"""
func.func @f(%x0: memref<8x16xf32>, %t0: memref<8xf32>, %w0: memref<16x4xf32>, %out: memref<8x16xf32>) {{
  tile.grid (%i: b0=1) in (1) {{
    %x = tile.load %x0[:, :] : memref<8x16xf32> -> {V}
    %t = tile.load %t0[:] : memref<8xf32> -> {C}
    %w = tile.load %w0[:, :] : memref<16x4xf32> -> {W}
    %tb = tile.broadcast %t dims [0] : {C} to {V}
    %two = tile.full 2.0 : {V}
    %zero = tile.full 0.0 : {V}
    %less = tile.sub %x, %tb : {V}
    %more = tile.sub %tb, %x : {V}
    %p = tile.exp %less : {V}
    %q = tile.exp %more : {V}
    %twice = tile.mul %less, %two : {V}
    %pp = tile.exp %twice : {V}
    %positive = tile.gt %x, %zero : {V}
    %above = tile.gt %less, %zero : {V}
    """


def module(lines: str, type: str = V):
    return kopt.parse(f"{HEAD}{lines}\n  }}\n  func.return\n}}")


def one(op: str, operands: str, type: str = V) -> str:
    return f"%r = tile.{op} {operands} : {type}"


#: A value `%r`, and its rate and the dimensions of the shift; None where it is no power.
CASES = {
    "x": (one("neg", "%x"), (0.0, ())),
    "exp(x - t)": (one("mul", "%p, %x"), (-1.0, (0,))),
    "exp(t - x)": (one("mul", "%x, %q"), (1.0, (0,))),
    "exp(2 (x - t))": (one("neg", "%pp"), (-2.0, (0,))),
    "exp2(x - t)": (one("exp2", "%less"), (-log(2), (0,))),
    "abs": (one("abs", "%p"), (-1.0, (0,))),
    "a product of powers": (one("mul", "%p, %pp"), (-3.0, (0,))),
    "powers that cancel": (one("mul", "%p, %q"), (0.0, (0,))),
    "over what is free": (one("div", "%p, %x"), (-1.0, (0,))),
    "over a power": (one("div", "%x, %p"), None),
    "a power over a power": (one("div", "%p, %p"), None),
    "a sum of like powers": (f"%a = tile.mul %p, %x : {V}\n" + one("add", "%p, %a"), (-1.0, (0,))),
    "a difference of like powers": (f"%a = tile.mul %p, %x : {V}\n" + one("sub", "%p, %a"), (-1.0, (0,))),
    "a sum of other powers": (one("add", "%p, %pp"), None),
    "a sum with what is free": (one("add", "%p, %x"), None),
    "a sum with zeros": (one("add", "%zero, %p"), (-1.0, (0,))),
    "a sum of zeros alone": (one("add", "%zero, %zero"), (0.0, ())),
    "selected by what is free": (f"%r = tile.select %positive, %p, %zero : {V}", (-1.0, (0,))),
    "selected from like powers": (f"%r = tile.select %positive, %p, %p : {V}", (-1.0, (0,))),
    "selected from other powers": (f"%r = tile.select %positive, %p, %pp : {V}", None),
    "selected by what is not free": (f"%r = tile.select %above, %p, %zero : {V}", None),
    "a cast to floats": (f"%r = tile.cast %p : {V} to !tile.tile<8 x 16 x bf16>", (-1.0, (0,))),
    "a cast to integers": (f"%r = tile.cast %p : {V} to !tile.tile<8 x 16 x i32>", None),
    "a sum over lanes of one shift": (one("reduce add", "%p [1]"), (-1.0, (0,))),
    "a sum over lanes of several shifts": (one("reduce add", "%p [0]"), None),
    "a maximum over lanes": (one("reduce max", "%p [1]"), None),
    "transposed": (one("transpose", "%p [1, 0]"), (-1.0, (1,))),
    "repeated": (f"%r = tile.broadcast %p dims [0, 2] : {V} to !tile.tile<8 x 3 x 16 x f32>", (-1.0, (0,))),
    "repeated in front": (f"%r = tile.broadcast %p dims [1, 2] : {V} to !tile.tile<3 x 8 x 16 x f32>", (-1.0, (1,))),
    "a lane more": (f"%r = tile.reshape %p : {V} to !tile.tile<8 x 1 x 16 x f32>", (-1.0, (0,))),
    "merged": (f"%r = tile.reshape %p : {V} to !tile.tile<128 x f32>", None),
    "a product of matrices": (f"%r = tile.dot %p, %w : {V}, {W} -> !tile.tile<8 x 4 x f32>", (-1.0, (0,))),
    "the other way round": (
        f"%s = tile.transpose %w [1, 0] : {W}\n%u = tile.transpose %p [1, 0] : {V}\n"
        "%r = tile.dot %s, %u : !tile.tile<4 x 16 x f32>, !tile.tile<16 x 8 x f32> -> !tile.tile<4 x 8 x f32>",
        (-1.0, (1,)),
    ),
    "along what is summed": (
        "%s = tile.reshape %w : !tile.tile<16 x 4 x f32> to !tile.tile<8 x 8 x f32>\n"
        f"%r = tile.dot %s, %p : !tile.tile<8 x 8 x f32>, {V} -> !tile.tile<8 x 16 x f32>",
        None,
    ),
    "of two powers": (
        f"%u = tile.transpose %p [1, 0] : {V}\n"
        f"%r = tile.dot %p, %u : {V}, !tile.tile<16 x 8 x f32> -> !tile.tile<8 x 8 x f32>",
        None,
    ),
    "added to something": (
        "%s = tile.full 1.0 : !tile.tile<8 x 4 x f32>\n"
        f"%r = tile.dot %p, %w, %s : {V}, {W} -> !tile.tile<8 x 4 x f32>",
        None,
    ),
    "the maximum itself": (one("neg", "%tb"), None),
    "another function": (one("tanh", "%less"), None),
    "exp(x)": (one("exp", "%x"), (0.0, ())),
    "exp(x t)": (f"%xt = tile.mul %x, %tb : {V}\n" + one("exp", "%xt"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_a_power(name: str) -> None:
    lines, wanted = CASES[name]
    values = named(module(lines))
    found = Powers(values["t"]).of(values["r"])
    if wanted is None:
        assert found is None
        return
    assert found is not None and (pytest.approx(wanted[0]), wanted[1]) == (found.rate, found.dims)
    assert found.shift is (values["t"] if found.dims else None)


@pytest.mark.parametrize("name", [name for name, (_, wanted) in CASES.items() if wanted is not None])
def test_powers_are_what_a_larger_maximum_makes_of_them(name: str) -> None:
    """With the maximum of a row larger by 1, what stands along the row is ``exp(rate)`` of what it was."""
    lines, wanted = CASES[name]
    assert wanted is not None
    parsed = module(lines)
    type = named(parsed)["r"].type
    shape = "x".join(map(str, type.shape))  # pyright: ignore
    store = f"%f = tile.cast %r : {type} to !tile.tile<{' x '.join(map(str, type.shape))} x f32>\n"  # pyright: ignore
    at = ", ".join(":" for _ in type.shape)  # pyright: ignore
    value = "%r" if "bf16" not in str(type) else "%f"
    text = str(parsed).split("func.return")[0].rstrip().rstrip("}").rstrip()
    text = text.replace("memref<8x16xf32>)", f"memref<{shape}xf32>)")
    text += f"\n{store if value == '%f' else ''}tile.store {value}, %out[{at}] : "
    text += f"!tile.tile<{' x '.join(map(str, type.shape))} x f32>, memref<{shape}xf32>\n}}\nfunc.return\n}}\n}}"  # pyright: ignore
    random = np.random.default_rng(0)
    x, t, w = random.random((8, 16), np.float32), random.random(8, np.float32), random.random((16, 4), np.float32)
    results = []
    for more in (0, 1):
        out = np.zeros(type.shape, np.float32)  # pyright: ignore
        run(kopt.parse(text), "f", [x, t + np.float32(more), w, out])
        results.append(out)
    np.testing.assert_allclose(results[1], results[0] * exp(wanted[0]), rtol=1e-2 if value == "%f" else 1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("exponent", "kind", "bounded"),
    [
        ("%less", "max", True),
        ("%twice", "max", True),
        ("%other", "max", False),  # of twice the lanes less once the maximum
        ("%more", "max", False),  # grows as the maximum does
        ("%more", "min", True),
        ("%less", "min", False),
    ],
)
def test_exponents_that_are_bounded(exponent: str, kind: str, bounded: bool) -> None:
    """By the reduction that the maximum is of: its very lanes, less it."""
    found = module(
        f"%top = tile.reduce {kind} %x [1] : {V}\n%other = tile.add %less, %x : {V}\n%r = tile.exp {exponent} : {V}"
    )
    values = named(found)
    (top,) = walk(found, ReduceOp)
    assert (Powers(values["t"], top).of(values["r"]) is not None) == bounded
    assert Powers(values["t"]).of(values["r"]) is not None


def test_products_of_powers() -> None:
    values = named(module(""))
    one, other, none = Power(-1.0, values["t"], (0,)), Power(-1.0, values["t"], (1,)), Power()
    assert one.times(one) == Power(-2.0, values["t"], (0,))
    assert one.times(none) == none.times(one) == one and none.times(none) == none
    assert one.times(other) is None and one.times(Power(-1.0, values["x"], (0,))) is None


@pytest.mark.parametrize(
    ("condition", "infinite"),
    [
        ("%c = tile.isinf %t : !tile.tile<8 x f32>", True),
        ("%c = tile.eq %t, %inf : !tile.tile<8 x f32>", True),
        ("%a = tile.abs %t : !tile.tile<8 x f32>\n%c = tile.eq %a, %inf : !tile.tile<8 x f32>", True),
        ("%c = tile.eq %t, %none : !tile.tile<8 x f32>", False),
        ("%c = tile.ne %t, %inf : !tile.tile<8 x f32>", False),
        (
            "%u = tile.load %t0[:] : memref<8xf32> -> !tile.tile<8 x f32>\n%c = tile.isinf %u : !tile.tile<8 x f32>",
            False,
        ),
        ("%u = tile.add %t, %t : !tile.tile<8 x f32>\n%c = tile.eq %u, %inf : !tile.tile<8 x f32>", False),
    ],
)  # fmt: skip
def test_shifts_have_a_number_where_the_maximum_is_infinite(condition: str, infinite: bool) -> None:
    values = named(
        module(
            f"%inf = tile.full -inf : {C}\n%none = tile.full 0.0 : {C}\n{condition}\n"
            f"%s = tile.select %c, %none, %t : {C}\n%o = tile.select %c, %t, %none : {C}"
        )
    )
    assert is_infinite(values["c"], values["t"]) == infinite
    assert is_shift(values["s"], values["t"]) == infinite and not is_shift(values["o"], values["t"])
    assert is_shift(values["t"], values["t"]) and not is_shift(values["none"], values["t"])


def test_sums() -> None:
    """Coefficients, constants, and the dimensions that values stand along."""
    values = named(
        module(
            f"""%five = tile.full 5.0 : {V}
      %a = tile.add %less, %five : {V}
      %b = tile.sub %a, %tb : {V}
      %c = tile.mul %two, %b : {V}
      %d = tile.neg %c : {V}
      %e = tile.transpose %d [1, 0] : {V}
      %g = tile.sub %x, %x : {V}
      %h = tile.mul %x, %x : {V}"""
        )
    )
    x, t = (values["x"], (0, 1)), (values["t"], (0,))
    assert terms(values["b"]) == {x: 1.0, t: -2.0, None: 5.0}
    assert terms(values["c"]) == {x: 2.0, t: -4.0, None: 10.0}
    assert terms(values["d"]) == {x: -2.0, t: 4.0, None: -10.0}
    assert terms(values["e"]) == {(values["x"], (1, 0)): -2.0, (values["t"], (1,)): 4.0, None: -10.0}
    assert terms(values["g"]) == terms(values["zero"]) == {}
    assert terms(values["h"]) == {(values["h"], (0, 1)): 1.0}
    assert depends(values["e"], values["t"]) and not depends(values["g"], values["t"])
    assert is_zero(values["zero"]) and not is_zero(values["two"]) and not is_zero(values["g"])
    assert unmoved(values["e"]) is values["d"] and unmoved(values["tb"]) is values["t"]


def test_dimensions_but_those_of_one_lane() -> None:
    values = named(module("%r = tile.reshape %t : !tile.tile<8 x f32> to !tile.tile<1 x 8 x 1 x f32>"))
    assert (wide_dims(values["r"]), wide_dims(values["x"])) == ([1], [0, 1])
