"""The benchmark of kernels for TPU: both sides of each row compute what torch does, and what its figures are."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import partial, update_wrapper
from typing import Any

import numpy as np
import pytest
import torch
from support.tpu_figures import by_hand, floor, reported, values
from support.tpu_rows import ROWS
from support.window_traffic import windows_moved

from examples.registry import BY_NAME, Inputs
from kopt.specs import parse_spec
from kopt.targets.costs import tpu_costs

_NEW = Inputs(torch.bfloat16)
_WIDE = Inputs(torch.float32)
_OFFSETS = torch.tensor([0, 128, 128, 384, 512], dtype=torch.int32)
_QKV = tuple(_NEW(1, 2, 512, 128) for _ in range(3))
_TURNED = (_NEW(2, 2, 64, 128), _NEW(2, 2, 64, 128), _NEW(2, 64, 128), _NEW(2, 64, 128))
_NORM = (_NEW(64, 256), _NEW(256), _NEW(256))
_LOGITS = (_WIDE(32, 512), _WIDE.below(512, 32))
_PRODUCT = (_NEW(256, 256), _NEW(256, 256))
_GROUPED = (_NEW(512, 128), _NEW(4, 128, 256), _OFFSETS)

_ANYWHERE = (*_GROUPED[:2], torch.tensor([0, 77, 77, 300, 512], dtype=torch.int32))
_BLOCKS = (*_GROUPED[:2], torch.tensor([2, 0, 0, 3], dtype=torch.int32))

_NARROW = tuple((_NEW.below(256, 256, 256) - 128).to(torch.int8) for _ in range(2))
_SCALED = (_NEW(256).abs(), _NEW(256).abs())
_EIGHTS = tuple(_NEW(256, 256).to(torch.float8_e4m3fn) for _ in range(2))
_PAGES = (_NEW(2, 16, 16, 128), _NEW(2, 16, 16, 128))
_TABLE = torch.arange(16, dtype=torch.int32).flip(0).view(2, 8)
_PAGED = (_NEW(2, 16, 128), *_PAGES, torch.tensor([37, 128], dtype=torch.int32), _TABLE)
_GATED = (_NEW(64, 256), _NEW(64, 256))
_STEPS = (torch.sigmoid(_NEW(2, 64, 256)), _NEW(2, 64, 256))

#: For each row's kernel by hand: small arguments, its options, and the example that has the expected results.
SMALL: dict[str, tuple[tuple[Any, ...], dict[str, int], str]] = {
    "matmul": (_PRODUCT, {"rows": 128, "columns": 128}, "matmul"),
    "attention": (_QKV, {"block_m": 128, "block_n": 128, "unroll": 2}, "attention"),
    "causal_attention": (_QKV, {"block_m": 128, "block_n": 256, "unroll": 1}, "causal_attention"),
    "cross_entropy": (_LOGITS, {"rows": 8}, "cross_entropy"),
    "rotary": (_TURNED, {"steps": 32}, "rotary"),
    "exp": ((_WIDE(4096),), {"block": 1024}, "exp"),
    "softmax": (_NORM[:1], {"rows": 16}, "softmax"),
    "welford": (_NORM, {"rows": 16}, "welford"),
    "grouped_matmul": (_GROUPED, {"rows": 128, "columns": 128}, "grouped_matmul"),
    "experts": (_ANYWHERE, {"rows": 128, "columns": 128}, "grouped_matmul"),
    "expert_blocks": (_BLOCKS, {}, "expert_matmul"),
    "int8_matmul": ((*_NARROW, *_SCALED), {"rows": 128, "columns": 128}, "int8_matmul"),
    "fp8_matmul": ((*_EIGHTS, *_SCALED), {"rows": 128, "columns": 128}, "fp8_matmul"),
    "swiglu_matmul": ((*_PRODUCT, _NEW(256, 256)), {"rows": 128, "columns": 128}, "swiglu_matmul"),
    "bmm": ((_NEW(2, 64, 128), _NEW(2, 128, 256)), {}, "bmm"),
    "deep_matmul": (_PRODUCT, {"inner": 128}, "matmul"),
    "window_attention": ((*_QKV, 256), {"window": 256, "block_m": 128, "block_n": 128}, "window_attention"),
    "paged_attention": (_PAGED, {"pages": 2}, "paged_attention"),
    "long_softmax": ((_WIDE(16, 2048),), {"columns": 512}, "softmax"),
    "long_sum": ((_WIDE(4, 1000),), {"width": 256}, "long_sum"),
    "sum_rows": (_NORM[:1], {"rows": 64}, "sum_rows"),
    "layer_norm": (_NORM, {"rows": 16}, "layer_norm"),
    "rms_norm": (_NORM[:2], {"rows": 64}, "rms_norm"),
    "add": (_GATED, {"rows": 16}, "add"),
    "swiglu": (_GATED, {"rows": 16}, "swiglu"),
    "geglu": (_GATED, {"rows": 16}, "geglu"),
    "running_sum": (_NORM[:1], {"rows": 16, "width": 128}, "running_sum"),
    "linear_recurrence": (_STEPS, {"steps": 32, "width": 128}, "linear_recurrence"),
    "embedding": ((_WIDE.below(50, 64), _WIDE(50, 256)), {"block": 16, "unroll": 4}, "embedding"),
}
_OF_ROW = {row.name: row for row in ROWS}


def _array(tensor: torch.Tensor) -> Any:
    import jax.numpy as jnp

    dtype = {torch.bfloat16: jnp.bfloat16, torch.float8_e4m3fn: jnp.float8_e4m3fn}.get(tensor.dtype)
    return jnp.asarray((tensor.float() if dtype else tensor).numpy(), dtype)


def _agree(found: Any, wanted: Any) -> None:
    found, wanted = (x if isinstance(x, tuple | list) else [x] for x in (found, wanted))
    for one, other in zip(found, wanted, strict=True):
        other = other.float().numpy()
        np.testing.assert_allclose(np.asarray(one, np.float32), other, rtol=2e-2, atol=2e-2 * max(1, abs(other).max()))


@pytest.mark.parametrize("name", SMALL)
def test_by_hand_is_right(name: str) -> None:
    jax = pytest.importorskip("jax")
    from jax.experimental.pallas import tpu as pltpu

    args, options, example = SMALL[name]
    module, function = _OF_ROW[name].references[0].split(":")
    by_hand = getattr(importlib.import_module(f"hand.pallas.{module}"), function)
    with pltpu.force_tpu_interpret_mode(pltpu.InterpretParams(uninitialized_memory="nan")):
        arrays = [_array(arg) for arg in args if isinstance(arg, torch.Tensor)]
        found = jax.jit(lambda *arrays: by_hand(*arrays, **options))(*arrays)
    _agree(found, BY_NAME[example].reference(*args))


@pytest.mark.parametrize("options", [{"width": 256}, {"width": 128, "wide": True}])
def test_infinities_reach_only_the_running_sums_behind_them_by_hand(options: dict[str, Any]) -> None:
    """Of both kernels, which are one with other options; a block of nothing but NaN or infinity is no exception."""
    jax = pytest.importorskip("jax")
    from hand.pallas.scans import running_sum
    from jax.experimental.pallas import tpu as pltpu

    inf, nan = float("inf"), float("nan")
    x = torch.randn(16, 512, generator=torch.Generator().manual_seed(0)).bfloat16()
    for row, odd in enumerate([{}, {7: inf}, {300: -inf}, {0: nan}, {20: inf, 400: -inf}, {260: -inf, 255: inf}]):
        x[row, list(odd)] = torch.tensor(list(odd.values()), dtype=x.dtype)
    x[6, :], x[7, :256], x[8, 256:] = inf, nan, -inf
    with pltpu.force_tpu_interpret_mode(pltpu.InterpretParams(uninitialized_memory="nan")):
        found = jax.jit(lambda x: running_sum(x, rows=16, **options))(_array(x))
    wanted = x.float().cumsum(1)
    # Sums of 512 numbers that are rounded to bf16 once.
    np.testing.assert_allclose(np.asarray(found, np.float32), wanted.numpy(), rtol=2**-8, atol=1e-3)


@pytest.mark.parametrize("name", SMALL)
def test_kopt_is_right(name: str) -> None:
    """The kernel of the row, with the blocks that kopt chooses."""
    args, _, example = SMALL[name]
    _agree_tensors(_OF_ROW[name].function.on("pallas:interpret@v6e")(*args), BY_NAME[example].reference(*args))


def _agree_tensors(found: Any, wanted: Any) -> None:
    _agree([x.float() for x in (found if isinstance(found, tuple) else (found,))], wanted)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_names_what_there_is(row: Any) -> None:
    pytest.importorskip("jax")
    assert row.function is not None and row.bytes > 0
    for reference in row.references:
        module, function = reference.split(":")
        assert callable(getattr(importlib.import_module(f"hand.pallas.{module}"), function))


def test_the_floor() -> None:
    """838,860,800 bytes at 1.64 TB/s, in cycles of 1.75 GHz; a product of 4096³ at 524,288 flops a cycle."""
    sides = floor(838_860_800, 2 * 4096**3, tpu_costs(_v6e()))
    assert sides["hbm"] == 895_126 and sides["mxu"] == 262_144


def _v6e() -> Any:
    from kopt.targets.chips import TPU_CHIPS

    return TPU_CHIPS["v6e"]


LOOPS = [{"depth": 0, "bundles": 10}, {"depth": 1, "bundles": 20}]


def _facts(estimated: int | None, **others: Any) -> dict[str, Any]:
    kernel = {"libtpu_cycles": estimated, "loops": LOOPS}
    return {"legal": True, "hlo_uncounted": [], "hlo_cycles": 5, "kernels": [kernel], **others}


@pytest.mark.parametrize(
    ("facts", "trips", "moving", "wanted"),
    [
        (_facts(1000), {1: 4}, 900, (1005, "libtpu")),
        (_facts(1000), {1: 4}, 1100, (1100, "bytes")),
        (_facts(30), {1: 4}, 40, (50, "floor")),
        (_facts(None), {1: 4}, 0, (95, "bundles")),
        (_facts(None), {}, 1100, (None, "computed trips")),
        (_facts(1000, hlo_uncounted=["while"]), {1: 4}, 0, (None, "uncounted HLO")),
        (_facts(None, legal=False), {1: 4}, 0, (None, "refused")),
        (_facts(None, legal=None), {1: 4}, 0, (None, "time limit")),
    ],
)
def test_a_figure_by_hand_says_what_it_is(
    facts: dict[str, Any], trips: Mapping[int, int], moving: int, wanted: tuple[Any, str]
) -> None:
    """What is not known is no number."""
    assert by_hand(facts, trips, moving, 50) == wanted


@pytest.mark.parametrize(
    ("kernel", "specs", "options", "wanted"),
    [
        # Rows of x stay while columns of y go by, four times.
        ("matmul:matmul", ("bf16[512,256]", "bf16[256,512]"), {"rows": 128, "columns": 128}, 5 * 2**18 + 2**19),
        # A window beside prefetched labels; the result is one number in scalar memory.
        ("cross_entropy:cross_entropy", ("f32[64,1024]", "i32[64]"), {"rows": 8}, 2**18),
        # Which matrices come follows from the groups, which only a launch knows: only x and the result count.
        (
            "grouped_matmul:grouped_matmul",
            ("bf16[512,128]", "bf16[4,128,256]", "i32[5]"),
            {"rows": 128, "columns": 128},
            2**19,
        ),
    ],
)
def test_what_windows_move(kernel: str, specs: Sequence[str], options: dict[str, int], wanted: int) -> None:
    """A window moves where its index changes; what only a launch knows counts as nothing."""
    module, function = kernel.split(":")
    whole = getattr(importlib.import_module(f"hand.pallas.{module}"), function)
    by_blocks = update_wrapper(partial(whole, **options), whole)
    assert windows_moved(by_blocks, [parse_spec(one) for one in specs], _v6e(), {}) == wanted


def test_what_windows_move_at_what_arguments_hold() -> None:
    """Two cores load all rows for half of the columns each; a group's matrix comes once for blocks that follow."""
    from hand.pallas.grouped_matmul import experts, experts_by_columns, grouped_matmul

    specs = [parse_spec(one) for one in ("bf16[512,128]", "bf16[4,128,256]", "i32[5]")]
    even = {2: np.array([0, 128, 256, 384, 512])}
    x, weights, out = 2**17, 2**18, 2**18
    whole = update_wrapper(partial(experts, columns=256), experts)
    assert windows_moved(whole, specs, _v6e(), even) == x + weights + out
    assert windows_moved(experts_by_columns, specs, _v6e(), even) == 2 * x + weights + out
    short = update_wrapper(partial(grouped_matmul, rows=64, columns=256), grouped_matmul)
    assert windows_moved(short, specs, _v6e(), even) == x + weights + out
    skewed = {2: np.array([0, 0, 0, 512, 512])}
    assert windows_moved(short, specs, _v6e(), skewed) == x + weights // 4 + out


