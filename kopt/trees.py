"""Values that hold device values: tuples, lists, dicts and named tuples, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of a value, in order."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    else:
        yield value


def rebuild(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value of the same form with each leaf changed, in order. Lists and dicts are new ones."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(rebuild(item, change) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(rebuild(item, change) for item in value)
    if isinstance(value, dict):
        return {key: rebuild(item, change) for key, item in value.items()}
    return change(value)


def refilled(value: Any, other: Any) -> Any:
    """A value of the same form as ``other``, with its leaves: lists and dicts are those of ``value``, filled anew."""
    if isinstance(value, list):
        value[:] = map(refilled, value, other)
        return value
    if isinstance(value, dict):
        value.update({key: refilled(item, other[key]) for key, item in value.items()})
        return value
    return other


def same_form(a: Any, b: Any) -> bool:
    """Whether two values have leaves in the same places."""
    if isinstance(a, list | tuple) or isinstance(b, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same_form, a, b))
    if isinstance(a, dict) or isinstance(b, dict):
        return type(a) is type(b) and list(a) == list(b) and all(map(same_form, a.values(), b.values()))
    return True
