"""Configurations as users write them: each impossible value is an error at once, with the place of the kernel."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.config import MOST, MOST_LANES, make_config
from kopt.errors import ConfigError


def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


WRONG = [
    ([1, 2], "a config is a mapping.*found a list"),
    ("block_sizes", "a config is a mapping.*found a str"),
    (3, "a config is a mapping.*found a int"),
    ({1: 2}, "config keys are names, found 1"),
    *(({"block_sizes": sizes}, "'block_sizes' is a list of positive numbers")
      for sizes in ([0], [-1], [True], [1.5], ["8"], "12", 0, 10**12, [10**12], [MOST_LANES + 1], [[8]], {8: 8}, [None],
                    np.zeros(1, int), np.array([0.5]), np.array([[8]]))),
    *(({key: value}, f"'{key}' is a positive number up to {most}")
      for key, most in MOST.items() for value in (0, -1, True, 2.0, "4", [4], most + 1, 10**12)),
    ({"num_warps": 3}, "'num_warps' is a power of two"),
    *(({key: value}, f"'{key}' is one of")
      for key in ("loop_type", "output_only", "dot_precision") for value in ("fast", 3, ["grid"], {}, True)),
    *(({key: value}, f"'{key}' is True or False") for key in ("deterministic", "checks") for value in (1, "yes", [])),
]  # fmt: skip


@pytest.mark.parametrize(("config", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_impossible_configurations(config, message):
    with pytest.raises(ConfigError, match=message):
        make_config(config)
    for use in (
        lambda: kopt.kernel(doubled, config=config),
        lambda: kopt.kernel(doubled).lower("f32[8,8]", config=config),
    ):
        with pytest.raises(ConfigError, match=message) as caught:
            use()
        assert caught.value.location is not None and caught.value.location.file == __file__


@pytest.mark.parametrize(
    "config",
    [
        {"block_sizes": [np.int64(8)], "num_warps": np.int32(4)},
        {"block_sizes": np.array([8]), "num_warps": 4},
        {"block_sizes": (8,), "num_warps": np.uint8(4)},
        {"block_sizes": np.int16(8), "num_warps": 4},
        {"block_sizes": 8, "num_warps": 4},
    ],
    ids=str,
)
def test_numbers_of_numpy_are_numbers(config):
    made = make_config(config)
    assert (made.block_sizes, made.num_warps) == ((8,), 4)
    assert type(made.num_warps) is int and hash(made.key) is not None


def test_the_largest_blocks_run():
    kernel = kopt.kernel(doubled, config={"block_sizes": [2**16]}, target="pallas:interpret")
    torch.testing.assert_close(kernel(torch.ones(3, 4)), 2 * torch.ones(3, 4))
