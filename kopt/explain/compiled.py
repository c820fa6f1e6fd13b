"""What a chip's compiler made of the emitted module, line by line: bundles of a TPU, SASS or GCN of a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kopt.runtime.emitted import file_name
from kopt.runtime.machine_code import machine_code
from kopt.specs import TensorSpec
from kopt.targets.target import Target

#: What is kept of a listing: lines, and letters of each.
_LINES, _LETTERS = 8000, 300
_KINDS = {"pallas": "bundles of libtpu", "cuda": "SASS", "hip": "GCN"}
#: Where the next instructions come from, as nvdisasm says it.
_PLACE = re.compile(r'\s*//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
#: What says nothing of a program.
_NOISE = re.compile(r"\s*(\.(section|align|global|type|size|other|target|elftype|sectionflags|headerflags)\b.*|//-.*)?")

#: A line, and the emitted line that it comes from.
_Line = tuple[str, int | None]


def compiled(source: str, entry: str, specs: Sequence[TensorSpec], target: Target) -> dict[str, Any]:
    """The listings of all kernels, one below the other. Raises `CompileError` where there are none."""
    texts = machine_code(source, entry, specs, target)
    lines = [line for name, text in texts.items() for line in _listing(name, text, file_name(source, entry))]
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], (f"… {len(lines) - _LINES:,} more lines", None)]
    return {
        "kind": _KINDS[getattr(target.compile_target.chip, "backend", "pallas")],
        "lines": [text[:_LETTERS] for text, _ in lines],
        "emitted": [line for _, line in lines],
    }


def _listing(name: str, text: str, file: str) -> Iterator[_Line]:
    yield f"// {name}", None
    yield from _placed(text.splitlines(), file)


def _placed(lines: Sequence[str], file: str) -> Iterator[_Line]:
    """The lines of a listing; those that say only where the next ones come from are taken out.

    Of calls that were inlined each has such a line, the outermost last: that of the kernel itself.
    """
    place = None
    for line in lines:
        if (match := _PLACE.match(line)) is None:
            if not _NOISE.fullmatch(line):
                yield line.rstrip(), place
        elif match["file"] == file:
            place = int(match["line"])
