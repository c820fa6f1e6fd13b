"""A kernel that failed: what was said of it, the same kernel smaller, and as a lit test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import kopt
from kopt.testing.runner import run_file
from test.property.exploring import Tally
from test.property.judge import module_of
from test.property.shrinking import shrunk

_FIRST = re.compile(r"(?P<target>[a-z]+(?::[a-z]+)?)(?:, (?P<relation>[\w ]+))?: ")
#: What says nothing of the kind of a failure.
_NUMBERS = re.compile(r"-?\b(?:\d[\d.e+-]*|nan|inf)\b|\S+:\d+:\d+: |'[^']*'")


@dataclass(frozen=True)
class Failure:
    """What a run said, problems and then the text, and what can be read from it."""

    said: str
    text: str
    target: str
    relation: str

    @classmethod
    def of(cls, said: str) -> Failure:
        """The text is the last module in what was said."""
        first = _FIRST.match(said)
        text = said[said.rfind("\nimport sys\n") + 1 :].rstrip("\n") + "\n"
        return cls(said, text, first["target"] if first else "", first["relation"] or "" if first else "")

    def shrunk(self, folder: Path) -> Failure:
        """The same failure of less: of the same target and relation, with the same words."""
        if not self.target:
            return self
        kind, latest = _kind(self.said), self.said

        def fails(text: str) -> bool:
            nonlocal latest
            said = _problems(text, self.target, self.relation, folder)
            if said is None or _kind(said) != kind:
                return False
            latest = f"{said}\n\n{text}"
            return True

        text = shrunk(self.text, fails)
        return Failure(latest, text, self.target, self.relation)

    def as_lit_test(self, folder: Path) -> str | None:
        """IR that fails by itself beside the reference; None where the failure is not one of the lowering."""
        if not self.target or self.target == "reference" or self.relation:
            return None
        try:
            module = module_of(self.text, folder)
            ir = kopt.kernel(module.kernel).lower(*module.inputs(), target="reference").ir
        except Exception:
            return None
        path = folder / "failure.mlir"
        path.write_text(f"// RUN: kopt run %s --target {self.target} --check\n\n{ir}\n")
        return path.read_text() if run_file(path, folder).failed else None


def _kind(said: str) -> str:
    return _NUMBERS.sub("…", said.partition("\n")[0])


def _problems(text: str, target: str, relation: str, folder: Path) -> str | None:
    """What is wrong with a kernel, if anything: a text that is no kernel any more is no failure."""
    tally = Tally((target,), related={target: 1}, relation=relation)
    try:
        found = tally.changed(text, folder) if relation else tally.count(module_of(text, folder))
    except Exception:
        return None
    return "\n".join(found) if found else None
