"""What Python's objects hold before a body, what the body changed, and what goes back."""

from __future__ import annotations

import random
from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kopt.errors import UnsupportedError
from kopt.frontend import host_state
from kopt.frontend.host_state import (
    Attribute,
    HostState,
    _attributes,
    check_advanced,
    check_called,
    counts,
    global_names,
)
from kopt.frontend.merging import MISSING
from kopt.frontend.undefined import Undefined

OUTSIDE = 3


class Slots:
    """An object without a dict."""

    __slots__ = ("__weakref__", "left", "right")


class Fixed(Slots):
    """One that takes no assignments, with one more slot, and a dict."""

    __slots__ = ("__dict__", "more")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)


def changed(state: HostState) -> list[tuple[str, Any, Any]]:
    return [(each.label, each.before, each.value) for each in state.changed()]


def test_attributes_that_change() -> None:
    inner, kept = SimpleNamespace(n=1), SimpleNamespace(n=2)
    owner = SimpleNamespace(inner=inner, gone=5, same=[1], kept=kept, text="a")
    state = HostState({"also": owner, "owner": owner, "__kopt_loop1__": SimpleNamespace(n=1), "number": 3})
    assert changed(state) == []
    inner.n, owner.new, owner.text = 2, 7, "".join(["a"])
    del owner.gone
    assert changed(state) == [("owner.gone", 5, MISSING), ("owner.new", MISSING, 7), ("owner.inner.n", 1, 2)]
    owner.same = [1]
    assert ("owner.same", [1], [1]) in changed(state)  # another list
    owner.text, inner.n = "b", True
    assert {("owner.text", "a", "b"), ("owner.inner.n", 1, True)} < {
        each for each in changed(state) if each[0] != "owner.same"
    }


def test_objects_in_containers_and_closures() -> None:
    held, listed, tabled = SimpleNamespace(n=1), SimpleNamespace(n=1), SimpleNamespace(n=1)

    def function() -> Any:
        return held.n

    state = HostState({"f": function, "several": [listed], "table": {"key": (tabled,)}})
    held.n = listed.n = tabled.n = 2
    assert {each.label for each in state.changed()} == {"held.n", "several[0].n", "table['key'][0].n"}


def test_slots_and_what_a_class_makes_of_assignments() -> None:
    owner = Fixed()
    for name in ("left", "more", "other"):
        object.__setattr__(owner, name, 1)
    assert _attributes(owner) == {"left": 1, "more": 1, "other": 1}
    state = HostState({"owner": owner})
    object.__setattr__(owner, "left", 2)
    object.__setattr__(owner, "right", 3)
    (left, right) = state.changed()
    assert [(each.name, each.before) for each in (left, right)] == [("left", 1), ("right", MISSING)]
    left.set(5)
    right.set(MISSING)
    assert owner.left == 5 and not hasattr(owner, "right") and right.value is MISSING
    right.set(MISSING)  # nothing is there
    right.set(6)
    assert owner.right == 6 == right.value


def test_what_goes_back() -> None:
    """Values of the device, and names without one, wherever they are in a value; what Python computed stays."""
    owner = SimpleNamespace(a=1, b=2, c=3)
    state = HostState({"owner": owner})
    nothing = Undefined("a", "it is gone")
    owner.a, owner.b, owner.d, owner.e = nothing, 20, [1, (nothing,)], 50
    state.restore()
    assert vars(owner) == {"a": 1, "b": 20, "c": 3, "e": 50}


