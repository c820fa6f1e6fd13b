"""What translation validation says of each pass, where `Lowered.verify` is there to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kopt.errors import ConfigError, KoptError


def verdicts_of(lowered: Any) -> Sequence[dict[str, Any] | None]:
    """A verdict a pass, in order: its ``status`` (``validated``, ``same``, ``not run``, ``wrong``) and a ``text``.

    Raises `ConfigError` where this kopt validates nothing.
    """
    if not hasattr(lowered, "verify"):
        raise ConfigError("this kopt has no validation of passes")
    try:
        found = lowered.verify()
    except KoptError as error:
        return _until(lowered, error)
    return [_verdict(one.state, one.meaning, one.reason) for one in found.verdicts]


def _verdict(state: str, meaning: str, reason: str) -> dict[str, Any]:
    because = f": {reason}" if reason else ""
    return {"status": state, "text": f"{state} ({meaning}){because}"}


def _until(lowered: Any, error: KoptError) -> list[dict[str, Any] | None]:
    """What is known where a pass was found wrong: that it is, or one of its name is, and nothing of the others."""
    notes = "".join(f"\nnote: {note}" for note in error.notes)
    names, wrong = [name for name, _ in lowered.stages()[1:]], getattr(error, "pass_name", None)
    which = "" if names.count(wrong) == 1 else "one of the passes of this name: "
    verdict = {"status": "wrong", "text": f"{which}{error.message}{notes}"}
    return [verdict if name == wrong else None for name in names]
