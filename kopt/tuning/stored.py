"""The configuration that was kept for a call: ``NAME.kopt.json`` beside the kernel's file, or in ``KOPT_CONFIGS``.

``KOPT_CONFIGS`` are files and folders, which come before the kernel's own folder; where it is empty, nothing is looked
for. Of the entries for the chip and for the kernel's text as it is, that of the same arguments is taken. Else it is the
nearest: with the same parameters, dtypes and ranks, no extent more than four times another, and the least sum of
``|log2|`` of what extents differ by; the first of equals. What was tuned for another text is stale: a remark says so.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import stat
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from kopt.config import Config, make_config
from kopt.errors import ConfigError, KoptError
from kopt.runtime.guards import MISS
from kopt.runtime.open_arrays import as_called
from kopt.runtime.run_time_scalars import RunTimeScalar
from kopt.specs import TensorSpec, framework_of, parse_spec, spec_of
from kopt.targets.target import Target
from kopt.tuning.files import SUFFIX, TUNED, ConfigFile, KeptEntry, read

#: How many times larger or smaller an extent may be than the one that was tuned.
_FARTHEST = 4.0
_DEFAULT = Config()
#: How a number is spelled that a kernel takes at run time.
OPEN = "open"
_T = TypeVar("_T")


@dataclass(frozen=True)
class FoundConfig:
    """What was found for a call: its configuration, where it is of, and what is to be said."""

    entry: KeptEntry | None
    exact: bool
    remarks: tuple[str, ...]

    def applied(self, config: Config) -> Config:
        """A kernel's configuration with what was kept. Raises `ConfigError`."""
        if self.entry is None:
            return _with(config, {}, self.remarks)
        return _with(config, self.entry.config, self.remarks)

    def without(self, config: Config, error: KoptError) -> Config:
        """The kernel's configuration alone, with a remark that what was kept does not fit.

        Raises `ConfigError` where it was kept for these very arguments.
        """
        assert self.entry is not None
        if self.exact:
            message = f"the configuration that is kept for this call is refused: {error.message}"
            raise ConfigError(message, self.entry.location, notes=error.notes) from None
        said = f"the configuration of {self.entry.location}, tuned for other shapes, is ignored: {error.message}"
        return _with(config, {}, (said,))


def _with(config: Config, kept: Mapping[str, Any], remarks: tuple[str, ...]) -> Config:
    found = make_config(kept)
    given = {key: getattr(found, key) for key in TUNED}
    return replace(config, **given, tunables=found.tunables, remarks=(*config.remarks, *remarks))


def is_open(config: Config) -> bool:
    """Whether a configuration leaves all that a tuner decides open."""
    return not config.tunables and all(getattr(config, key) == getattr(_DEFAULT, key) for key in TUNED)


