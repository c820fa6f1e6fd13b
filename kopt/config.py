"""The configuration of a lowering: what may be tuned without changing what a kernel computes.

| key | values | means |
|---|---|---|
| ``block_sizes`` | list of numbers | lanes of the open tiles, in order; left out: chosen to fit the chip |
| ``loop_type`` | ``auto grid pipeline fori resident`` | how blocks that inner loops walk arrive on a TPU |
| ``output_only`` | ``return swap donate off`` | what becomes of outputs that are only written |
| ``split_k`` | a number | to how many times as many cells reduction loops are dealt out (1: none) |
| ``deterministic`` | ``True``, ``False`` | whether sums of parts are formed in one order, whatever runs first |
| ``programs`` | a number | how many programs of a GPU share the items of a jagged kernel, by their work |
| ``checks`` | ``True``, ``False`` | whether a call looks at the offsets of items first; always on some targets |
| ``num_warps``, ``num_stages`` | numbers | Triton's launch options |
| ``dot_precision`` | ``ieee tf32 bf16`` | how f32 operands of a dot may be rounded |

Every other key names a tunable of the kernel (`register_tunable`); a name that the kernel does not have is an error.
Where a kernel has a tunable named like a key of the table, the key is that tunable's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from kopt.errors import ConfigError

#: The allowed values of the keys that are words.
CHOICES = {
    "loop_type": ("auto", "grid", "pipeline", "fori", "resident"),
    "output_only": ("return", "swap", "donate", "off"),
    "dot_precision": ("ieee", "tf32", "bf16"),
}


@dataclass(frozen=True)
class Config:
    """Checked configuration; see the module's table. ``tunables`` holds the kernel's own keys."""

    block_sizes: tuple[int, ...] | None = None
    loop_type: str = "auto"
    output_only: str | None = None
    split_k: int | None = None
    deterministic: bool = False
    programs: int | None = None
    checks: bool = False
    num_warps: int | None = None
    num_stages: int | None = None
    dot_precision: str | None = None
    tunables: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, choices in CHOICES.items():
            value = getattr(self, key)
            if value is not None and value not in choices:
                raise ConfigError(f"config key '{key}' is one of {', '.join(choices)}, found {value!r}")
        for key in ("split_k", "programs", "num_warps", "num_stages"):
            value = getattr(self, key)
            if value is not None and not _is_positive(value):
                raise ConfigError(f"config key '{key}' is a positive number, found {value!r}")
        for key in ("deterministic", "checks"):
            if not isinstance(getattr(self, key), bool):
                raise ConfigError(f"config key '{key}' is True or False, found {getattr(self, key)!r}")
        if self.num_warps is not None and self.num_warps & (self.num_warps - 1):
            raise ConfigError(f"config key 'num_warps' is a power of two, found {self.num_warps}")

    def yielding(self, names: Iterable[str]) -> Config:
        """The configuration of a kernel with tunables of these names: keys of the same name are the kernel's."""
        taken = {name: getattr(self, name) for name in names if name in _KEYS}
        given = {name: value for name, value in taken.items() if value != _DEFAULTS[name]}
        return replace(self, **{name: _DEFAULTS[name] for name in given}, tunables={**given, **self.tunables})

    @property
    def key(self) -> tuple[Any, ...]:
        """A hashable summary, for caches."""
        return (*(getattr(self, name) for name in _KEYS), tuple(sorted(self.tunables.items(), key=lambda i: i[0])))


_DEFAULTS = {f.name: f.default for f in fields(Config) if f.name != "tunables"}
_KEYS = tuple(_DEFAULTS)


def make_config(mapping: Mapping[str, Any] | Config | None) -> Config:
    """The `Config` of a mapping as users write it. Raises `ConfigError` for impossible values."""
    if isinstance(mapping, Config):
        return mapping
    given = dict(mapping or {})
    if (sizes := given.get("block_sizes")) is not None:
        given["block_sizes"] = _sizes(sizes)
    known = {key: given.pop(key) for key in _KEYS if key in given}
    return Config(**known, tunables=given)


def _sizes(sizes: Any) -> tuple[int, ...]:
    if isinstance(sizes, int):
        sizes = [sizes]
    if not isinstance(sizes, Sequence) or not all(_is_positive(size) for size in sizes):
        raise ConfigError(f"config key 'block_sizes' is a list of positive numbers, found {sizes!r}")
    return tuple(sizes)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
