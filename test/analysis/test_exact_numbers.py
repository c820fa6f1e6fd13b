"""Which numbers lanes are known to be multiples of."""

from __future__ import annotations

import pytest

from kopt.analysis.exact_numbers import ExactNumbers, Multiples
from kopt.dialects.tile import StoreOp
from kopt.parsing import parse_module

INT, FLOAT = "!tile.tile<b0=16 x i32>", "!tile.tile<b0=16 x f32>"
#: What is computed of bytes ``%b``, of ``%c``, ``%b & 7`` as floats, and of floats ``%x``.
CASES = {
    "bytes": ("", "%f", Multiples(1.0, 256.0)),
    "bits": ("", "%c", Multiples(1.0, 7.0)),
    "halves": (f"%v = tile.mul %c, %half : {FLOAT}", "%v", Multiples(0.5, 3.5)),
    "differences": (f"%v = tile.sub %c, %half : {FLOAT}", "%v", Multiples(0.5, 7.5)),
    "quotients below 0": (
        f"%n = tile.sub %l, %seven : {INT}\n%q = tile.shr %n, %two : {INT}\n%v = tile.cast %q : {INT} to {FLOAT}",
        "%v",
        Multiples(1.0, 4.0),
    ),
    "quotients by loaded powers": (
        f"%q = tile.shr %l, %w : {INT}\n%v = tile.cast %q : {INT} to {FLOAT}",
        "%v",
        None,
    ),
    "products by powers of two": (f"%v = tile.mul %c, %large : {FLOAT}", "%v", Multiples(64.0, 448.0)),
    "products by multiples of them": (f"%v = tile.mul %c, %six : {FLOAT}", "%v", Multiples(2.0, 42.0)),
    "products by 0": (f"%v = tile.mul %c, %zero : {FLOAT}", "%v", Multiples(1.0, 0.0)),
    "negative ones": (f"%v = tile.neg %c : {FLOAT}", "%v", Multiples(1.0, 7.0)),
    "a choice": (f"%v = tile.select %p, %c, %half : {FLOAT}", "%v", Multiples(0.5, 7.0)),
    "products that f32 rounds": (f"%v = tile.mul %c, %tenth : {FLOAT}", "%v", None),
    "loaded ones": (f"%v = tile.add %c, %x : {FLOAT}", "%v", None),
}


@pytest.mark.parametrize(("steps", "name", "wanted"), CASES.values(), ids=CASES)
def test_multiples(steps, name, wanted):
    text = f"""
      func.func @f(%bytes: memref<160xui8>, %floats: memref<160xf32>, %out: memref<160xf32>) {{
        tile.grid (%i: b0=16) in (160) {{
          %b = tile.load %bytes[%i] : memref<160xui8> -> !tile.tile<b0=16 x ui8>
          %x = tile.load %floats[%i] : memref<160xf32> -> {FLOAT}
          %f = tile.cast %b : !tile.tile<b0=16 x ui8> to {FLOAT}
          %w = tile.cast %b : !tile.tile<b0=16 x ui8> to {INT}
          %seven = tile.full 7 : {INT}
          %l = tile.and %w, %seven : {INT}
          %c = tile.cast %l : {INT} to {FLOAT}
          %two = tile.full 2 : {INT}
          %half = tile.full 0.5 : {FLOAT}
          %large = tile.full 64.0 : {FLOAT}
          %six = tile.full 6.0 : {FLOAT}
          %zero = tile.full 0.0 : {FLOAT}
          %tenth = tile.full 0.1 : {FLOAT}
          %p = tile.lt %c, %half : {FLOAT}
          {steps}
          tile.store {name}, %out[%i] : {FLOAT}, memref<160xf32>
        }}
        func.return
      }}"""
    module = parse_module(text)
    (store,) = (op for op in module.walk() if isinstance(op, StoreOp))
    assert ExactNumbers().of(store.value) == wanted


def test_what_a_float_type_holds():
    """Of f16: 11 digits, multiples of 2 ** -24, up to 65504."""
    assert Multiples(1.0, 2048.0).fits(11, 2.0**-24, 65504.0)
    assert not Multiples(1.0, 2049.0).fits(11, 2.0**-24, 65504.0)
    assert not Multiples(2.0**-25, 2.0**-20).fits(11, 2.0**-24, 65504.0)
    assert not Multiples(64.0, 65536.0).fits(11, 2.0**-24, 65504.0)
