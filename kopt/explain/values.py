"""What values are at a stage, on small inputs: the reference interpreter runs it, and each line says what it saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from kopt.errors import KoptError, UnsupportedError
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from kopt.interpreter.values import TileValue
from kopt.runtime.wire import from_reference, pack, to_reference
from kopt.specs import TensorSpec

#: Elements of all arguments up to which a stage is run without being asked to, and operations that are run at most.
ELEMENTS, OPERATIONS = 1 << 16, 50_000
#: Made-up integers are below this: indices into most things.
_INTEGERS = 4


@dataclass
class _Seen:
    """What one operation gave: over all visits."""

    visits: int = 0
    low: float = np.inf
    high: float = -np.inf
    strange: int = 0

    def add(self, numbers: np.ndarray) -> None:
        """One more visit."""
        self.visits += 1
        found = numbers.astype(np.float64)
        finite = found[np.isfinite(found)]
        self.strange += found.size - finite.size
        if finite.size:
            self.low, self.high = min(self.low, float(finite.min())), max(self.high, float(finite.max()))

    def __str__(self) -> str:
        numbers = f"{self.low:.4g}" if self.low == self.high else f"{self.low:.4g} … {self.high:.4g}"
        strange = f", {self.strange} not finite" if self.strange else ""
        times = f" in {self.visits} visits" if self.visits > 1 else ""
        return f"{'no numbers' if self.low > self.high else numbers}{strange}{times}"


class _Watching(Machine):
    """The machine of the reference, which notes what operations give."""

    def __init__(self, module: ModuleOp, masked: bool):
        super().__init__(module, HANDLERS, masked=masked)
        self.seen: dict[Operation, _Seen] = {}
        self._left = OPERATIONS

    def execute(self, op: Operation) -> None:
        self._left -= 1
        if self._left < 0:
            raise UnsupportedError(f"more than {OPERATIONS:,} operations")
        super().execute(op)
        if len(op.results) == 1 and (numbers := _numbers(self[op.results[0]])) is not None:
            self.seen.setdefault(op, _Seen()).add(numbers)


def _numbers(held: Any) -> np.ndarray | None:
    """The numbers of a value whose lanes are inside of their ranges; None of what is no number."""
    if isinstance(held, TileValue):
        valid = np.ones(held.data.shape, bool)
        for lanes in held.valid:
            valid &= lanes.spread(held.data.ndim)
        return held.data[valid]
    return np.asarray(held) if isinstance(held, bool | int | float | np.generic) else None


def values_at(
    module: ModuleOp, entry: str, arrays: Sequence[np.ndarray], masked: bool
) -> tuple[Mapping[Operation, str], str | None]:
    """What each operation of a module gives, or why that is not known."""
    machine = _Watching(module, masked)
    try:
        machine.call(machine.functions[entry], [array.copy() for array in arrays])
    except KoptError as error:
        return {}, error.message
    return {op: str(seen) for op, seen in machine.seen.items()}, None


def why_too_large(specs: Sequence[TensorSpec]) -> str | None:
    """Why stages are not run unless somebody asks for it."""
    total = sum(prod(spec.shape) for spec in specs)
    return None if total <= ELEMENTS else f"the arguments have {total:,} elements; values are shown up to {ELEMENTS:,}"


def made_up(specs: Sequence[TensorSpec], given: Mapping[int, Any], seed: int = 0) -> list[np.ndarray]:
    """Arrays for the interpreter: those that are given, by their numbers, and made-up ones."""
    generator = np.random.default_rng(seed)
    return [to_reference(pack(given[n])) if n in given else _random(spec, generator) for n, spec in enumerate(specs)]


def _random(spec: TensorSpec, generator: np.random.Generator) -> np.ndarray:
    if spec.dtype.kind == "float":
        found = generator.standard_normal(spec.shape)
    else:
        found = generator.integers(0, 2 if spec.dtype.kind == "bool" else _INTEGERS, spec.shape)
    return to_reference(from_reference(np.asarray(found).astype(spec.dtype.numpy), spec.dtype))
