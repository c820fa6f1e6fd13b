"""Recursion over what values are computed from, for chains of any length.

An analysis that asks itself about the operands of a value is written as that: a recursive function. Decorated, each
value is looked at once for each outermost call, and a chain that is deeper than Python's stack is walked from its
other end.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

P = ParamSpec("P")
R = TypeVar("R")

#: What is a key itself; values of the IR are equal to themselves only.
_BY_VALUE = frozenset((OpResult, BlockArgument, int, str, bool, type(None)))
#: How deep the recursion goes before a chain is walked from its other end: a few frames each.
_DEPTH = 25


def operands_of(value: SSAValue) -> Iterable[SSAValue]:
    """What a value is computed from."""
    return value.owner.operands if isinstance(value.owner, Operation) else ()


def users_of(value: SSAValue) -> Iterable[SSAValue]:
    """What is computed from a value."""
    return [result for use in value.uses for result in use.operation.results]


class _State(threading.local):
    """What the outermost call has found so far: results, or what was raised."""

    def __init__(self) -> None:
        self.depth = 0
        self.known: dict[Any, tuple[Any, Exception | None]] = {}


def bottom_up(
    leads_to: Callable[[SSAValue], Iterable[SSAValue]] = operands_of,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a pure recursive function of a value, the first `SSAValue` among its positional arguments.

    ``leads_to`` gives the values that it asks itself about. The IR stays as it is while it runs.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        state = _State()
        computed: Callable[..., R] = function

        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            key = _key(args)
            if key in state.known:
                return _answer(state.known[key])
            if state.depth == _DEPTH:
                _from_the_other_end(args, state, run, leads_to)
            if state.depth > 0:
                return run(args, kwargs)
            try:
                return run(args, kwargs)
            finally:
                state.known.clear()

        def run(args: tuple[Any, ...], kwargs: Any) -> R:
            state.depth += 1
            try:
                found, error = computed(*args, **kwargs), None
            except RecursionError:
                raise
            except Exception as raised:
                found, error = None, raised
            finally:
                state.depth -= 1
            state.known[_key(args)] = found, error
            return _answer((found, error))

        return wrapped

    return decorate


def _answer(known: tuple[Any, Exception | None]) -> Any:
    found, error = known
    if error is not None:
        raise error
    return found


def _key(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments by identity: they live as long as the outermost call."""
    return tuple(arg if type(arg) in _BY_VALUE or isinstance(arg, SSAValue) else id(arg) for arg in args)


def _from_the_other_end(
    args: tuple[Any, ...], state: _State, run: Callable[..., Any], leads_to: Callable[[SSAValue], Iterable[SSAValue]]
) -> None:
    """Asks about everything that a value leads to, the farthest first, so that each finds its answers there."""
    place = _place(args)
    if place is None:
        return
    depth, state.depth = state.depth, 1  # each call finds what it asks for: one level deep
    try:
        for value in _farthest_first(args[place], leads_to):
            given = (*args[:place], value, *args[place + 1 :])
            if value is not args[place] and _key(given) not in state.known:
                try:
                    run(given, {})
                except Exception:
                    continue  # kept with the answers: raised where somebody asks
    finally:
        state.depth = depth


def _place(args: tuple[Any, ...]) -> int | None:
    return next((number for number, arg in enumerate(args) if isinstance(arg, SSAValue)), None)


def _farthest_first(value: SSAValue, leads_to: Callable[[SSAValue], Iterable[SSAValue]]) -> list[SSAValue]:
    """Everything that a value leads to, each after what it leads to itself."""
    order: dict[SSAValue, None] = {}
    seen = {value}
    stack = [(value, iter(leads_to(value)))]
    while stack:
        at, rest = stack[-1]
        for other in rest:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(leads_to(other))))
                break
        else:
            order[at] = None
            stack.pop()
    return list(order)
