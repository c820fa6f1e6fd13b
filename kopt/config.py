"""The configuration of a lowering: what may be tuned without changing what a kernel computes.

| key | values | means |
|---|---|---|
| ``block_sizes`` | list of numbers | lanes of the open tiles, in order; left out: chosen to fit the chip |
| ``loop_type`` | ``auto grid pipeline fori resident`` | how blocks that inner loops walk arrive on a TPU |
| ``output_only`` | ``return swap donate off`` | what becomes of outputs that are only written |
| ``split_k`` | a number | to how many times as many cells reduction loops are dealt out (1: none) |
| ``deterministic`` | ``True``, ``False`` | whether sums of parts are formed in one order, whatever runs first |
| ``programs`` | a number | how many programs of a GPU share the items of a jagged kernel, by their work |
| ``checks`` | ``True``, ``False`` | whether a call on a chip looks at accesses and offsets first, as interpreters do |
| ``num_warps``, ``num_stages`` | numbers | Triton's launch options |
| ``persistent`` | ``off interleaved blocked`` | whether programs of a GPU walk the cells, and which of them |
| ``sm_programs`` | a number | how many such programs there are for each multiprocessor |
| ``group`` | a number | how many rows of cells of a GPU's grid run side by side (1: none) |
| ``max_registers`` | a number | the most registers of a thread, on NVIDIA's chips |
| ``dot_precision`` | ``ieee tf32 bf16 tf32x3 bf16x3`` | how f32 operands of a dot may be rounded |
| ``load_eviction_policies`` | ``first``, ``last`` or ``""``, or a list | what a GPU's caches are told of each load |
| ``accesses``, ``loops``, ``order`` | see `kopt.plans.pins` | decisions of the plan on a TPU or a GPU |

Every other key names a tunable of the kernel (`register_tunable`); a name that the kernel does not have is an error.
Where a kernel has a tunable named like a key of the table, the key is that tunable's value.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from kopt.errors import ConfigError
from kopt.plans.pins import Pins, checked_names, checked_order, make_pins
from kopt.registry import did_you_mean

#: The allowed values of the keys that are words.
CHOICES = {
    "loop_type": ("auto", "grid", "pipeline", "fori", "resident"),
    "output_only": ("return", "swap", "donate", "off"),
    "dot_precision": ("ieee", "tf32", "bf16", "tf32x3", "bf16x3"),
    "persistent": ("off", "interleaved", "blocked"),
}


#: The largest values of the keys that are numbers: Triton's, and more programs than any chip runs.
MOST = {
    "split_k": 65_535,
    "programs": 2**20,
    "num_warps": 32,
    "num_stages": 32,
    "sm_programs": 32,
    "group": 65_535,
    "max_registers": 255,
}
#: What caches may be told of a load; nothing, by the empty word.
POLICIES = ("", "first", "last")
#: The largest block: more lanes than any chip has bytes close to its cores.
MOST_LANES = 2**27


@dataclass(frozen=True)
class Config:
    """Checked configuration; see the module's table. ``tunables`` holds the kernel's own keys.

    ``remarks`` are to be said wherever it is used: of what somebody else's configuration asks for in vain.
    """

    block_sizes: tuple[int, ...] | None = None
    loop_type: str = "auto"
    output_only: str | None = None
    split_k: int | None = None
    deterministic: bool = False
    programs: int | None = None
    checks: bool = False
    num_warps: int | None = None
    num_stages: int | None = None
    persistent: str | None = None
    sm_programs: int | None = None
    group: int | None = None
    max_registers: int | None = None
    dot_precision: str | None = None
    load_eviction_policies: str | tuple[str, ...] | None = None
    accesses: tuple[tuple[str, str], ...] = ()
    loops: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] | None = None
    tunables: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for key, choices in CHOICES.items():
            value = getattr(self, key)
            if value is not None and value not in choices:
                raise ConfigError(
                    f"config key '{key}' is one of {', '.join(choices)}, found {value!r}{_close(value, choices)}",
                    id="config-value",
                )
        for key, most in MOST.items():
            value = getattr(self, key)
            if value is not None and not (_is_positive(value) and value <= most):
                raise ConfigError(
                    f"config key '{key}' is a positive number up to {most}, found {value!r}", id="config-value"
                )
        for key in ("deterministic", "checks"):
            if not isinstance(getattr(self, key), bool):
                raise ConfigError(
                    f"config key '{key}' is True or False, found {getattr(self, key)!r}", id="config-value"
                )
        if self.num_warps is not None and self.num_warps & (self.num_warps - 1):
            raise ConfigError(f"config key 'num_warps' is a power of two, found {self.num_warps}", id="config-value")
        make_pins(self.accesses, self.loops, self.order)

    @property
    def pins(self) -> Pins:
        """What it decides of plans."""
        return make_pins(self.accesses, self.loops, self.order)

    @property
    def keeps_resident(self) -> bool:
        """Whether all that some loop walks is to be on a TPU's chip at once: blocks are chosen so that it fits."""
        pinned = [schedule.kind for schedule in self.pins.loops.values()]
        pinned += [pin.kind for pin in self.pins.accesses.values()]
        return self.loop_type == "resident" or "resident" in pinned

    def yielding(self, names: Iterable[str]) -> Config:
        """The configuration of a kernel with tunables of these names: keys of the same name are the kernel's."""
        taken = {name: getattr(self, name) for name in names if name in _KEYS}
        given = {name: value for name, value in taken.items() if value != _DEFAULTS[name]}
        return replace(self, **{name: _DEFAULTS[name] for name in given}, tunables={**given, **self.tunables})

    @property
    def key(self) -> tuple[Any, ...]:
        """A hashable summary, for caches."""
        return (*(getattr(self, name) for name in _KEYS), tuple(sorted(self.tunables.items(), key=lambda i: i[0])))


