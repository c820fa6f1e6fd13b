"""What a fuzzing process counts and finds, as a file that the next process, and the summary, go on from."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What is no sum over processes.
_LARGEST = ("call sites", "peak MB")


@dataclass
class Record:
    """Counts by their names, and failures by what they are: the shortest text of each."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def fail(self, what: str, text: str) -> None:
        """Counts a failure and keeps its text where it is the shortest yet."""
        self.counts["failures"] += 1
        known = self.failures.get(what)
        if known is None or len(text) < len(known):
            self.failures[what] = text

    def add(self, other: Record) -> None:
        """Takes over what another process counted and found."""
        failed = self.counts["failures"] + other.counts["failures"]
        largest = {name: max(self.counts[name], other.counts[name]) for name in _LARGEST}
        self.counts.update(other.counts)
        self.counts.update({name: n - self.counts[name] for name, n in largest.items()})
        for what, text in other.failures.items():
            self.fail(what, text)
        self.counts["failures"] = failed

    def table(self, prefix: str) -> dict[str, int]:
        """The counts whose names begin so, by the rest of the name, the largest first."""
        found = {name.removeprefix(prefix): n for name, n in self.counts.items() if name.startswith(prefix)}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def save(self, path: Path) -> None:
        """Writes the file in one step: a process may end at any time."""
        text = json.dumps({"counts": self.counts, "failures": self.failures}, indent=1, sort_keys=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(text)
        os.replace(fresh, path)

    @classmethod
    def load(cls, path: Path) -> Record:
        """What a process has written so far; nothing where it wrote nothing."""
        if not path.exists():
            return cls()
        stored: dict[str, Any] = json.loads(path.read_text())
        return cls(Counter(stored["counts"]), stored["failures"])
