"""What modules are run on: made-up arguments, of which a first run says whether the kernel takes them.

Floats are ordinary numbers, or numbers with zeros of both signs, infinities and NaN among them. Integers are whatever
the accesses of the module allow: any number, else numbers below one of its extents with both ends among them, offsets
that do not go down, else zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import MemRefType

from kopt.interpreter.rounding import dtype_of, numpy_type, rounded

#: Numbers that stand among the others of a special set.
SPECIALS = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -1.0)
#: Integers of arguments that may hold any.
_ANY = 1 << 31
#: Bits of those of 64: a target that has 32 says which numbers it takes, and sums of these are among them.
_WIDE_BITS = 20
#: How many sets of arguments are tried for each argument of integers.
_TRIALS = 6


@dataclass(frozen=True)
class InputSet:
    """Arguments, and what they are in words. ``special`` where floats have infinities and NaN among them."""

    description: str
    arrays: tuple[np.ndarray, ...]
    special: bool = False


#: Makes the elements of an argument of integers.
Integers = Callable[[np.random.Generator, MemRefType], np.ndarray]


def _below(high: int) -> Integers:
    def make(random: np.random.Generator, type: MemRefType) -> np.ndarray:
        shape = type.get_shape()
        found = random.integers(0, max(1, high), shape)
        flat = found.reshape(-1)
        flat[: min(2, flat.size)] = [0, high - 1][: min(2, flat.size)]  # both ends
        return random.permutation(flat).reshape(shape)

    return make


def _offsets(high: int) -> Integers:
    def make(random: np.random.Generator, type: MemRefType) -> np.ndarray:
        found = np.sort(random.integers(0, high + 1, type.get_shape()), axis=-1)
        if found.size:
            found[..., 0], found[..., -1] = 0, high
        return found

    return make


def _any(random: np.random.Generator, type: MemRefType) -> np.ndarray:
    bits = dtype_of(type.element_type).bits
    bits = _WIDE_BITS if bits > 32 else bits
    low, high = (0, 1 << bits) if dtype_of(type.element_type).kind == "uint" else (1 - (_ANY >> (32 - bits)), 0)
    return random.integers(low, high or -low + 1, type.get_shape())


def _zeros(random: np.random.Generator, type: MemRefType) -> np.ndarray:
    return np.zeros(type.get_shape(), np.int64)


def integers_of(types: Sequence[MemRefType]) -> list[tuple[str, Integers]]:
    """What arguments of integers may hold, what tells most first, by the extents of a function's arrays."""
    extents = sorted({size for type in types for size in type.get_shape() if size > 1}, reverse=True)[:_TRIALS]
    below = [(f"numbers below {size}", _below(size)) for size in extents]
    offsets = [(f"offsets up to {size}", _offsets(size)) for size in extents]
    return [("any numbers", _any), *below, *offsets, ("zeros", _zeros)]


def make_set(
    types: Sequence[MemRefType], integers: Sequence[tuple[str, Integers] | None], seed: int, number: int,
    special: bool = False,
) -> InputSet:  # fmt: skip
    """The ``number``-th set of arguments of a seed."""
    random = np.random.default_rng((seed, number))
    arrays = [_array(type, made, random, special) for type, made in zip(types, integers, strict=True)]
    words = ["floats with zeros of both signs, infinities and NaN" if special else "ordinary floats"]
    words += [f"argument {n}: {made[0]}" for n, made in enumerate(integers) if made is not None]
    return InputSet(f"input {number} of seed {seed} ({'; '.join(words)})", tuple(arrays), special)


def _array(
    type: MemRefType, made: tuple[str, Integers] | None, random: np.random.Generator, special: bool
) -> np.ndarray:
    shape, dtype = type.get_shape(), dtype_of(type.element_type)
    if made is not None:
        return made[1](random, type).astype(numpy_type(type.element_type))
    if dtype.kind == "bool":
        return random.integers(0, 2, shape).astype(bool)
    values = random.standard_normal(shape)
    if special:
        chosen = random.choice(SPECIALS, shape)
        values = np.where(random.random(shape) < 0.02, chosen, values)
    return rounded(np.asarray(values), type.element_type)


def aliased(types: Sequence[MemRefType], written: Sequence[int], found: InputSet) -> Iterator[InputSet]:
    """The same arguments, of which two that are alike, and that nothing writes, are one array."""
    for first, type in enumerate(types):
        for second in range(first + 1, len(types)):
            if types[second] == type and not {first, second} & set(written):
                arrays = list(found.arrays)
                arrays[second] = arrays[first]
                description = f"{found.description[:-1]}; arguments {first} and {second} are one array)"
                yield InputSet(description, tuple(arrays), found.special)
                return