_DEFAULTS = {f.name: f.default for f in fields(Config) if f.name not in ("tunables", "remarks")}
_KEYS = tuple(_DEFAULTS)
_CHECKED = {
    "load_eviction_policies": lambda given: _policies(given),
    "accesses": partial(checked_names, "accesses"),
    "loops": partial(checked_names, "loops"),
    "order": checked_order,
}


def make_config(mapping: Mapping[str, Any] | Config | None) -> Config:
    """The `Config` of a mapping as users write it. Raises `ConfigError` for impossible values."""
    if isinstance(mapping, Config):
        return mapping
    given = checked_mapping(mapping)
    if (sizes := given.get("block_sizes")) is not None:
        given["block_sizes"] = _sizes(sizes)
    for key, check in _CHECKED.items():
        if given.get(key) is not None:
            given[key] = check(given[key])
        else:
            given.pop(key, None)
    known = {key: given.pop(key) for key in _KEYS if key in given}
    return Config(**known, tunables=given)


def checked_mapping(mapping: Any) -> dict[str, Any]:
    """The keys and values that a user wrote, unchecked. Raises `ConfigError` for anything but a mapping of names."""
    if mapping is not None and not isinstance(mapping, Mapping):
        kind = type(mapping).__name__
        raise ConfigError(
            f"a config is a mapping of keys to values, as {{'block_sizes': [128]}}, found a {kind}", id="config-value"
        )
    given = {key: _plain(value) for key, value in (mapping or {}).items()}
    if unnamed := [key for key in given if not isinstance(key, str)]:
        raise ConfigError(f"config keys are names, found {unnamed[0]!r}", id="config-value")
    return given


def _policies(given: Any) -> str | tuple[str, ...]:
    """One policy for all loads, or one for each."""
    words = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else [given]
    if any(word not in POLICIES for word in words):
        close = _close(given, POLICIES)
        raise ConfigError(
            f"config key 'load_eviction_policies' is of 'first', 'last' and '', found {given!r}{close}",
            id="config-value",
        )
    return given if isinstance(given, str) else tuple(words)


def _close(value: Any, known: Iterable[str]) -> str:
    return did_you_mean(value, known) if isinstance(value, str) else ""


def unknown_key(key: str, tunables: Iterable[str], kernel: str = "the kernel") -> ConfigError:
    """A key that is none of the table's, of a kernel with tunables of these names."""
    close = did_you_mean(key, [*tunables, *_KEYS])
    return ConfigError(f"{kernel} has no tunable '{key}', and no config key is called so{close}", id="unknown-key")


def _sizes(sizes: Any) -> tuple[int, ...]:
    if isinstance(sizes, int):
        sizes = [sizes]
    sizes = [_plain(size) for size in sizes] if isinstance(sizes, Sequence) and not isinstance(sizes, str) else sizes
    if not isinstance(sizes, list) or not all(_is_positive(size) and size <= MOST_LANES for size in sizes):
        raise ConfigError(
            f"config key 'block_sizes' is a list of positive numbers up to {MOST_LANES}, found {reprlib.repr(sizes)}",
            id="config-value",
        )
    return tuple(sizes)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, anything else as it is."""
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
