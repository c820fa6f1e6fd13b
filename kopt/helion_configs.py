"""The configurations of kernels that others made: Helion's, in kopt's words."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kopt.config import Config, checked_mapping, make_config


def config_of(kernel: Any) -> Config:
    """The configuration of a kernel object, kopt's or Helion's. Raises `ConfigError` for impossible values."""
    own = getattr(kernel, "config", None)
    return own if isinstance(own, Config) else make_config(helion_config(kernel, None))


def helion_config(fn: Any, config: Mapping[str, Any] | None) -> Mapping[str, Any] | Config:
    """The configuration of a Helion kernel: the one given, where keys of Helion's own say nothing, else the kernel's.

    What its single fixed config gives to keys that only kopt has is for tunables of the kernel.
    """
    if isinstance(config, Config):
        return config
    configs = getattr(fn, "configs", None) or []
    theirs = getattr(configs[0], "config", {}) if len(configs) == 1 else {}
    given = checked_mapping(config if config is not None else theirs)
    if "block_size" in given:
        given.setdefault("block_sizes", given.pop("block_size"))
    if isinstance(given.get("block_sizes"), list):  # a list for each loop of several dimensions, in the older form
        given["block_sizes"] = [
            n for each in given["block_sizes"] for n in (each if isinstance(each, list) else [each])
        ]
    shared = {key: given.pop(key, None) or None for key in ("block_sizes", "num_warps", "num_stages")}
    theirs = _helion_keys()
    rest = {k: v for k, v in given.items() if not (k in theirs or f"{k}s" in theirs or k.startswith(_BACKENDS))}
    return {**shared, **rest} if config is not None else replace(make_config(shared), tunables=rest)


#: What the names of configuration keys of single backends of Helion's begin with.
_BACKENDS = ("pallas_", "cute_", "tcgen05_")


def _helion_keys() -> frozenset[str]:
    """The keys of Helion's configurations; the older ones have no s."""
    theirs = getattr(sys.modules.get("helion"), "Config", None)
    return frozenset() if theirs is None else frozenset(inspect.signature(theirs.__init__).parameters)
