"""Finding, rewriting and rebuilding functions: decorators, closures, lambdas, defaults, locations."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import re
import sys
from types import SimpleNamespace

import pytest
import torch

import kopt.language as hl
from kopt.diagnostics import location_of
from kopt.dialects import tile
from kopt.errors import UnsupportedError
from kopt.frontend import import_kernel, source

from .support import check, imported, reference

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


SOURCE = """
import torch
import kopt.language as hl


def kept(*_):
    return lambda function: function


def doubled(v):
    return v * 100


@kept((1, 2), lambda v: v)
def doubled(v):
    return v * 2


class Nested:
    @kept((3, 4), lambda v: v)
    def doubled(v):
        return v * 3


one_line = lambda v: (lambda v: v + 1)(v * 2)
inner = (lambda v: (lambda v: v + 7))(0)
lines = (
    lambda v: (lambda v:
        v - 1
    )
)(0)
beside = [lambda v: v + 1, lambda w: w + 2, lambda v: v + 3]


def kernel(x, f):
    for i in hl.tile(x.size(0), block_size=8):
        x[i, :] = f(x[i, :])
"""


def loaded(path, text: str = SOURCE):
    """A module of a file."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda m: m.doubled, lambda x: x * 2),
        (lambda m: m.Nested.doubled, lambda x: x * 3),
        (lambda m: m.one_line, lambda x: x * 2 + 1),
        (lambda m: m.inner, lambda x: x + 7),
        (lambda m: m.lines, lambda x: x - 1),
        (lambda m: m.beside[0], lambda x: x + 1),
        (lambda m: m.beside[1], lambda x: x + 2),
        (lambda m: m.beside[2], lambda x: x + 3),
    ],
    ids=["decorated", "decorated in a class", "one line", "inner", "lines", "first", "second", "third"],
)
def test_which_definition_it_is(tmp_path, of, wanted) -> None:
    """Of several by one name, and of lambdas in lambdas."""
    module, x = loaded(tmp_path / "definitions.py"), X.clone()
    reference(module.kernel, x, of(module))
    torch.testing.assert_close(x, wanted(X))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (r"def kernel\(x, f\):", "def other(x, f):"),
        (r"def kernel\(x, f\):", "def kernel(x, g):"),
        (r"def kernel\(x, f\):", "def kernel(x, f, *, g=0):"),
        (r"def kernel\(x, f\):", "class kernel:"),
        (r"\bi\b", "j"),
        (r"x\[i, :\] = f\(x\[i, :\]\)", "x[i, :] = 3"),
    ],
    ids=["name", "argument", "keyword", "class", "name inside", "elements"],
)
def test_files_that_changed(tmp_path, before: str, after: str) -> None:
    """As far as names and places tell."""
    path = tmp_path / f"changed_{abs(hash(after))}.py"
    module = loaded(path)
    path.write_text(re.sub(before, after, SOURCE))
    linecache.checkcache(str(path))
    if after == "x[i, :] = 3":  # the same names
        imported(module.kernel, X.clone(), module.doubled)
        return
    with pytest.raises(UnsupportedError) as caught:
        import_kernel(module.kernel, (X, module.doubled), {})
    assert f"the source of 'kernel' in {path} is not what was loaded" in str(caught.value)
    assert "the file changed after it was imported: load it again" in str(caught.value)
    assert "[no-source]" in str(caught.value)


def test_lambdas_that_are_gone(tmp_path) -> None:
    path = tmp_path / "gone.py"
    module = loaded(path)
    path.write_text(SOURCE.replace("lambda w: w + 2", "lambda u: u + 2"))
    linecache.checkcache(str(path))
    with pytest.raises(UnsupportedError, match="the source of '<lambda>' in .*gone.py is not what was loaded"):
        import_kernel(module.kernel, (X, module.beside[1]), {})
    with pytest.raises(UnsupportedError, match="the source of 'kernel' cannot be found"):
        path.write_text("")
        linecache.checkcache(str(path))
        source.clear_caches()
        import_kernel(module.kernel, (X, module.beside[0]), {})


def test_equal_functions_of_two_files(tmp_path) -> None:
    """Python takes their code for equal; each one's places are in its own file."""
    text = SOURCE.replace("f(x[i, :])", "f(x[i, :], 1)")
    modules = [loaded(tmp_path / name, text) for name in ("first.py", "second.py")]
    for module in modules:
        with pytest.raises(UnsupportedError) as caught:
            import_kernel(module.kernel, (X, module.doubled), {})
        assert str(caught.value).startswith(f"{module.__file__}:")


class Place:
    """An object whose attribute is the place where it is asked for it."""

    @property
    def here(self):
        return source.place_of(sys._getframe())


def test_places_of_frames_below_the_kernels() -> None:
    def kernel(x):
        raise ValueError(
            Place().here,
        )

    with pytest.raises(ValueError) as caught:
        import_kernel(kernel, (X,), {})
    place = caught.value.args[0]
    assert (place.file, place.line) == (__file__, kernel.__code__.co_firstlineno + 2)
    assert source.place_of(None) is None and source.place_of(sys._getframe()) is None


def test_forgotten_functions_are_rewritten_anew() -> None:
    imported(located, X)
    before = source._rewritten[__file__, located.__code__]
    imported(located, X)
    assert source._rewritten[__file__, located.__code__] is before
    source.clear_caches()
    assert not source._rewritten and not source._trees
    imported(located, X)
    assert source._rewritten[__file__, located.__code__] is not before
