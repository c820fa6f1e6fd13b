"""What the programs of a launch ask memory for, read from Triton's IR. A pure function of text."""

from __future__ import annotations

import math
import re

_CONSTANT = re.compile(r"^\s*(%\S+) = arith\.constant (-?\d+) : i(?:32|64)\b")
_LOOP = re.compile(
    r"= scf\.for \S+ = (%\S+) to (%\S+) step (%[^\s:]+)|^\s*scf\.for \S+ = (%\S+) to (%\S+) step (%[^\s:]+)"
)
#: Of a loop; reductions end with a parenthesis.
_END = re.compile(r"^\s*\}(?!\))")
_ACCESS = re.compile(
    r"\btt\.(?P<what>load|store|descriptor_load|descriptor_store) (?P<operands>[^:{]*)(?:\{[^}]*\} )?: (?P<types>.*)"
)
_TENSOR = re.compile(r"tensor<((?:\d+x)+)(?:!tt\.ptr<)?([a-z]+)(\d+)")
_SCALAR = re.compile(r"!tt\.ptr<([a-z]+)(\d+)")
#: How many operands an access has without a mask.
_OPERANDS = {"load": 1, "store": 2}
#: What leaves open how often something inside is done, or is an access whose bytes are not read here.
_OPEN = re.compile(r"\b(?:scf\.(?:if|while)|cf\.|tt\.(?:call|atomic\w*|gather|descriptor_(?:gather|scatter|reduce)))")


def bytes_asked_for(ttir: str, programs: int) -> int | None:
    """Of global memory, by all programs; None where masks, conditions or computed bounds leave it open."""
    constants: dict[str, int] = {}
    trips: list[int] = []
    total = 0
    for line in ttir.splitlines():
        if found := _CONSTANT.match(line):
            constants[found[1]] = int(found[2])
        elif _OPEN.search(line):
            return None
        elif found := _LOOP.search(line):
            bounds = [constants.get(name) for name in found.groups() if name]
            if None in bounds:
                return None
            first, end, step = bounds
            trips.append(max(-(-(end - first) // step), 0))
        elif found := _ACCESS.search(line):
            asked = _asked_for(found)
            if asked is None:
                return None
            total += asked * math.prod(trips)
        elif trips and _END.match(line):
            trips.pop()
    return total * programs


def _asked_for(access: re.Match[str]) -> int | None:
    """Bytes of one access; None where a mask may leave some out."""
    operands = access["operands"].count("%")
    if operands > _OPERANDS.get(access["what"], operands):
        return None
    if tensor := _TENSOR.search(access["types"]):
        return math.prod(map(int, tensor[1].strip("x").split("x"))) * int(tensor[3]) // 8
    scalar = _SCALAR.search(access["types"])
    return int(scalar[2]) // 8 if scalar else None
