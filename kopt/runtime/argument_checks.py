"""Checks of what arguments hold, before a call: offsets of items, integers that a target keeps in 32 bits, places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kopt.errors import ArgumentError
from kopt.runtime.wire import pack, to_reference
from kopt.specs import framework_of, is_known

if TYPE_CHECKING:
    from kopt.analysis.item_numbers import ItemNumber
    from kopt.analysis.offset_checks import ItemSlice
    from kopt.interpreter.access_checks import AccessChecks
    from kopt.interpreter.host_arrays import HostArrays


class Checks(Protocol):
    """What calls of one kernel look at, as `kopt.call_checks` has it."""

    @property
    def accesses(self) -> AccessChecks | None:
        """The kernel's own accesses."""
        ...

    @property
    def slices(self) -> Sequence[ItemSlice]:
        """What the items of its arguments reach."""
        ...

    @property
    def host_arrays(self) -> HostArrays | None:
        """The arrays that the host computes of arguments, for offsets of items; None where there are no items."""
        ...

    @property
    def remain(self) -> bool:
        """Whether further calls have something to look at."""
        ...


def check_slices(kernel: str, slices: Sequence[ItemSlice], values: Sequence[Any], host: HostArrays | None) -> None:
    """Raises `ArgumentError` that names the first item whose elements are not where its arrays have any.

    ``host`` knows the arrays that the host computes from the arguments; items of others are not looked at.
    """
    if host is None or not all(map(is_known, values)):
        return
    numbers = {element.array for one in slices for element, _ in (*one.start.terms, *one.end.terms)}
    found = {number: host.value(number, lambda argument: _host(values[argument])) for number in sorted(numbers)}
    arrays = {number: array.astype(np.int64) for number, array in found.items() if array is not None}
    for one in slices:
        if not all(element.array in arrays for element, _ in (*one.start.terms, *one.end.terms)):
            continue
        problem = _problem(one, arrays)
        if problem is not None:
            raise ArgumentError(f"{kernel}: {problem}")


def check_intervals(
    kernel: str, names: Sequence[str], intervals: Mapping[int, tuple[int, int]], values: Sequence[Any]
) -> None:
    """Raises `ArgumentError` for an integer outside the interval that its argument was compiled for.

    Inside ``jax.jit`` there are none to look at.
    """
    for position, (low, high) in intervals.items():
        if not is_known(values[position]):
            continue
        array = _host(values[position])
        if not array.size or low <= array.min() and array.max() <= high:
            continue
        place = np.argwhere((array < low) | (array > high))[0]
        index = ", ".join(map(str, place))
        raise ArgumentError(
            f"{kernel}: {names[position]}[{index}] = {array[tuple(place)]} is not from {low} to {high}",
            notes=["the target has no 64-bit integers, and 32 bits serve this kernel's arithmetic only in that range"],
        )


def check_accesses(checks: AccessChecks | None, values: Sequence[Any]) -> None:
    """Raises `AccessError` for an access that what the arguments hold takes outside of its array."""
    if checks is not None and all(map(is_known, values)):
        shapes = [tuple(value.shape) for value in values]
        checks.check(lambda number: to_reference(pack(_on_cpu(values[number]))), shapes)


def _on_cpu(value: Any) -> Any:
    return value.detach().cpu() if framework_of(value) == "torch" else value


def _host(value: Any) -> np.ndarray:
    return value.detach().cpu().numpy() if framework_of(value) == "torch" else np.asarray(value)


def _problem(one: ItemSlice, arrays: Mapping[int, np.ndarray]) -> str | None:
    if one.last <= one.first:
        return None
    for element, _ in (*one.start.terms, *one.end.terms):
        size, needed = len(arrays[element.array]), one.last - 1 + element.shift
        if needed >= size or one.first + element.shift < 0:
            return f"'{element.name}' has {size} elements, and item {one.last - 1} needs {element.name}[{needed}]"
    return _out_of_order(one, arrays) or _out_of_range(one, arrays)


def _out_of_order(one: ItemSlice, arrays: Mapping[int, np.ndarray]) -> str | None:
    """Ends before starts, of one array of offsets; other lengths below 0 count as 0."""
    length = one.end - one.start
    ends = {factor: element for element, factor in length.terms}
    if length.const or len(length.terms) != 2 or set(ends) != {1, -1} or ends[1].array != ends[-1].array:
        return None
    short = np.flatnonzero(_evaluated(length, one, arrays) < 0)
    if not len(short):
        return None
    item, array = one.first + int(short[0]), arrays[ends[1].array]
    low, high = (f"{end.name}[{item + end.shift}] = {array[item + end.shift]}" for end in (ends[-1], ends[1]))
    return f"{high} is less than {low}"


def _out_of_range(one: ItemSlice, arrays: Mapping[int, np.ndarray]) -> str | None:
    if one.target is None:
        return None
    starts, ends = _evaluated(one.start, one, arrays), _evaluated(one.end, one, arrays)
    wrong = np.flatnonzero((ends > starts) & ((starts < 0) | (ends > one.target.extent)))
    if not len(wrong):
        return None
    item, target = int(wrong[0]), one.target
    verb, number = ("starts", starts[item]) if starts[item] < 0 else ("ends", ends[item])
    if target.dimension == 0:
        where = f"row {number} of '{target.array}', which has {target.extent} rows"
    else:
        where = f"{number} in dimension {target.dimension} of '{target.array}', whose extent is {target.extent}"
    return f"item {one.first + item} {verb} at {where}"


def _evaluated(number: ItemNumber, one: ItemSlice, arrays: Mapping[int, np.ndarray]) -> np.ndarray:
    """The number of every item."""
    total = np.full(one.last - one.first, number.const, np.int64)
    for element, factor in number.terms:
        total += factor * arrays[element.array][one.first + element.shift : one.last + element.shift]
    return total
