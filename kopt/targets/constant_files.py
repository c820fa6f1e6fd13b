"""Files of constants of the cost model: kopt's own, and that of a user, which ``KOPT_CONSTANTS`` names.

    {"v5e": {"source": "a v5e-8 of ours", "fit": "2026-11-25, 40 kernels", "costs": {"hbm_share": 0.82},
             "errors": {"HBM": 0.04}}}

An entry is a chip's: where its constants are from, what they were fitted to (null where they were not), the constants
by the names of `kopt.targets.costs`, and mean errors on kernels that they were not fitted to, by what bounds them. A
user's entry need only have what it changes. Files are read once, and checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from kopt.errors import ConfigError

#: kopt's own files.
_FOLDER = Path(__file__).parent / "constants"
#: What names a user's file.
VARIABLE = "KOPT_CONSTANTS"
_KEYS = ("source", "fit", "costs", "errors")


@dataclass(frozen=True)
class ChipConstants:
    """The constants of a chip, and where they are from; ``file`` is the user's, if they are."""

    source: str
    fit: str | None = None
    costs: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)
    file: str | None = None

    def over(self, other: ChipConstants) -> ChipConstants:
        """This entry where it says something, else the other."""
        costs, errors = {**other.costs, **self.costs}, {**other.errors, **self.errors}
        return ChipConstants(self.source, self.fit, costs, errors, self.file)


def own(family: str) -> dict[str, ChipConstants]:
    """kopt's constants of a family of chips, ``tpu`` or ``gpu``."""
    return read_constants(_FOLDER / f"{family}.json")


@cache
def users() -> Mapping[str, ChipConstants]:
    """The entries of the user's file; none where there is no such file."""
    named = os.environ.get(VARIABLE)
    return read_constants(Path(named), users=True) if named else {}


def users_text() -> str:
    """The user's file as it was read: what is chosen by it depends on it."""
    return repr(sorted(users().items()))


def read_constants(path: Path, users: bool = False) -> dict[str, ChipConstants]:
    """The entries of a file by chip. Raises `ConfigError` that says what is wrong with it."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"no constants can be read from '{path}': {error}", notes=[_WHOSE] if users else []) from None
    if not isinstance(found, dict):
        raise ConfigError(f"'{path}' holds no constants: an object with an entry a chip, found {type(found).__name__}")
    return {chip: _entry(path, chip, entry, users) for chip, entry in found.items()}


_WHOSE = f"{VARIABLE} names it; kopt calibrate --write makes such files"


def _entry(path: Path, chip: str, entry: Any, users: bool) -> ChipConstants:
    if not isinstance(entry, dict) or not {*entry} <= {*_KEYS}:
        raise ConfigError(f"'{path}': the entry of '{chip}' has {', '.join(_KEYS)}, found {_found(entry)}")
    costs, errors = entry.get("costs", {}), entry.get("errors", {})
    for name, value in [*_flat(costs), *_flat(errors)]:
        if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value) or value < 0:
            raise ConfigError(f"'{path}': '{name}' of '{chip}' is a number that is not negative, found {value!r}")
    source = entry.get("source", path.name)
    return ChipConstants(str(source), entry.get("fit"), costs, errors, str(path) if users else None)


def _flat(values: Any) -> list[tuple[str, Any]]:
    if not isinstance(values, dict):
        return [("costs", values)]
    pairs = [(name, value) for name, value in values.items() if not isinstance(value, dict)]
    inner = [_flat(value) for value in values.values() if isinstance(value, dict)]
    return [*pairs, *(pair for some in inner for pair in some)]


def _found(entry: Any) -> str:
    return ", ".join(map(str, entry)) if isinstance(entry, dict) else type(entry).__name__