def _report(cycles: int | None, **others: Any) -> dict[str, Any]:
    return {
        "legal": True,
        "cycles": cycles,
        "bound": "VPU",
        "libtpu_cycles": 7,
        "cycles_reason": "no bundles",
        **others,
    }


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        (_report(95), (95, "libtpu")),
        (_report(95, libtpu_cycles=None), (95, "bundles")),
        (_report(95, bound="HBM"), (95, "bytes")),
        (_report(50, bound="HBM"), (50, "floor")),
        (_report(None), (None, "no bundles")),
        (_report(None, legal=False), (None, "refused")),
        ({"legal": None, "reason": "no answer"}, (None, "time limit")),
    ],
)
def test_a_figure_of_a_report_says_what_it_is(report: dict[str, Any], wanted: tuple[Any, str]) -> None:
    assert reported(report, 50) == wanted


def test_integers_of_a_row() -> None:
    """Offsets of groups of one size, and numbers of rows that there are."""
    offsets, ids = (values(row)[number] for row, number in ((_OF_ROW["grouped_matmul"], 2), (_OF_ROW["embedding"], 0)))
    assert offsets.tolist() == list(range(0, 4097, 512))
    assert 0 <= ids.min() and ids.max() <= 32_000 and len(set(ids.tolist())) > 1000
    assert values(_OF_ROW["expert_blocks"])[2].tolist() == list(range(64))
