"""The configurations of kernels that others made: Helion's, in kopt's words.

Of Helion's keys those that kopt has are honoured; what becomes of the others is `WITHOUT_EFFECT`, and a remark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kopt.config import POLICIES, Config, checked_mapping, make_config

#: The keys that both have, with one meaning.
SHARED = ("block_sizes", "num_warps", "num_stages", "load_eviction_policies")
#: Helion's keys that kopt has by another name, and how they are said here.
RENAMED: Mapping[str, str] = {
    "pid_type": "persistent",
    "num_sm_multiplier": "sm_programs",
    "l2_groupings": "group",
    "maxnreg": "max_registers",
}
_PROGRAMS = {"persistent_blocked": "blocked", "persistent_interleaved": "interleaved"}
#: Helion's other keys, and what decides of the same in kopt. None of them changes what a kernel computes.
WITHOUT_EFFECT: Mapping[str, str] = {
    "num_threads": "threads follow from 'num_warps'",
    "loop_orders": "the order of the grid is of the plan: config key 'order'",
    "flatten_loops": "a grid of several dimensions is one number of a program already",
    "reduction_loops": "dimensions that a program cannot hold are walked by the plan",
    "range_unroll_factors": "visits are unrolled by the plan: config key 'loops'",
    "range_warp_specializes": "no warps are specialised",
    "range_num_stages": "all loops have 'num_stages'",
    "range_multi_buffers": "accumulators have one buffer",
    "range_flattens": "loops in one another are not made one",
    "static_ranges": "loops of one visit are unrolled, others are loops",
    "cross_loop_pipeline": "loops after one another are not overlapped",
    "host_tensor_descriptors": "descriptors are made by the host",
    "indexing": "the plan says which accesses go by descriptors",
    "atomic_indexing": "atomic updates go by pointers",
    "load_cache_modifiers": "caches decide for themselves",
    "store_cache_modifiers": "caches decide for themselves",
    "advanced_controls_file": "the chip's compiler has its own defaults",
    "epilogue_subtile": "results are stored as whole blocks",
    "xcd_remap": "programs go to compute dies in their order",
    "reduction_fusion": "reductions are fused where they are written together",
    "waves_per_eu": "AMD's compiler counts registers for as many waves as it finds best",
    "matrix_instr_nonkdim": "AMD's compiler chooses among matrix instructions",
    "num_ctas": "programs share no memory on the chip",
    "occupancy": "as many programs run side by side as registers and shared memory hold",
}
#: Values that ask for what is done anyway.
_USUAL = (None, False, "", 0, 1, "flat", "xyz", "pointer")
#: What keys of single backends of Helion's begin with.
_BACKENDS = ("pallas_", "cute_", "tcgen05_")


def config_of(kernel: Any) -> Config:
    """The configuration of a kernel object, kopt's or Helion's. Raises `ConfigError` for impossible values."""
    own = getattr(kernel, "config", None)
    return own if isinstance(own, Config) else helion_config(kernel, None)


def helion_config(fn: Any, config: Mapping[str, Any] | Config | None) -> Config:
    """The configuration of a Helion kernel: the one given, else the kernel's single one.

    Keys without an effect are left out, and `Config.remarks` says why. What the kernel's own has besides is for its
    tunables; a given one may have kopt's keys too. Raises `ConfigError` for impossible values.
    """
    if isinstance(config, Config):
        return config
    configs = getattr(fn, "configs", None) or []
    theirs = getattr(configs[0], "config", {}) if len(configs) == 1 else {}
    given = _in_one_form(checked_mapping(config if config is not None else theirs))
    remarks = (*_other_policies(given), *_other_groups(given), *_left_out(given))
    given |= _renamed(given)
    shared = {key: given.pop(key, None) or None for key in (*SHARED, *RENAMED.values())}
    if config is not None:
        return replace(make_config({**shared, **given}), remarks=remarks)
    return replace(make_config(shared), tunables=given, remarks=remarks)


def _in_one_form(given: dict[str, Any]) -> dict[str, Any]:
    """Keys and lists as today's, of those that older configurations have."""
    if "block_size" in given:
        given.setdefault("block_sizes", given.pop("block_size"))
    if isinstance(given.get("block_sizes"), list):  # a list for each loop of several dimensions
        given["block_sizes"] = [
            n for each in given["block_sizes"] for n in (each if isinstance(each, list) else [each])
        ]
    return {f"{key}s" if f"{key}s" in (*WITHOUT_EFFECT, *RENAMED) else key: value for key, value in given.items()}


def _other_policies(given: dict[str, Any]) -> Iterator[str]:
    """Takes policies of loads out that Triton does not have; what is to be said of them."""
    key = "load_eviction_policies"
    policies = given.get(key) or []
    policies = [policies] if isinstance(policies, str) else policies
    if other := [policy for policy in policies if policy not in POLICIES]:
        given.pop(key)
        yield f"Helion's config key '{key}' has no effect: Triton has no policy {other[0]!r}"


def _other_groups(given: dict[str, Any]) -> Iterator[str]:
    """Leaves one number of rows that run side by side, of all grids alike; what is to be said of others."""
    key = "l2_groupings"
    groups = given.pop(key, None)
    groups = list(groups) if isinstance(groups, list | tuple) else [groups]
    asked = list(dict.fromkeys(group for group in groups if group not in _USUAL))
    if len(asked) > 1:
        yield f"Helion's config key '{key}' has no effect: all grids have one 'group'"
    elif asked:
        given[key] = asked[0]


def _renamed(given: dict[str, Any]) -> dict[str, Any]:
    """Takes keys out that kopt has by another name, and gives them by that, where they ask for something.

    Numbers of programs are those of persistent ones: with others they mean nothing in Helion either.
    """
    found = {ours: given.pop(theirs, None) for theirs, ours in RENAMED.items()}
    found["persistent"] = _PROGRAMS.get(found["persistent"])
    if found["persistent"] is None:
        found["sm_programs"] = None
    elif found["sm_programs"] is None:
        found["sm_programs"] = 1
    return {ours: value for ours, value in found.items() if value is not None}


def _left_out(given: dict[str, Any]) -> Iterator[str]:
    """Takes keys without an effect out; what is to be said of those that ask for something."""
    for key in list(given):
        reason = "it is for a backend that kopt does not have" if key.startswith(_BACKENDS) else WITHOUT_EFFECT.get(key)
        if reason is not None and _asks(key, given.pop(key)):
            yield f"Helion's config key '{key}' has no effect: {reason}"


def _asks(key: str, value: Any) -> bool:
    """Whether a value asks for something else than what is done anyway."""
    if not isinstance(value, list | tuple):
        return value is True or value not in _USUAL
    if key == "loop_orders":
        return any(isinstance(order, list | tuple) and list(order) != sorted(order) for order in value)
    return any(_asks(key, one) for one in value)
