"""Every elementwise op: spelt in Triton, numerically right in its interpreter, compiled for every chip."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from kopt.dialects.tile import TABLE
from kopt.dialects.triton import APPROXIMATE, APPROXIMATE_FUNCTIONS
from kopt.lowering.emitted.triton import functions
from kopt.lowering.expr import template
from kopt.lowering.triton.elementwise import APPROXIMATE_TEMPLATES, TEMPLATES
from test.rotating import rotating
from test.triton_values.support import assert_legal, lower

_TYPES = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64, "i8": torch.int8,
          "ui8": torch.uint8, "i1": torch.bool}  # fmt: skip
_FLOAT_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 1e-6, -1e-6, 1e-3, 0.3, -0.7, 0.999, 7.25,
                 -11.5, 25.0, 60.0, -60.0, 1e4, -1e4, 1e9, 3e7, math.pi, -math.pi / 2, 1e30,
                 math.inf, -math.inf, math.nan]  # fmt: skip
_INT_VALUES = [0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 11, -13, 100, -100, 127, -128]
#: f32 functions that Triton's compilers approximate are compared in the interpreter, which does not; these tolerances
#: are for the helper formulas.
_RTOL = {"f32": 4e-6, "f64": 1e-12}
_COMPILED = ("f32", "f64", "i32", "i8", "i1")


def rows(dtype: str):
    """The rows of the table that take an element type."""
    from kopt.dtypes import BY_SPEC, to_ir

    return [row for row in TABLE if row.rule.accepts(to_ir(BY_SPEC[dtype]))]


def kernel(dtype: str, names: list[str], lanes: int, mark: str = "") -> str:
    """One kernel that computes the named ops of the same operands, each with ``mark`` in its text."""
    by_name = {row.name: row for row in TABLE}
    given = {name: "i1" if by_name[name].rule.gives is not None else dtype for name in names}
    results = ", ".join(f"memref<{lanes}x{type}>" for type in given.values())
    lines = [f"func.func @f(%x: memref<{lanes}x{dtype}>, %y: memref<{lanes}x{dtype}>) -> ({results}) {{"]
    lines += [f"  %o_{name} = host.alloc : memref<{lanes}x{type}>" for name, type in given.items()]
    lines.append(f"  tile.grid (%i: b0=256) in ({lanes}) {{")
    for value in "xy":
        memref = f"memref<{lanes}x{dtype}>"
        lines.append(f"    %v{value} = tile.load %{value}[%i] : {memref} -> !tile.tile<b0=256 x {dtype}>")
    for name, type in given.items():
        operands = ", ".join(["%vx", "%vy", "%vx"][: by_name[name].arity])
        lines.append(f"    %r_{name} = tile.{name} {operands}{mark} : !tile.tile<b0=256 x {dtype}>")
        lines.append(f"    tile.store %r_{name}, %o_{name}[%i] : !tile.tile<b0=256 x {type}>, memref<{lanes}x{type}>")
    names_ = ", ".join(f"%o_{name}" for name in given)
    return "\n".join([*lines, "  }", f"  func.return {names_} : {results}", "}"])


def operands(dtype: str, names: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """All pairs of special values, and some ordinary ones."""
    values = _FLOAT_VALUES if dtype in ("f32", "f64") else [0, 1] if dtype == "i1" else _INT_VALUES
    if dtype == "ui8":
        values = [v % 256 for v in values]
    pairs = [(a, b) for a in values for b in values]
    if dtype in ("f32", "f64"):
        random = np.random.default_rng(0)
        pairs += [(float(a), float(b)) for a, b in random.normal(size=(500, 2)) * 3]
    x, y = zip(*pairs, strict=True)
    return torch.tensor(x, dtype=_TYPES[dtype]), torch.tensor(y, dtype=_TYPES[dtype])


def compare(dtype: str, names: list[str], x: torch.Tensor, y: torch.Tensor, mark: str = "") -> None:
    """Each op's result, in Triton's interpreter and in the reference."""
    text = kernel(dtype, names, len(x), mark)
    wanted = lower(text, "reference").compile()(x, y)
    got = lower(text).compile()(x, y)
    wanted, got = (r if isinstance(r, tuple) else (r,) for r in (wanted, got))
    wrong = {}
    for name, a, b in zip(names, got, wanted, strict=True):
        wide = torch.float64 if a.dtype.is_floating_point else torch.int64
        try:
            torch.testing.assert_close(
                a.to(wide), b.to(wide), rtol=_RTOL.get(dtype, 0), atol=1e-37 if dtype == "f32" else 0, equal_nan=True
            )
        except AssertionError as error:
            bad = ~torch.isclose(a.to(wide), b.to(wide), rtol=_RTOL.get(dtype, 0), equal_nan=True)
            shown = list(zip(*(t[bad][:4].tolist() for t in (x, y, a, b)), strict=True))
            wrong[name] = f"{int(bad.sum())} wrong, as (x, y, got, wanted): {shown}" or str(error)
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def test_every_helper_is_defined():
    texts = (*TEMPLATES.values(), *APPROXIMATE_TEMPLATES.values())
    assert {name for text in texts for name in template(text).helpers} <= set(functions())
    assert set(APPROXIMATE_TEMPLATES) == set(APPROXIMATE_FUNCTIONS)


def test_no_helper_computes_in_f64_for_f32():
    assert [name for name, text in functions().items() if "float64" in text.replace("dtype == tl.float64", "")] == []


@pytest.mark.parametrize("most", [127, 0.5, 1e-3], ids=str)
def test_powers_are_off_by_few_ulps(most):
    """Whatever their exponent is: subnormal bases and such near 1 too."""
    generator = torch.Generator().manual_seed(0)
    bases, exponents = (torch.empty(4096, dtype=torch.float64).uniform_(-1, 1, generator=generator) for _ in "xy")
    x = torch.exp2(bases * most - 22 * (most > 1)).float()
    y = (exponents * 126 / torch.log2(x.double())).float()
    got, exact = lower(kernel("f32", ["pow"], 4096)).compile()(x, y), x.double() ** y.double()
    off = (got.double() - exact).abs() / exact * 2.0**23
    assert off[exact > 2.0**-125].max() < 4


def test_approximate_functions():
    """By their formulas they are as exact as the others are: what a GPU approximates is in the operators."""
    names = sorted({*APPROXIMATE_FUNCTIONS} - {"pow"})
    compare("f32", names, *operands("f32", names), mark=f" {{{APPROXIMATE}}}")


def test_approximate_powers():
    """A logarithm of f32 times a power of at most 16 leaves an error that no 16 bits show."""
    x, _ = operands("f32", ["pow"])
    got, wanted = (
        lower(kernel("f32", ["pow"], len(x), mark)).compile()(x, torch.full_like(x, 2.4))
        for mark in (f" {{{APPROXIMATE}}}", "")
    )
    torch.testing.assert_close(got, wanted, rtol=2**-14, atol=1e-37, equal_nan=True)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_floats(dtype):
    names = [row.name for row in rows(dtype)]
    compare(dtype, names, *operands(dtype, names))


@pytest.mark.parametrize("dtype", ["i32", "i64", "i8", "ui8"])
def test_integers(dtype):
    division = {"floordiv", "truncdiv", "mod", "rem"}
    names = [row.name for row in rows(dtype) if row.name not in {*division, "pow", "shl", "shr"}]
    x, y = operands(dtype, names)
    compare(dtype, names, x, y)
    some = (y != 0) & ~((x == -128) & (y == -1))
    compare(dtype, sorted(division), x[some].contiguous(), y[some].contiguous())
    small = (y >= 0) & (y < 8)
    compare(dtype, ["pow", "shl", "shr"], x[small].contiguous(), y[small].contiguous())


def test_booleans():
    names = [row.name for row in rows("i1")]
    compare("i1", names, *operands("i1", names))


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "chip"), rotating(_COMPILED, "sm90", ("gfx942", "sm80", "gfx942", "sm100")))
def test_all_compile(dtype, chip):
    """All functions of a type in one kernel, for two chips."""
    assert_legal(kernel(dtype, [row.name for row in rows(dtype)], 300), (chip,))