def spelled(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments of a call as files have them: ``x: bf16[4096,4096]``, ``eps: 1e-05``."""
    return tuple(f"{name}: {_spelled(value)}" for name, value in values.items())


def _spelled(value: Any) -> str:
    if isinstance(value, TensorSpec) or framework_of(value):
        spec = value if isinstance(value, TensorSpec) else spec_of(value)
        return f"{spec.dtype.spec}[{','.join(map(str, spec.shape))}]"
    if isinstance(value, RunTimeScalar):
        return OPEN
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_spelled, value))})"
    if value is None or isinstance(value, bool | int | float | str | complex):
        return repr(value)
    return getattr(value, "__qualname__", None) or type(value).__qualname__


def source_hash(fn: Callable[..., Any]) -> str:
    """What the text of a function is known by; empty where no file has it."""
    return _source_hash(fn.__code__) if hasattr(fn, "__code__") else ""


@lru_cache(maxsize=4096)
def _source_hash(code: Any) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(code))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def paths(fn: Callable[..., Any]) -> Iterator[Path]:
    """The files that a kernel's configurations may be in, whether they are there or not."""
    name = f"{fn.__name__}{SUFFIX}"
    named = os.environ.get("KOPT_CONFIGS")
    if named == "":
        return
    for part in (named or "").split(os.pathsep):
        if part:
            yield Path(part) if part.endswith(".json") else Path(part) / name
    file = getattr(getattr(fn, "__code__", None), "co_filename", "")
    if file and not file.startswith("<"):
        yield Path(file).with_name(name)


def state(fn: Callable[..., Any]) -> tuple[tuple[str, int, int], ...]:
    """What the files of a kernel are known by: those that are there, their sizes and times."""
    found = []
    for path in paths(fn):
        try:
            status = os.stat(path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):  # a pipe might never end
            found.append((str(path), status.st_size, status.st_mtime_ns))
    return tuple(found)


def kept(fn: Callable[..., Any], values: Mapping[str, Any], chip: str | None, config: Config) -> FoundConfig | None:
    """What is kept for a call of a kernel; None where there is nothing, or its own configuration decides.

    Raises `ConfigError` where a file of the kernel's is not what it should be.
    """
    if chip is None or not is_open(config):
        return None
    remarks: list[str] = []
    for path, size, modified in state(fn):
        file = _read(path, size, modified)
        if file.kernel != fn.__name__:
            if Path(path).name == f"{fn.__name__}{SUFFIX}":
                raise ConfigError(f"'{path}' has the configurations of '{file.kernel}', not of '{fn.__name__}'")
            continue
        if found := _nearest(file, fn, spelled(values), chip, remarks):
            entry, exact = found
            near = "" if exact else f" for {', '.join(entry.specs)}, the nearest of what was tuned"
            remarks.append(f"the configuration is that of {entry.location}{near}")
            return FoundConfig(entry, exact, tuple(remarks))
    return FoundConfig(None, False, tuple(remarks)) if remarks else None


@lru_cache(maxsize=256)
def _read(path: str, size: int, modified: int) -> ConfigFile:
    return read(Path(path))


def _nearest(
    file: ConfigFile, fn: Callable[..., Any], specs: tuple[str, ...], chip: str, remarks: list[str]
) -> tuple[KeptEntry, bool] | None:
    own = [entry for entry in file.entries if entry.chip == chip]
    current = [entry for entry in own if entry.source == source_hash(fn)]
    if stale := [entry for entry in own if entry not in current and entry.specs == specs]:
        remarks.append(
            f"the configuration of {stale[0].location} is ignored: it was tuned for another text of the kernel"
        )
    for entry in current:
        if distance(specs, entry.specs) == 0:
            return entry, True
    near = [(found, entry) for entry in current if (found := distance(specs, entry.specs)) is not None]
    return (min(near, key=lambda pair: pair[0])[1], False) if near else None


def distance(specs: Sequence[str], others: Sequence[str]) -> float | None:
    """How far arguments are from others: the sum of ``|log2|`` of what extents differ by; None where too far."""
    if len(specs) != len(others):
        return None
    total = 0.0
    for one, other in zip(specs, others, strict=True):
        if one == other or one == f"{one.partition(': ')[0]}: {OPEN}" and other.startswith(one[: -len(OPEN)]):
            continue
        ratios = _ratios(one, other)
        if ratios is None or any(not 1 / _FARTHEST <= ratio <= _FARTHEST for ratio in ratios):
            return None
        total += sum(abs(math.log2(ratio)) for ratio in ratios)
    return total


def _ratios(one: str, other: str) -> list[float] | None:
    """What the extents of two tensors differ by; None of anything else."""
    (name, _, text), (other_name, _, other_text) = one.partition(": "), other.partition(": ")
    try:
        spec, other_spec = parse_spec(text), parse_spec(other_text)
    except Exception:  # anything but a tensor
        return None
    alike = name == other_name and spec.dtype == other_spec.dtype and len(spec.shape) == len(other_spec.shape)
    pairs = list(zip(spec.shape, other_spec.shape, strict=True)) if alike else []
    return [a / b for a, b in pairs] if alike and all(a and b for a, b in pairs) else None


class KeptConfigs:
    """What tuning has kept for one kernel, as its calls ask for it; nothing where ``reads`` is False."""

    def __init__(self, fn: Callable[..., Any], config: Config, reads: bool = True):
        self._fn, self._config, self._reads = fn, config, reads

    def state(self) -> tuple[tuple[str, int, int], ...]:
        """The files as they are now: a part of what calls are known by."""
        return state(self._fn) if self._reads and is_open(self._config) else ()

    def watched(self, guard: Callable[..., Any]) -> Callable[..., Any]:
        """A guard that knows no call any more once a file changes that the configuration may be of."""
        if not (files := self.state()):
            return guard

        def watched(kernel: Any, args: Any, kwargs: Any) -> Any:
            return guard(kernel, args, kwargs) if self.state() == files else MISS

        return watched

    def configuration(self, values: Mapping[str, Any], target: Target) -> tuple[Config, FoundConfig | None]:
        """The kernel's configuration with what is kept for a call. Raises `ConfigError` at a file's line."""
        chip = None if target.chip is None else target.chip.name
        found = kept(self._fn, values, chip, self._config) if self._reads else None
        return self._config if found is None else found.applied(self._config), found

    def lowered(self, values: dict[str, Any], target: Target, lower: Callable[..., _T]) -> _T:
        """A call lowered by ``lower`` with that configuration.

        Where what was tuned for other shapes is refused for these, the kernel's own is taken. Raises `ConfigError` at
        the file's line where it was tuned for these.
        """
        config, found = self.configuration(as_called(values, target), target)
        try:
            return lower(values, target, config)
        except KoptError as error:
            if found is None or found.entry is None:
                raise
            return lower(values, target, found.without(self._config, error))
