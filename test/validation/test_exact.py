"""Exact numbers: sums in any order are the same, and nothing else is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kopt.context import make_context
from kopt.errors import ConfigError, MeaningError
from kopt.interpreter import ring
from kopt.interpreter.elementwise import NUMPY
from kopt.interpreter.ring_functions import EXACT, compute
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.validation import Options, Validator

from . import wrong_passes as wrong

ROW_SUM = (Path(__file__).parent / "row_sum.mlir").read_text()


def element(value: Fraction) -> int:
    """A fraction modulo the prime, around 0."""
    found = value.numerator * pow(value.denominator, -1, ring.PRIME) % ring.PRIME
    return found - ring.PRIME if found > ring.PRIME // 2 else found


def test_floats_are_the_fractions_that_they_are() -> None:
    """Of all sizes, and their sums, products and quotients too."""
    random = np.random.default_rng(0)
    values = np.concatenate([random.standard_normal(50), [1e-300, -1e300, 0.1, 0.0, 1.0, 2**-1074]])
    others = np.roll(values, 3)
    a, b = ring.encode(values), ring.encode(others)
    assert a.tolist() == [element(Fraction(value)) for value in values.tolist()]
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(values.tolist(), others.tolist(), strict=True)]
    assert ring.add(a, b).tolist() == [element(x + y) for x, y in pairs]
    assert ring.multiply(a, b).tolist() == [element(x * y) for x, y in pairs]
    quotients = zip(ring.divide(a, b).tolist(), pairs, strict=True)
    assert all(found == element(x / y) for found, (x, y) in quotients if y)


def test_sums_and_products_come_in_any_order() -> None:
    """As trees, one after another, and as products of matrices in blocks."""
    random = np.random.default_rng(1)
    a, b = ring.encode(random.standard_normal((4, 37))), ring.encode(random.standard_normal((37, 3)))
    whole = ring.matmul(a, b)
    parts = ring.add(ring.matmul(a[:, :20], b[:20]), ring.matmul(a[:, 20:], b[20:]))
    assert np.array_equal(whole, parts)
    assert np.array_equal(ring.reduce("add", a, (1,)), ring.accumulate("add", a[:, ::-1], 1)[:, -1])
    assert np.array_equal(ring.reduce("mul", a, (1,)), ring.accumulate("mul", a[:, ::-1], 1)[:, -1])


def test_what_is_not_finite_goes_as_floats_do() -> None:
    """Infinities, NaN, and values that functions have at 0 and 1."""
    values = ring.encode(np.array([np.inf, -np.inf, np.nan, 0.0]))
    assert ring.add(values, values[::-1]).tolist() == [ring.HIGH, ring.NAN, ring.NAN, ring.HIGH]
    assert compute("exp", NUMPY["exp"], values).tolist() == [ring.HIGH, 0, ring.NAN, 1]
    assert compute("maximum", NUMPY["maximum"], values, values[::-1]).tolist()[0] == ring.HIGH
    assert ring.matmul(values[None, :3], values[1:, None]).tolist() == [[ring.NAN]]


@pytest.mark.parametrize("name", [name for name in EXACT if name != "fma"])
def test_exact_functions_are_those_of_floats(name: str) -> None:
    """On all pairs of small integers, infinities and NaN; quotients and reciprocals are elements of the field."""
    values = np.array([-3.0, -1, 0, 1, 2, 4, np.inf, -np.inf, np.nan])
    unary = name in ("neg", "abs", "sign", "reciprocal", "isnan", "isinf")
    operands = [values] if unary else [each.ravel() for each in np.meshgrid(values, values)]
    found = compute(name, NUMPY[name], *map(ring.encode, operands))
    with np.errstate(all="ignore"):
        wanted = np.asarray(NUMPY[name](*operands))
    if wanted.dtype == bool:
        assert found.tolist() == wanted.tolist()
        return
    whole = ~np.isfinite(wanted) | (wanted == np.round(wanted))
    if name == "sign":
        whole &= ~np.isnan(operands[0])  # a sign of NaN is 0
    assert whole.sum() > len(wanted) // 2
    assert np.array_equal(found[whole], ring.encode(wanted)[whole])


def test_functions_tell_their_operands_apart() -> None:
    """A hash is the same for the same operands, and another for others."""
    operands = ring.encode(np.linspace(2, 3, 1000))
    sines = compute("sin", NUMPY["sin"], operands)
    assert len(np.unique(sines)) == 1000
    assert not np.array_equal(sines, compute("cos", NUMPY["cos"], operands))


def validated(text: str, pipeline: list) -> None:
    """Runs passes with exact numbers."""
    run(parse_module(text), make_context(), pipeline, instrumentation=[Validator(Options(0, 1, exact=True))])


def test_reassociating_passes_are_held_to_equality() -> None:
    """What floats take for another order of a sum, exact numbers do not: a lane more or less is found."""
    padded = parse_pipeline("pad-to-power-of-two")
    validated(ROW_SUM, padded)

    @wrong.dataclass(frozen=True)
    class Nearly(wrong.Scaled):
        """One part in ten million: floats do not see it."""

        name = "nearly"
        meaning = padded[0].meaning  # pyright: ignore[reportAttributeAccessIssue]

    run(parse_module(ROW_SUM), make_context(), [Nearly()], instrumentation=[Validator(Options(0, 1))])
    with pytest.raises(MeaningError, match="'nearly' changed what 'row_sum' computes"):
        validated(ROW_SUM, [Nearly()])


@pytest.mark.parametrize("text", ["0,3,exact", "1,2", "7", "", "0,1,masked,ranks=4"])
def test_options_are_read(text: str) -> None:
    """And written as they are read."""
    options = Options.parse(text)
    assert Options.parse(str(options)) == options


@pytest.mark.parametrize("text", ["many", "0,0", "1,2,3"])
def test_other_options_are_refused(text: str) -> None:
    """With what is known."""
    with pytest.raises(ConfigError, match="semantics are verified by"):
        Options.parse(text)
