"""The files in which configurations are kept: ``softmax.kopt.json``, to be checked in beside the kernel.

    {"format": 1, "kernel": "softmax", "entries": [
        {"chip": "v6e", "specs": ["x: f32[4096,2560]"], "config": {"block_sizes": [256]},
         "predicted_ms": 0.061, "measured_ms": null, "source": "3f1c…", "versions": {"kopt": "0.1.0"}}]}

An entry is one chip and one set of arguments. ``source`` is the hash of the kernel's text: what was tuned for another
text is stale. A file is written beside its place and moved there, under a lock of its folder: no reader sees a part of
it, and of two tunings at once each keeps the other's entries. Where writing fails, what was there stays.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kopt.config import CHOICES, MOST, make_config
from kopt.errors import ConfigError, Location
from kopt.tuning.places import PlacedJson, PlacedObject

if TYPE_CHECKING:
    from kopt.tuning.results import Tuned

FORMAT = 1
SUFFIX = ".kopt.json"
#: The keys of a configuration that a tuner decides. Others change what a call means or checks, and are the user's.
TUNED = (
    "block_sizes",
    "loop_type",
    "split_k",
    "programs",
    "num_warps",
    "num_stages",
    "persistent",
    "sm_programs",
    "group",
    "max_registers",
    "load_eviction_policies",
    "accesses",
    "loops",
    "order",
)
_OTHERS = {"output_only", "deterministic", "checks", "dot_precision"} | ({*CHOICES, *MOST} - {*TUNED})
#: How long a file is waited for that another process writes.
_LOCK_SECONDS = 10.0
_PACKAGES = {"kopt": "kopt-compiler", "jax": "jax", "libtpu": "libtpu", "triton": "triton", "torch": "torch"}


@dataclass(frozen=True)
class KeptEntry:
    """One entry of a file, and where it stands."""

    chip: str
    specs: tuple[str, ...]
    config: Mapping[str, Any]
    source: str
    predicted_ms: float | None
    measured_ms: float | None
    versions: Mapping[str, str]
    location: Location

    @property
    def json(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "chip": self.chip,
            "specs": [*self.specs],
            "config": dict(self.config),
            "predicted_ms": self.predicted_ms,
            "measured_ms": self.measured_ms,
            "source": self.source,
            "versions": dict(self.versions),
        }


@dataclass(frozen=True)
class ConfigFile:
    """What a file holds."""

    path: Path
    kernel: str
    entries: tuple[KeptEntry, ...]


def read(path: Path) -> ConfigFile:
    """What a file holds. Raises `ConfigError` at the line that is wrong."""
    placed = PlacedJson(path)
    content = placed.content
    if content.get("format") != FORMAT:
        placed.fail(
            f"'format' is {content.get('format')!r:.60}, and this kopt reads format {FORMAT}", content, "format"
        )
    kernel, entries = content.get("kernel"), content.get("entries")
    if not isinstance(kernel, str):
        placed.fail("'kernel' is the name of a kernel", content, "kernel")
    if not isinstance(entries, list):
        placed.fail("'entries' is a list of configurations", content, "entries")
    return ConfigFile(path, kernel, tuple(_entry(placed, item) for item in entries))


def _entry(placed: PlacedJson, item: Any) -> KeptEntry:
    if not isinstance(item, PlacedObject):
        placed.fail(f"an entry is an object, found {item!r:.60}", placed.content, "entries")
    for key in ("chip", "source"):
        if not isinstance(item.get(key), str):
            placed.fail(f"'{key}' of an entry is text, found {item.get(key)!r:.60}", item, key)
    specs, versions = item.get("specs"), item.get("versions", {})
    if not isinstance(specs, list) or not all(isinstance(spec, str) for spec in specs):
        placed.fail("'specs' of an entry is a list of arguments, as \"x: f32[4096,2560]\"", item, "specs")
    if not isinstance(versions, dict) or not all(isinstance(one, str) for one in versions.values()):
        placed.fail("'versions' of an entry has the versions of packages", item, "versions")
    times = {key: _ms(placed, item, key) for key in ("predicted_ms", "measured_ms")}
    config = _config(placed, item)
    return KeptEntry(
        item["chip"], tuple(specs), config, item["source"], **times, versions=versions, location=placed.place(item)
    )


def _ms(placed: PlacedJson, item: PlacedObject, key: str) -> float | None:
    value = item.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0):
        placed.fail(f"'{key}' of an entry is a time in milliseconds, found {value!r:.60}", item, key)
    return value


def _config(placed: PlacedJson, item: PlacedObject) -> dict[str, Any]:
    """The configuration of an entry: what a tuner decides, and nothing that changes what a call means."""
    config = item.get("config")
    if not isinstance(config, PlacedObject):
        placed.fail("'config' of an entry is an object", item, "config")
    for key in config:
        if key in _OTHERS:
            placed.fail(
                f"config key '{key}' is not for a tuner to decide: give it where the kernel is made", config, key
            )
    try:
        make_config(config)
    except ConfigError as error:
        named = next((key for key in config if f"'{key}'" in error.message), "")
        placed.fail(error.message, config, named)
    for key, value in config.items():
        if key not in TUNED and not isinstance(value, bool | int | float | str | None):
            placed.fail(f"the tunable '{key}' is a number or text, found {value!r:.60}", config, key)
    return dict(config)


# writing


def save(results: Sequence[Tuned], path: str | Path | None = None) -> Path:
    """Keeps the best of results in a file, in place of entries of the same chip and arguments, beside all others.

    The path is by default that of ``NAME.kopt.json`` beside the kernel's file. Raises `ConfigError` where that cannot
    be written, or what is there is no such file.
    """
    first = results[0]
    named = path if path is not None else first.file and Path(first.file).with_name(f"{first.kernel}{SUFFIX}")
    if not named:
        raise ConfigError(f"'{first.kernel}' is in no file beside which its configurations could be kept: name one")
    target = Path(named)
    try:
        entries = [_kept(result, target) for result in results if result.best is not None]
        with _locked(target.resolve().parent):
            old = read(target) if target.exists() else ConfigFile(target, first.kernel, ())
            if old.kernel != first.kernel:
                raise ConfigError(f"'{target}' has the configurations of '{old.kernel}', not of '{first.kernel}'")
            _write(target.resolve(), _merged(old, entries))
    except OSError as error:
        raise ConfigError(f"cannot write '{target}': {error.strerror or error}", id="file") from error
    return target


def _kept(result: Tuned, path: Path) -> KeptEntry:
    best = result.best
    assert best is not None
    place = Location(str(path), 1)
    return KeptEntry(
        result.chip,
        result.specs,
        best.config,
        result.source,
        _rounded(best.predicted_ms),
        _rounded(best.measured_ms),
        versions(),
        place,
    )


def _rounded(ms: float | None) -> float | None:
    """Four digits: no model and no clock tells more."""
    return None if ms is None else float(f"{ms:.4g}")


def versions() -> dict[str, str]:
    """The versions of the packages that a configuration goes by, where they are installed."""
    found = {}
    for name, package in _PACKAGES.items():
        with suppress(PackageNotFoundError):
            found[name] = version(package)
    return found


def _merged(old: ConfigFile, entries: Sequence[KeptEntry]) -> str:
    """The text of a file: entries in the order of chips and arguments, one a line, so that changes read well."""
    by_key = {(one.chip, one.specs): one for one in (*old.entries, *entries)}
    lines = [json.dumps(by_key[key].json, allow_nan=False) for key in sorted(by_key)]
    body = ",\n  ".join(lines)
    return f'{{"format": {FORMAT}, "kernel": {json.dumps(old.kernel)}, "entries": [\n  {body}\n]}}\n'


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """While it lasts, no other process keeps configurations in a folder."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        end = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise ConfigError(
                        f"another process has been writing in '{folder}' for {_LOCK_SECONDS:g} s"
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)  # which unlocks it


def _write(path: Path, text: str) -> None:
    """The file appears whole or stays as it was. Raises `OSError`."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
