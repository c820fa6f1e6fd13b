"""Which array comes how: operands, the buffers that their blocks stand in, and the accesses that these serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kopt.explain.drawings import svg
from kopt.explain.drawings.amounts import size

_WIDTH, _HEIGHT, _GAP, _STEP, _TOP = 158.0, 38.0, 66.0, 52.0, 26.0
_HEADS = ("arrays", "buffers", "loads", "stores", "buffers", "arrays")
#: The most letters of a line in a box.
_LETTERS = 25


class _Node(NamedTuple):
    """What stands in a column: its name, two lines, what a pointer is told, and where it comes from."""

    name: str
    first: str
    second: str
    title: str
    origin: int | None = None


def dataflow(launch: Mapping[str, Any]) -> str:
    """The picture of one launch."""
    columns, edges = _columns(launch), _edges(launch)
    used = [number for number, nodes in enumerate(columns) if nodes]
    places: dict[tuple[int, str], tuple[float, float]] = {}
    tallest = max(len(columns[number]) for number in used)
    parts = []
    for slot, number in enumerate(used):
        x = slot * (_WIDTH + _GAP)
        parts.append(svg.text(x + _WIDTH / 2, 12, _HEADS[number], "quiet", "middle"))
        offset = (tallest - len(columns[number])) / 2
        for row, node in enumerate(columns[number]):
            y = _TOP + (row + offset) * _STEP
            places[number, node.name] = x, y
            parts.append(_box(x, y, node))
    lines = [_edge(places, *edge) for edge in edges]
    width = len(used) * (_WIDTH + _GAP) - _GAP
    label = f"arrays, buffers and accesses of {launch['name']}"
    return svg.picture(width, _TOP + tallest * _STEP, label, *lines, *parts)


def _columns(launch: Mapping[str, Any]) -> list[list[_Node]]:
    operands, buffers, accesses = launch["operands"], launch["buffers"], launch["accesses"]
    loads = [one for one in accesses if one["mode"] == "load"]
    stores = [one for one in accesses if one["mode"] != "load"]
    return [
        [_operand(one) for one in operands if any(access["operand"] == one["name"] for access in loads)],
        [_buffer(one) for one in buffers if any(access["buffer"] == one["name"] for access in loads)],
        [_access(one) for one in loads],
        [_access(one) for one in stores],
        [_buffer(one) for one in buffers if any(access["buffer"] == one["name"] for access in stores)],
        [_operand(one) for one in operands if any(access["operand"] == one["name"] for access in stores)],
    ]


def _edges(launch: Mapping[str, Any]) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    found: dict[tuple[tuple[int, str], tuple[int, str]], None] = {}
    for access in launch["accesses"]:
        id, buffer, operand = access["id"], access["buffer"], access["operand"]
        if access["mode"] == "load":
            steps = [(0, operand), (1, buffer), (2, id)]
        else:
            steps = [(3, id), (4, buffer), (5, operand)]
        found |= dict.fromkeys(zip(steps, steps[1:], strict=False))
    return list(found)


def _edge(places: Mapping[tuple[int, str], tuple[float, float]], start: tuple[int, str], end: tuple[int, str]) -> str:
    if start not in places or end not in places:
        return ""
    (x, y), (u, v) = places[start], places[end]
    return svg.curve((x + _WIDTH, y + _HEIGHT / 2), (u, v + _HEIGHT / 2), "edge")


def _box(x: float, y: float, node: _Node) -> str:
    return svg.group(
        svg.box(x, y, _WIDTH, _HEIGHT, "box", radius=5),
        svg.text(x + 8, y + 15, _short(node.first)),
        svg.text(x + 8, y + 30, _short(node.second), "quiet"),
        origin=node.origin,
        title=node.title,
    )


def _operand(one: Mapping[str, Any]) -> _Node:
    shape = f"{one['dtype']}[{', '.join(one['shape'])}]"
    return _Node(one["name"], f"%{one['name']}", shape, f"%{one['name']}: {shape}, {size(one['bytes'])}")


def _buffer(one: Mapping[str, Any]) -> _Node:
    depth = f" x{one['depth']}" if one["depth"] != 1 else ""
    return _Node(one["name"], f"@{one['name']} {one['kind']}{depth}", _block(one["block"]), one["text"])


def _block(shape: Sequence[int] | None) -> str:
    return "block of any size" if shape is None else f"blocks of {' x '.join(map(str, shape)) or '1'}"


def _access(one: Mapping[str, Any]) -> _Node:
    return _Node(one["id"], one["id"], one["mode"], f"{one['mode']} {one['id']}", one["origin"])


def _short(words: str) -> str:
    return words if len(words) <= _LETTERS else f"{words[: _LETTERS - 1]}…"
