"""Places in sources that lines of all texts come from: numbered, so that a line names few numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation

from kopt.errors import Location
from kopt.source_lines import source_lines


class SourcePlaces:
    """Numbers of places (file, line, column), and of sets of these: the origins of a line."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, int, int], int] = {}
        self._origins: dict[tuple[int, ...], int] = {(): 0}

    def of_location(self, location: Location | None) -> int | None:
        """The number of a diagnostic's place."""
        return None if location is None else self._number(location.file, location.line, location.col)

    def origin(self, ops: Iterable[Operation]) -> int:
        """The number of the set of places that some operations come from."""
        found = {place for op in ops for place in _located(op)}
        return self._origins.setdefault(tuple(sorted(self._number(*place) for place in found)), len(self._origins))

    def _number(self, file: str, line: int, col: int) -> int:
        return self._places.setdefault((file, line, col), len(self._places))

    def data(self) -> dict[str, Any]:
        """The sources, the places in them, and the origins."""
        files = list(dict.fromkeys(file for file, _, _ in self._places))
        names = _short_names(files)
        lines = {file: {line for name, line, _ in self._places if name == file} for file in files}
        return {
            "sources": [{"file": names[file], "parts": _parts(file, lines[file])} for file in files],
            "places": [[files.index(file), line, col] for file, line, col in self._places],
            "origins": [list(origin) for origin in self._origins],
        }


def _located(op: Operation) -> Iterator[tuple[str, int, int]]:
    """The places of an operation, or of the closest located one around it."""
    around: Operation | None = op
    while around is not None:
        if found := list(_of_attribute(around.location)):
            yield from found
            return
        around = around.parent_op()


def _of_attribute(location: Attribute) -> Iterator[tuple[str, int, int]]:
    match location:
        case FileLineColLoc():
            yield location.filename.data, location.line.data, max(1, location.column.data)
        case CallSiteLoc():
            yield from _of_attribute(location.callee)
            yield from _of_attribute(location.caller)
        case NameLoc():
            yield from _of_attribute(location.location)
        case FusedLoc():
            for one in location.locations:  # pyright: ignore
                yield from _of_attribute(one)
        case _:
            pass


def _short_names(files: list[str]) -> dict[str, str]:
    """What files are called: their names, with the folder where two have the same. Paths are nobody's business."""
    names = {file: PurePath(file).name for file in files}
    twice = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {file: "/".join(PurePath(file).parts[-2:]) if name in twice else name for file, name in names.items()}


def _parts(file: str, used: set[int]) -> list[dict[str, Any]]:
    """The parts of a source that are shown: ``start`` is the number of the first line."""
    lines = source_lines(file)
    spans = _functions(file, lines, used) if lines else []
    return [{"start": start, "lines": lines[start - 1 : end]} for start, end in spans]


def _functions(file: str, lines: list[str], used: set[int]) -> list[tuple[int, int]]:
    """The first and last lines of the outermost functions that have one of some lines; of other texts all lines."""
    try:
        body = ast.parse("\n".join(lines)).body if file.endswith(".py") else []
    except SyntaxError:
        body = []
    spans = [(_first_line(node), node.end_lineno or node.lineno) for node in body]
    kept = [span for span in spans if any(span[0] <= line <= span[1] for line in used)]
    return kept or [(1, len(lines))]


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min((node.lineno, *(decorator.lineno for decorator in decorators)))
