"""The stages of a compile: IR after each pass with its origins, what the pass said, what values are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from inspect import cleandoc
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.diagnostics import Diagnostic
from kopt.errors import KoptError
from kopt.explain.places import SourcePlaces
from kopt.explain.printed import Printed, printed, shape
from kopt.pass_manager import Instrumentation
from kopt.pipeline_text import pipeline_text

#: The first stage, and the pass after which masks stand in the IR.
IMPORT, MASKED = "import", "insert-masks"

#: What runs a module: the values of its operations, or why there are none.
Watch = Callable[[ModuleOp, bool], tuple[Mapping[Operation, str], str | None]]


class Recorder(Instrumentation):
    """Records each stage as data. ``said`` is what passes have said so far; ``watch`` runs modules for their values.

    ``texts`` are all lines of IR, each once: stages name them by numbers.
    """

    def __init__(self, places: SourcePlaces, said: Sequence[Diagnostic], watch: Watch | None):
        self.stages: list[dict[str, Any]] = []
        self._places, self._said, self._watch = places, said, watch
        self._texts: dict[str, int] = {}
        self._before: Sequence[int] = ()
        self._shape: Sequence[Any] = ()
        self._heard = 0
        self._masked = False

    @property
    def texts(self) -> list[str]:
        """The lines that stages name."""
        return list(self._texts)

    def imported(self, module: ModuleOp) -> None:
        """The stage before the first pass."""
        self._add({"name": IMPORT, "options": "", "what": "The kernel as it was imported."}, module, "import")

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._masked |= pass_.name == MASKED
        self._add(_about(pass_), module, "changed")

    def failed(self, pass_: ModulePass, module: ModuleOp) -> None:
        """What a pass left behind that refused."""
        try:
            self._add(_about(pass_), module, "refused")
        except Exception:  # what it left may be invalid, and then has no text
            self.stages.append({**_about(pass_), "status": "refused", **_NOTHING, "remarks": self._remarks()})

    def refused(self, error: KoptError) -> None:
        """Notes why the last stage refused."""
        notes = "".join(f"\nnote: {note}" for note in error.notes)
        place = self._places.of_location(error.location)
        self.stages[-1]["remarks"].append({"severity": "error", "message": f"{error.message}{notes}", "place": place})

    def _add(self, about: dict[str, Any], module: ModuleOp, status: str) -> None:
        stage = {**about, "status": "refused" if status == "refused" else "unchanged", **_NOTHING}
        stage["remarks"] = self._remarks()
        self.stages.append(stage)
        before, self._shape = self._shape, shape(module)
        if self._shape == before:
            return
        text = printed(module)
        lines = [self._texts.setdefault(line, len(self._texts)) for line in text.lines]
        if lines == self._before:
            return
        stage["status"] = status
        diff = [] if status == "import" else hunks(self._before, lines)
        stage |= {
            "lines": lines,
            "origins": [self._places.origin(ops) for ops in text.ops],
            "diff": diff,
            "removed": sum(end - start for start, end, _, _ in diff),
            "added": sum(end - start for _, _, start, end in diff),
        }
        stage["values"], stage["no_values"] = self._values(module, text)
        self._before = lines

    def _values(self, module: ModuleOp, text: Printed) -> tuple[dict[str, str], str | None]:
        """What the operations of each line give; lines are counted from 0."""
        if self._watch is None:
            return {}, None
        found, reason = self._watch(module, self._masked)
        return {str(text.starts[op]): said for op, said in found.items() if op in text.starts}, reason

    def _remarks(self) -> list[dict[str, Any]]:
        """What was said since the last stage."""
        new, self._heard = self._said[self._heard :], len(self._said)
        return [
            {"severity": one.severity, "message": one.message, "place": self._places.of_location(one.location)}
            for one in new
        ]


#: A stage that changed nothing.
_NOTHING: Mapping[str, Any] = {
    "lines": None,
    "origins": None,
    "diff": None,
    "removed": 0,
    "added": 0,
    "values": {},
    "no_values": None,
    "verdict": None,
}


def _about(pass_: ModulePass) -> dict[str, Any]:
    text = pipeline_text([pass_]).removeprefix("builtin.module(").removesuffix(")")
    options = text.removeprefix(pass_.name).strip("{}")
    return {"name": pass_.name, "options": options, "what": cleandoc(type(pass_).__doc__ or "").split("\n\n")[0]}


def hunks(before: Sequence[Any], after: Sequence[Any]) -> list[list[int]]:
    """The lines that changed: from where to where, before and after."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [[a, b, c, d] for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
