"""What became of mutants, a line of JSON each, so that a run that was stopped can go on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from operators import Mutant, mutants


@dataclass
class Outcome:
    """What became of a mutant, by which test, or of how many."""

    word: str
    test: str = ""
    tests: int = 0


@dataclass
class Log:
    """A file that several processes add to."""

    path: Path

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """One line, at once."""
        with self.path.open("a") as file:
            file.write(json.dumps({"mutant": asdict(mutant), **asdict(outcome)}) + "\n")

    def read(self) -> list[tuple[Mutant, Outcome]]:
        """All that was added."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        records = [json.loads(line) for line in lines]
        return [(Mutant(**each.pop("mutant")), Outcome(**each)) for each in records]


def again(path: Path, root: Path) -> list[Mutant]:
    """The mutants that survived, in the files as they are today: of the same function and texts, and near that line."""
    found = []
    for old, outcome in Log(path).read():
        if outcome.word != "survived" or not (root / old.file).exists():
            continue
        same = [
            each
            for each in mutants(old.file, (root / old.file).read_text())
            if (each.function, each.old, each.new) == (old.function, old.old, old.new)
        ]
        found += sorted(same, key=lambda each: abs(each.line - old.line))[:1]
    return found
