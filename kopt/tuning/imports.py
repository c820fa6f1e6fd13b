"""Configurations to start from: those of a mapping, of a file of kopt's, and of files that Helion wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kopt.errors import ConfigError
from kopt.helion_configs import helion_config
from kopt.tuning.files import TUNED, read
from kopt.tuning.places import PlacedJson

_LINES = ("accesses", "loops")


def configs_of(start: Mapping[str, Any] | str | Path, fn: Callable[..., Any], chip: str) -> list[dict[str, Any]]:
    """The configurations that a start is: those for the chip, of a file ``NAME.kopt.json``.

    Raises `ConfigError` at the line that is wrong.
    """
    if isinstance(start, Mapping):
        return [_ours(dict(start), fn)]
    path = Path(start)
    placed = PlacedJson(path)
    content = placed.content
    if "entries" in content:
        return [dict(entry.config) for entry in read(path).entries if entry.chip == chip]
    config, at = _helions(placed)
    try:
        return [_ours(config, fn)]
    except ConfigError as error:
        named = next((key for key in config if f"'{key}'" in error.message), "")
        placed.fail(error.message, at, named)


def _helions(placed: PlacedJson) -> tuple[dict[str, Any], Any]:
    """The mapping that a file of Helion's has: a configuration alone, or the one that its autotuner has kept."""
    content = placed.content
    if "key" not in content or "config" not in content:
        return dict(content), content
    inner = content["config"]
    if isinstance(inner, str):
        import json

        try:
            inner = json.loads(inner)
        except ValueError as error:
            placed.fail(f"the configuration that Helion has kept is no JSON: {error}", content, "config")
    if not isinstance(inner, dict):
        placed.fail("'config' is the configuration that Helion has kept", content, "config")
    return dict(inner), content


def _ours(given: dict[str, Any], fn: Callable[..., Any]) -> dict[str, Any]:
    """A configuration in kopt's words; of Helion's keys, those that have a meaning here."""
    found = helion_config(fn, given)
    kept = {key: value for key in TUNED if (value := getattr(found, key)) not in (None, (), "auto")}
    kept = {
        key: dict(value) if key in _LINES else [*value] if isinstance(value, tuple) else value
        for key, value in kept.items()
    }
    return {**kept, **found.tunables}
