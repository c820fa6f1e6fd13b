"""Helion's configuration keys: honoured, or said to have no effect; nothing is dropped without a word."""

from __future__ import annotations

import inspect
from pathlib import Path

import helion
import helion.language as hl
import pytest
import torch
from helion.autotuner.config_spec import VALID_KEYS

import kopt
from kopt.errors import ConfigError
from kopt.helion_configs import RENAMED, SHARED, WITHOUT_EFFECT, helion_config

PAGE = Path(__file__).resolve().parents[2] / "docs" / "targets.md"


def doubled(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * 2
    return out


def test_all_keys_are_known() -> None:
    """Those that Helion's class names, and those that its compiler takes besides."""
    named = {name for name in inspect.signature(helion.Config.__init__).parameters if name not in ("self", "kwargs")}
    theirs = named | VALID_KEYS
    backends = {name for name in theirs if name.startswith(("pallas_", "cute_", "tcgen05_"))}
    assert theirs - backends == {*SHARED, *RENAMED, *WITHOUT_EFFECT}


def test_the_page_has_the_table() -> None:
    section = PAGE.read_text().split("### Helion's keys")[1].split("\n### ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    table = {row[1].strip(" `"): row[2].strip().replace("`", "'") for row in rows}
    assert {key: table.get(key) for key in WITHOUT_EFFECT} == WITHOUT_EFFECT


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"l2_groupings": [8, 4]}, ["l2_groupings"]),
        ({"l2_groupings": [1], "pid_type": "flat", "indexing": ["pointer", "pointer"], "loop_orders": [[0, 1]]}, []),
        ({"loop_orders": [[1, 0]], "range_num_stages": [0, 3]}, ["loop_orders", "range_num_stages"]),
        ({"waves_per_eu": 2, "matrix_instr_nonkdim": 16, "num_ctas": 1}, ["waves_per_eu", "matrix_instr_nonkdim"]),
        ({"loop_order": [[1, 0]], "l2_grouping": 4}, ["loop_orders"]),
        ({"indexing": "tensor_descriptor", "cute_pdl": True}, ["indexing", "cute_pdl"]),
    ],
    ids=str,
)
def test_what_has_no_effect_is_said(config: dict, keys: list[str]) -> None:
    found = helion_config(None, {"block_sizes": [16], "num_warps": 2, **config})
    assert (found.block_sizes, found.num_warps, found.tunables) == ((16,), 2, {})
    assert [text.split("'")[2] for text in found.remarks] == keys


@pytest.mark.parametrize(
    ("config", "ours"),
    [
        ({"pid_type": "persistent_blocked"}, {"persistent": "blocked", "sm_programs": 1}),
        (
            {"pid_type": "persistent_interleaved", "num_sm_multiplier": 4},
            {"persistent": "interleaved", "sm_programs": 4},
        ),
        ({"pid_type": "flat", "num_sm_multiplier": 4}, {}),
        ({"l2_groupings": [1, 16, 16], "maxnreg": 64}, {"group": 16, "max_registers": 64}),
        ({"l2_groupings": [1], "maxnreg": None}, {}),
    ],
    ids=str,
)
def test_keys_by_another_name(config: dict, ours: dict) -> None:
    assert helion_config(None, config) == kopt.config.make_config(ours)


def test_a_lowering_says_it_once() -> None:
    theirs = helion.kernel(config={"block_sizes": [32], "xcd_remap": True})(doubled)
    low = kopt.kernel(theirs).lower("f32[100]", target="triton:sm90")
    assert [str(one) for one in low.remarks if "xcd_remap" in str(one)] == [
        f"remark: Helion's config key 'xcd_remap' has no effect: {WITHOUT_EFFECT['xcd_remap']}"
    ]


def test_kernels_of_kopt_have_no_such_keys() -> None:
    with pytest.raises(ConfigError, match="l2_groupings"):
        kopt.kernel(doubled, config={"l2_groupings": [8]}).lower("f32[100]", target="triton:sm90")


def hinted(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] + hl.load(y, [i], eviction_policy="evict_last")
    return out


def test_policies_of_loads() -> None:
    """A load's own policy stays; those of a configuration are for the others; a TPU says once that it has none."""
    theirs = helion.kernel(config={"block_sizes": [32], "load_eviction_policies": ["first"]})(hinted)
    text = kopt.kernel(theirs).lower("f32[100]", "f32[100]", target="triton:sm90").source
    loads = [line.partition("eviction_policy=")[2].strip(")") for line in text.splitlines() if "tl.load(" in line]
    assert loads == ['"evict_first"', '"evict_last"']
    low = kopt.kernel(theirs).lower("f32[100]", "f32[100]", target="pallas:v6e")
    assert len([one for one in low.remarks if "eviction" in str(one)]) == 1


def test_policies_that_triton_lacks() -> None:
    found = helion_config(None, {"load_eviction_policies": ["first", "streaming"]})
    assert found.load_eviction_policies is None
    assert found.remarks == (
        "Helion's config key 'load_eviction_policies' has no effect: Triton has no policy 'streaming'",
    )
    with pytest.raises(ConfigError, match="'first', 'last'"):
        kopt.kernel(hinted, config={"load_eviction_policies": "streaming"})(torch.ones(4), torch.ones(4))
