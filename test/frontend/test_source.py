"""Finding, rewriting and rebuilding functions: decorators, closures, lambdas, defaults, locations."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import torch

import kopt.language as hl
from kopt.diagnostics import location_of
from kopt.dialects import tile

from .support import check, imported

X = torch.randn(24, 16)


def twice(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x) + function(x)

    return wrapper


def helper(offset):
    def inner(v, scale=2.0, *, shift=1.0):
        return v * scale + shift + offset

    return inner


def test_closures_defaults_and_decorators():
    @twice
    def doubled(v):
        return v * 3

    inner = helper(5.0)

    def kernel(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = inner(x[rows, :]) + doubled(x[rows, :])
        return out

    check(kernel, [X], X * 2 + 6 + X * 6)


def lanes_of(v, width):
    """The columns of a tile, by halves."""
    if width == 1:
        return (v.reshape(v.size(0)),)
    low, high = hl.split(v.reshape(v.size(0), 2, width // 2).permute(0, 2, 1))
    return (*lanes_of(low, width // 2), *lanes_of(high, width // 2))


def test_functions_of_a_module_call_themselves():
    def kernel(x):
        out = torch.empty([x.size(0)])
        for rows in hl.tile(x.size(0)):
            first, *rest = lanes_of(x[rows, :], 16)
            for column in rest:
                first = first * 0.5 + column
            out[rows] = first
        return out

    check(kernel, [X], X @ 0.5 ** torch.arange(15.0, -1.0, -1.0))


def test_several_lambdas_on_one_line():
    fs = [lambda v: v + 1, lambda v: v * 2]
    pair = SimpleNamespace(f=lambda v: fs[1](fs[0](v)))

    def kernel(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = pair.f(x[rows, :])
        return out

    check(kernel, [X], (X + 1) * 2)


def test_methods_are_looked_into():
    class Scale:
        def __init__(self, by):
            self.by = by

        def apply(self, v):
            return v * self.by if self.by > 1 else v

    scale = Scale(4.0)

    def kernel(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = scale.apply(x[rows, :])
        return out

    check(kernel, [X], X * 4)


class Affine:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, v, shift=0.0):
        return v * self.scale if shift == 0 else v * self.scale + shift


def test_callable_objects_and_partials():
    affine = functools.partial(Affine(2.0), shift=1.0)

    def kernel(x, f):
        assert x.ndim == 2, "a matrix"
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = f(x[rows, :]) + affine(x[rows, :])
        return out

    check(kernel, [X, Affine(3.0)], X * 3 + X * 2 + 1)


def located(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        total = torch.exp(x[rows, :])
        out[rows, :] = total
    return out


def test_operations_know_their_line_and_column():
    module = imported(located, X).module
    first = located.__code__.co_firstlineno
    places = {op.name: location_of(op) for op in module.walk()}
    assert (places["tile.exp"].line, places["tile.exp"].col) == (first + 3, 17)
    assert (places["tile.load"].line, places["tile.load"].col) == (first + 3, 27)
    assert places["tile.store"].line == first + 4
    assert {place.file for place in places.values() if place} == {__file__}


def test_values_are_named_after_variables():
    text = str(imported(located, X).module)
    assert "%total = tile.exp" in text and "tile.grid (%rows" in text and "%x: memref" in text


def test_ops_of_one_import_do_not_touch_another():
    first, second = imported(located, X), imported(located, X)
    assert first.module.is_structurally_equivalent(second.module)
    assert [op for op in first.module.walk() if isinstance(op, tile.LoadOp)]