@pytest.mark.parametrize(
    ("before", "change", "said"),
    [
        ([1], lambda v: v.append(2), "'v' grows in a device loop: append and its kin run once, not on each visit"),
        ([1], lambda v: v.pop(), "'v' changes in a device loop"),
        ([1], lambda v: v.__setitem__(0, 2), "'v' changes in a device loop"),
        ({1: 2}, lambda v: v.update({3: 4}), "'v' changes in a device loop"),
        ({1}, lambda v: v.add(2), "'v' changes"),
        (deque([1]), lambda v: v.append(2), "'v' changes"),
        (bytearray(b"a"), lambda v: v.append(1), "'v' changes"),
        ([[1]], lambda v: v[0].append(2), "'v[0]' grows"),
        ({"k": [1]}, lambda v: v["k"].pop(), "'v['k']' changes"),
        ([1], lambda v: None, None),
        ({"k": [1]}, lambda v: v.update(k=v["k"]), None),
    ],
    ids=range(11),
)
def test_containers_that_change(before: Any, change: Any, said: str | None) -> None:
    state = HostState({"v": before})
    change(before)
    if said is None:
        state.check_containers()
    else:
        with pytest.raises(UnsupportedError) as caught:
            state.check_containers()
        assert said in str(caught.value) and "[loop-carried]" in str(caught.value)


def test_lists_that_the_body_has_copies_of_are_its_own() -> None:
    """Those, and what is in them; other containers are not copied."""
    values, several, numbers = [1, [2]], {"k": {1}}, deque([1])
    state = HostState({"v": values, "s": several, "n": numbers}, ["v", "s"], "under a device condition")
    values.append(3)
    values[1].append(4)  # pyright: ignore
    several["j"] = {2}
    state.check_containers()
    several["k"].add(5)
    with pytest.raises(UnsupportedError, match="'s.'k'.' changes under a device condition"):
        state.check_containers()


def test_numbers_that_cells_change() -> None:
    """Of containers and attributes; objects may be others."""
    values, owner = [1, "a", None], SimpleNamespace(n=1, kept=None, new=0)
    state = HostState({"v": values, "owner": owner})
    values[2], values[1], owner.kept = SimpleNamespace(), "b", values
    state.check_counts()
    owner.n = 2
    with pytest.raises(UnsupportedError, match="'owner.n' changes in a device loop"):
        state.check_counts()
    owner.n = 1
    values[0] = 2
    with pytest.raises(UnsupportedError, match="'v' changes in a device loop"):
        state.check_counts()


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [(1, 2, True), (1, 1, False), (1, True, False), (1.5, 2, True), (1, "a", False), ("a", 1, False), (None, 1, False)],
)
def test_counting(before: object, after: object, wanted: bool) -> None:
    assert counts(before, after) is wanted


def test_what_a_body_must_not_advance(monkeypatch) -> None:
    numbers, other = iter([1, 2]), iter([3])
    state = HostState({"n": numbers, "several": [zip("ab", "cd", strict=False)]})
    monkeypatch.setattr(host_state, "current", lambda: SimpleNamespace(host_states=[state]))
    check_advanced(other, [numbers], 3)
    for values in ((numbers,), (3, numbers)):
        with pytest.raises(UnsupportedError, match="'n' is advanced in a device loop"):
            check_advanced(*values)
    check_called(isinstance, (numbers, int), {})
    check_called(len, (other,), {})
    for function, args, kwargs in ((next, (numbers,), {}), (numbers.__next__, (), {}), (max, (3,), {"key": numbers})):
        with pytest.raises(UnsupportedError, match="'n' is advanced"):
            check_called(function, args, kwargs)
    with pytest.raises(UnsupportedError, match="'random' of random draws a number in a device loop"):
        check_called(random.Random(3).random, (), {})
    with pytest.raises(UnsupportedError, match="'standard_normal' of numpy.random._generator draws a number"):
        check_called(np.random.default_rng(3).standard_normal, (), {})


def reads_names(given: int) -> Any:
    local = given

    def inner() -> Any:
        return OUTSIDE, local, math_like

    math_like = inner
    return inner


def test_global_names_that_code_may_read() -> None:
    """Those of functions inside too; no names of its own."""
    names = {"OUTSIDE": 3, "given": 4, "local": 5, "unread": 6, "math_like": 7}
    assert global_names(reads_names.__code__, names) == {"OUTSIDE": 3}


def test_attributes_are_told_apart_by_what_they_are() -> None:
    one, two = (Attribute(SimpleNamespace(), "a", "o.a", 1) for _ in range(2))
    assert one != two and one.value is MISSING
