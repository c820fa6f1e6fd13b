"""A function that is watched while passes rewrite it: its arguments, and what it gave before the pass that runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp

from kopt.clone import cloned
from kopt.dialects.atomic import RmwOp
from kopt.errors import KoptError
from kopt.interpreter.ring import encode
from kopt.interpreter.rounding import dtype_of
from kopt.passes.meaning import EXACT, REASSOCIATES, Meaning
from kopt.validation.comparing import Difference, difference, same_bits
from kopt.validation.inputs import InputSet, Integers, aliased, integers_of, make_set
from kopt.validation.options import Options
from kopt.validation.outcome import Conditions, NotRun, Observed, observe
from kopt.walk import walk

#: Another undefined value than NaN, and other orders, by which results that hang on such things are found.
_OTHER_POISON, _SHUFFLES, _OTHER_SEEDS = 12345.0, 8, (1, 2)


@dataclass(frozen=True)
class ChangedValue:
    """A value that a pass has changed, or a run that fails since."""

    input: InputSet
    number: int
    found: Difference | KoptError


class Watched:
    """One function. ``reason`` says why nothing of it is known, where the interpreter does not run it."""

    def __init__(self, module: ModuleOp, entry: str, options: Options, given: Sequence[np.ndarray] | None = None):
        self.entry, self.options = entry, options
        self.shape = Observed.of(module, entry)
        self.module = cloned(module)
        self.how = Conditions.of(options)
        self.reason: str | None = None
        self._seen: list[list[np.ndarray]] = []
        self.inputs: list[InputSet] = []
        self._begin(given)

    def advance(self, module: ModuleOp, how: Conditions, meaning: Meaning) -> ChangedValue | None:
        """Runs what a pass has made; gives the first change beyond what it states. The next pass is seen from here."""
        before, self.how = self.how, how
        known, seen = self.reason is None, []
        self.reason = None
        try:
            for number, input in enumerate(self.inputs):
                try:
                    results = observe(module, self.entry, self.shape, input.arrays, self.how)
                except KoptError as error:
                    if known:
                        return ChangedValue(input, 0, error)
                    raise NotRun(error.message) from error
                seen.append(results)
                if (
                    known
                    and (meaning.kind != "approximates" or not how.exact)
                    and (change := self._compare(number, results, meaning, before))
                ):
                    return change
        except NotRun as error:
            self.reason = str(error)
        self.module, self._seen = cloned(module), seen
        return None

    def _compare(
        self, number: int, results: list[np.ndarray], meaning: Meaning, how: Conditions
    ) -> ChangedValue | None:
        if how.exact and meaning.kind == "approximates":
            return None  # near is no word of exact numbers
        input, seen = self.inputs[number], self._seen[number]
        meaning = EXACT if how.exact else self._loosened(meaning)
        terms = max((size for array in input.arrays for size in array.shape), default=1)
        for n, (expected, found) in enumerate(zip(seen, results, strict=False)):
            element = self.shape.element(n)
            if difference(expected, found, element, meaning, terms, None) is None:
                continue
            known = self._known(input, n, expected, how)
            if (worst := difference(expected, found, element, meaning, terms, known)) is not None:
                return ChangedValue(input, n, worst)
        return None

    def _loosened(self, meaning: Meaning) -> Meaning:
        """Cells that add floats come in no order: then no pass keeps the bits."""
        adds = any(
            op.kind.data in ("add", "mul") and dtype_of(op.value.type.element_type).is_float  # pyright: ignore[reportAttributeAccessIssue]
            for op in walk(self.module, RmwOp)
        )
        return REASSOCIATES if adds and meaning.kind == "exact" else meaning

    def _known(self, input: InputSet, number: int, expected: np.ndarray, how: Conditions) -> np.ndarray | None:
        """The elements that hang on nothing undefined, nor on the order of cells."""
        others = [replace(how, poison=_OTHER_POISON), *(replace(how, order=n) for n in range(_SHUFFLES))]
        others += [replace(how, seed=how.seed + n) for n in _OTHER_SEEDS]
        known = np.ones(expected.shape, bool)
        for position, other in enumerate(others):
            again = observe(self.module, self.entry, self.shape, input.arrays, other)[number]
            if position <= _SHUFFLES or expected.dtype.kind != "f":
                known &= same_bits(expected, again)
        return known

    def _begin(self, given: Sequence[np.ndarray] | None) -> None:
        try:
            for input in map(self._held, self._sets(given)):
                try:
                    self._seen.append(observe(self.module, self.entry, self.shape, input.arrays, self.how))
                except KoptError as error:
                    self.reason = error.message
                    continue
                self.inputs.append(input)
        except NotRun as error:
            self.reason = str(error)
            return
        if self.inputs:
            self.reason = None

    def _held(self, input: InputSet) -> InputSet:
        """Arguments as the interpreter holds them: exact numbers where floats are."""
        if not self.options.exact:
            return input
        types: list[MemRefType] = list(self.shape.inputs)  # pyright: ignore[reportAssignmentType]
        pairs = list(zip(input.arrays, (dtype_of(type.element_type).is_float for type in types), strict=True))
        encoded = {id(array): encode(array) if float else array for array, float in pairs}
        return replace(input, arrays=tuple(encoded[id(array)] for array in input.arrays))

    def _sets(self, given: Sequence[np.ndarray] | None) -> Iterator[InputSet]:
        if given is not None:
            yield from self._given(given)
            return
        types = self.shape.inputs
        if not all(isinstance(type, MemRefType) for type in types):
            raise NotRun("arguments are made up for functions of memrefs")
        memrefs: list[MemRefType] = list(types)  # pyright: ignore[reportAssignmentType]
        integers = self._integers(memrefs)
        made = [make_set(memrefs, integers, self.options.seed, n, self._special(n)) for n in range(self.options.inputs)]
        yield from made
        yield from aliased(memrefs, self.shape.written, made[0])

    def _given(self, arrays: Sequence[np.ndarray]) -> Iterator[InputSet]:
        """The caller's arguments, and the same integers with other floats."""
        yield InputSet("the given arguments", tuple(arrays))
        types: list[MemRefType] = list(self.shape.inputs)  # pyright: ignore[reportAssignmentType]
        kinds = [dtype_of(type.element_type).is_float for type in types]
        for number in range(1, self.options.inputs):
            made = make_set(types, [None] * len(types), self.options.seed, number, self._special(number))
            mixed = [new if float else old for new, old, float in zip(made.arrays, arrays, kinds, strict=True)]
            description = f"{made.description[:-1]}; integers as given)"
            yield InputSet(description, tuple(mixed), made.special)

    def _special(self, number: int) -> bool:
        """Every other set has infinities and NaN, which have no sign among exact numbers."""
        return number % 2 == 1 and not self.options.exact

    def _integers(self, types: Sequence[MemRefType]) -> list[tuple[str, Integers] | None]:
        """For each argument of integers the widest kind that the kernel takes; the others are zeros meanwhile."""
        kinds = integers_of(types)
        zeros = kinds[-1]
        found: list[tuple[str, Integers] | None] = [
            zeros if dtype_of(type.element_type).is_integer else None for type in types
        ]
        for position, one in enumerate(found):
            if one is not None:
                found[position] = next(
                    kind for kind in kinds if kind is zeros or self._takes(types, found, position, kind)
                )
        return found

    def _takes(
        self, types: Sequence[MemRefType], integers: Sequence[tuple[str, Integers] | None], position: int,
        kind: tuple[str, Integers],
    ) -> bool:  # fmt: skip
        tried = [kind if n == position else one for n, one in enumerate(integers)]
        try:
            input = self._held(make_set(types, tried, self.options.seed, 0))
            observe(self.module, self.entry, self.shape, input.arrays, self.how)
        except KoptError:
            return False
        return True
