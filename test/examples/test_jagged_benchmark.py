"""The benchmark of jagged kernels: what it counts, and that both of its kernels are what it says."""

from __future__ import annotations

import numpy as np
import pytest
from jagged import TILE, compiled, cost, drawn, tiles

from kopt.targets.chips import TPU_CHIPS


def test_tiles() -> None:
    """Each item's begin at a multiple of 8 rows; items without rows have none."""
    assert tiles(np.array([0, 3, TILE, 0, TILE - 3, 1])) == 0 + 1 + 2 + 0 + 1 + 1


def test_lengths_have_one_total() -> None:
    assert {int(lengths.sum()) for lengths in drawn().values()} == {10_240}


@pytest.mark.slow
def test_by_hand_is_right() -> None:
    jax = pytest.importorskip("jax")
    from jax.experimental.pallas import tpu as pltpu
    from support.jagged_sum_by_hand import jagged_sum_by_hand

    lengths = np.array([3, 0, 70, 8, 0, 41, 1, 5])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = np.random.default_rng(0).standard_normal((128, 256), dtype=np.float32)
    with pltpu.force_tpu_interpret_mode(pltpu.InterpretParams(uninitialized_memory="nan")):
        found = np.asarray(jax.jit(jagged_sum_by_hand)(x, offsets))
    wanted = np.stack([x[a:b].sum(0) for a, b in zip(offsets[:-1], offsets[1:], strict=True)])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["tpu7x", "v6e", "v5e"])
def test_no_more_than_by_hand(chip: str) -> None:
    """Within a tenth in bundles times trips and copied bytes, in no more memory."""
    facts = compiled(TPU_CHIPS[chip])
    for lengths in drawn().values():
        ours, hand = (cost(facts[name], lengths, TPU_CHIPS[chip]) for name in ("kopt", "by hand"))
        assert ours["us"] <= 1.1 * hand["us"] and ours["vmem_bytes"] <= hand["vmem_bytes"]
