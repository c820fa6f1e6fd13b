"""What the programs of a launch ask memory for, read from Triton's IR. A pure function of text."""

from __future__ import annotations

import math
import re

from support.trips import Lines

_ACCESS = re.compile(
    r"\btt\.(?P<what>load|store|descriptor_load|descriptor_store) (?P<operands>[^:{]*)(?:\{[^}]*\} )?: (?P<types>.*)"
)
_TENSOR = re.compile(r"tensor<((?:\d+x)+)(?:!tt\.ptr<)?([a-z]+)(\d+)")
_SCALAR = re.compile(r"!tt\.ptr<([a-z]+)(\d+)")
#: Accesses whose bytes are not read here.
_OPEN = re.compile(r"\btt\.(?:atomic\w*|gather|descriptor_(?:gather|scatter|reduce))")


def bytes_asked_for(lines: Lines | None, programs: int) -> int | None:
    """Of global memory, by all programs; None where a mask, a condition or bounds are unknown."""
    if lines is None:
        return None
    total = 0.0
    for line, times, share in lines:
        if _OPEN.search(line):
            return None
        if found := _ACCESS.search(line):
            asked = _asked_for(found)
            if asked is None or share is None:
                return None
            total += asked * times * share
    return round(total * programs)


def tensor_bytes_loaded(line: str) -> int:
    """By a line of the IR, of all lanes, masked ones too; 0 where it loads no tensor by pointers."""
    found = _ACCESS.search(line)
    tensor = _TENSOR.search(found["types"]) if found and found["what"] == "load" else None
    return _bytes(tensor) if tensor else 0


def _asked_for(access: re.Match[str]) -> int | None:
    """Bytes of one access, of all its lanes; None where its type is not read."""
    if tensor := _TENSOR.search(access["types"]):
        return _bytes(tensor)
    scalar = _SCALAR.search(access["types"])
    return int(scalar[2]) // 8 if scalar else None


def _bytes(tensor: re.Match[str]) -> int:
    return math.prod(map(int, tensor[1].strip("x").split("x"))) * int(tensor[3]) // 8
