"""What a call is known by."""

from dataclasses import dataclass

import numpy as np
import pytest

from kopt.runtime.cache import call_key as key_of_call
from kopt.runtime.cache import value_key
from kopt.runtime.sharing import sharing

torch = pytest.importorskip("torch")

SCALE = 2


def call_key(args):
    return key_of_call(scaled, args)


def scaled(x):
    return x * SCALE


def nested(x):
    return (lambda y: scaled(y))(x)


def test_tensors_are_known_by_their_specs():
    x = torch.zeros(3, 4)
    assert call_key([x]) == call_key([torch.ones(3, 4)])
    for other in (torch.zeros(4, 3).T, torch.zeros(3, 4, dtype=torch.int32), torch.zeros(3, 5), np.zeros((3, 4))):
        assert call_key([x]) != call_key([other])
    assert call_key([x]) != call_key([torch.zeros(3, 4, requires_grad=True)])


@pytest.mark.parametrize("a, b", [(1, 2), (1, 1.0), (True, 1), (0.0, -0.0), ("a", "b"), ((1, 2), [1, 2]), (None, 0)])
def test_scalars_by_type_and_value(a, b):
    assert value_key(a) == value_key(a) and value_key(a) != value_key(b)


def test_calls_of_other_functions_differ():
    assert key_of_call(scaled, [1]) != key_of_call(nested, [1]) != key_of_call(nested, [2])


def test_nan_is_itself():
    assert value_key(float("nan")) == value_key(float("nan"))


def test_aliasing():
    x, y = torch.zeros(10), torch.zeros(10)
    assert sharing([x, y]) == ()
    assert sharing([x, x]) == ((0, 1, 0),)
    assert sharing([x, 3, x[2:]]) == ((0, 2, 8),)
    assert sharing([x[:5], x[5:]]) == ()
    array = np.zeros(10)
    assert sharing([array, array[::-1]]) == ((0, 1, 0),)
    assert sharing([x[:0], x]) == ()
    assert call_key([x, x]) != call_key([x, y])


def make(scale):
    return lambda x: x * scale


def test_callables_by_code_and_cells():
    assert value_key(make(2)) == value_key(make(2))
    assert value_key(make(2)) != value_key(make(3))


def test_tensors_in_cells_are_known_by_identity():
    scale = torch.zeros(2)
    assert value_key(make(scale)) == value_key(make(scale))
    assert value_key(make(scale)) != value_key(make(torch.zeros(2)))
    assert value_key(scale) == value_key(torch.ones(2))


def test_callables_by_the_globals_they_read(monkeypatch):
    before = value_key(nested)
    assert before == value_key(nested)
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert value_key(nested) != before


def test_recursive_functions_and_lists_end():
    def loop(n):
        return loop(n - 1) if n else 0

    assert value_key(loop) == value_key(loop)
    cyclic = [1]
    cyclic.append(cyclic)
    assert value_key(cyclic) == value_key(cyclic)


@dataclass
class Options:
    size: int


class Plain:
    pass


def test_other_objects():
    assert value_key(Options(1)) == value_key(Options(1)) != value_key(Options(2))
    plain = Plain()
    assert value_key(plain) == value_key(plain) != value_key(Plain())
    assert value_key({"a": 1}) != value_key({"a": 2})


def test_a_call_looks_at_its_function_once(monkeypatch):
    """Its key is computed once, however many of its values are left open; and again where a guard is to stay."""
    from kopt.runtime import cache

    looked_at = []
    own = cache._function_key
    monkeypatch.setattr(cache, "_function_key", lambda *args: looked_at.append(args) or own(*args))
    keys = cache.CallKeys(scaled, "reference")
    values = {"x": torch.zeros(3, 4), "n": 2, "f": 0.5}
    assert keys.of(values) == keys.of(dict(values)) != keys.of({**values, "n": 3})
    assert len(looked_at) == 1
    assert keys.of(values) == cache.CallKeys(scaled, "reference").of({**values, "x": torch.ones(3, 4)})
