"""How often a program comes by each line of Triton's IR, where the bounds of its loops can be computed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

#: A number, or one for each program.
Number = Any
_CONSTANT = re.compile(r"^\s*(%\S+) = arith\.constant (-?\d+) : i(?:32|64)\b")
_COMPUTED = re.compile(r"^\s*(%\S+) = arith\.(\w+) (%[^\s,]+)(?:, (%[^\s,]+))? : i(?:32|64)\b")
_PROGRAM = re.compile(r"^\s*(%\S+) = tt\.get_program_id ([xyz])\b")
_LOOP = re.compile(r"(?:= |^\s*)scf\.for \S+ = (%\S+) to (%\S+) step (%[^\s:]+)")
#: Of a loop; reductions end with a parenthesis.
_END = re.compile(r"^\s*\}(?!\))")
#: What leaves open how often something inside is done.
_OPEN = re.compile(r"\b(?:scf\.(?:if|while)|cf\.|tt\.call)")
_OPERATIONS: Mapping[str, Callable[..., Number]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "divsi": np.floor_divide,
    "remsi": np.remainder,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "extsi": np.asarray,
    "trunci": np.asarray,
}
#: Lines of Triton's IR with the times that a program comes by, on average.
Lines = Sequence[tuple[str, float]]


def lines_with_trips(ttir: str, grid: Sequence[int], numbers: Mapping[str, int] | None = None) -> Lines | None:
    """The lines that are no loop's head, with the times that a program comes by on average; None where that is open.

    ``numbers`` are those of the arguments by their names. Numbers that are negative are not divided as Triton does.
    """
    values: dict[str, Number] = {f"%{name}": value for name, value in (numbers or {}).items()}
    trips: list[Number] = []
    found: list[tuple[str, float]] = []
    for line in ttir.splitlines():
        if _OPEN.search(line):
            return None
        if loop := _LOOP.search(line):
            if any(name not in values for name in loop.groups()):
                return None
            first, end, step = (values[name] for name in loop.groups())
            trips.append(np.maximum(-((first - end) // step), 0))
        elif trips and _END.match(line):
            trips.pop()
        else:
            values.update(_value(line, values, grid))
            found.append((line, float(np.mean(math.prod(trips)))))
    return found


def _value(line: str, values: Mapping[str, Number], grid: Sequence[int]) -> dict[str, Number]:
    """The number that a line computes by its name, where it can be told."""
    if constant := _CONSTANT.match(line):
        return {constant[1]: int(constant[2])}
    if program := _PROGRAM.match(line):
        at = np.unravel_index(np.arange(math.prod(grid)), tuple(reversed(grid)))[::-1]
        place = "xyz".index(program[2])
        return {program[1]: at[place] if place < len(grid) else 0}
    computed = _COMPUTED.match(line)
    if computed is None or computed[2] not in _OPERATIONS:
        return {}
    operands = [values.get(name) for name in computed.groups()[2:] if name]
    return {} if any(value is None for value in operands) else {computed[1]: _OPERATIONS[computed[2]](*operands)}
