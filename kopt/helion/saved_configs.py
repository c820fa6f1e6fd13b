"""Configurations that Helion's autotuner has found and saved: its files ``*.best_config``.

Helion finds one by a hash of the hardware, versions and much else. Here one serves where the kernel's source and the
arguments' types and shapes are the same: what ran best on one device is a better guess for another than none.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

#: More files than this are not looked at: the newest are.
_MOST_FILES = 10_000


@dataclass(frozen=True)
class SavedConfig:
    """A file of Helion's: what was found, ``hardware`` where, and ``arguments`` for which, as Helion spells both."""

    path: Path
    config: Any
    hardware: str
    arguments: str


def saved_config(kernel: Any, args: Sequence[Any]) -> SavedConfig | None:
    """The newest that Helion has saved for a kernel of its and arguments like these; None where there is none."""
    found = _of(kernel)
    wanted = _spelled(kernel, args) if found else None
    return next((saved for saved in found if wanted is not None and saved.arguments.startswith(wanted)), None)


def has_saved_configs(kernel: Any) -> bool:
    """Whether Helion has saved one for a kernel of its, whatever the arguments."""
    return bool(_of(kernel))


def _of(kernel: Any) -> Sequence[SavedConfig]:
    from helion.autotuner.base_cache import should_skip_cache
    from helion.autotuner.local_cache import get_helion_cache_dir

    return () if should_skip_cache() else _by_source(get_helion_cache_dir()).get(_source_hash(kernel.fn), ())


def _spelled(kernel: Any, args: Sequence[Any]) -> str | None:
    """How Helion's files begin to spell arguments: theirs before the device; None where it cannot tell them apart."""
    try:
        every = kernel._base_specialization_key(tuple(args), is_distributed=False)
    except (TypeError, AttributeError):
        return None
    return f"({', '.join(map(repr, every[: len(args)]))}, "


@lru_cache(maxsize=1024)
def _source_hash(fn: Callable[..., Any]) -> str | None:
    """The hash by which Helion knows a function's source."""
    try:
        return hashlib.sha256(textwrap.dedent(inspect.getsource(fn)).encode("utf-8")).hexdigest()
    except (OSError, TypeError):
        return None


@lru_cache(maxsize=8)
def _by_source(folder: Path) -> dict[str | None, list[SavedConfig]]:
    """What a folder of Helion's has, the newest first, by the hash of the kernel's source."""
    found: dict[str | None, list[SavedConfig]] = {}
    paths = sorted(folder.glob("*.best_config"), key=_modified, reverse=True)
    for path in paths[:_MOST_FILES]:
        read = _read(path)
        if read is not None:
            source, saved = read
            found.setdefault(source, []).append(saved)
    return found


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _read(path: Path) -> tuple[str, SavedConfig] | None:
    """One file, with the hash of its kernel's source; None for what is no such file."""
    from helion import Config

    try:
        data = json.loads(path.read_text())
        fields = data["key"]["fields"]
        config = Config.from_json(data["config"])
        return fields["kernel_source_hash"], SavedConfig(
            path, config, str(fields.get("hardware", "")), str(fields["specialization_key"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
