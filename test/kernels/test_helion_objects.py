"""Kernel objects of Helion: their function, and what of their config kopt has or the kernel registers."""

import pytest
import torch

import kopt

helion = pytest.importorskip("helion")
hl = helion.language
X = torch.arange(96, dtype=torch.float32)


@helion.kernel(config={"block_size": 32, "indexing": "pointer", "loop_order": [0], "factor": 3})
def scaled(x):
    """A config in the older words, with a value for a tunable."""
    factor = hl.register_tunable("factor", helion.autotuner.IntegerFragment(1, 8, 2))
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = tile.block_size + x[tile] * factor
    return out


@helion.kernel(config=helion.Config(block_sizes=[16], split_k=4, num_warps=2))
def parts(x):
    """A tunable that has the name of a key of kopt's."""
    split = hl.register_tunable("split_k", helion.autotuner.PowerOfTwoFragment(1, 8))
    out = torch.zeros([1])
    for outer in hl.tile(x.size(0), block_size=x.size(0) // split):
        total = hl.zeros([1])
        for inner in hl.tile(outer.begin, outer.end):
            total += x[inner].sum()
        hl.atomic_add(out, [0], total.sum() + split)
    return out


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_configs_of_helion(target):
    """Its block sizes and tunables hold; what kopt does not have is left out."""
    torch.testing.assert_close(kopt.kernel(scaled, target=target)(X), X * 3 + 32)
    torch.testing.assert_close(kopt.kernel(parts, target=target)(X), X.sum()[None] + 16)


def test_a_config_of_ones_own_replaces_it():
    """Defaults hold for what it leaves out."""
    kernel = kopt.kernel(scaled, target="reference", config={"block_sizes": [8]})
    torch.testing.assert_close(kernel(X), X * 2 + 8)


def test_configs_may_use_helions_words():
    """Keys of Helion and its backends say nothing; unknown ones are errors as ever."""
    theirs = {"block_sizes": [8], "pallas_loop_type": "fori_loop", "reduction_loops": [None], "loop_order": [0]}
    torch.testing.assert_close(kopt.kernel(scaled, target="reference", config=theirs)(X), X * 2 + 8)
    with pytest.raises(kopt.ConfigError, match="no tunable 'tile_order'"):
        kopt.kernel(scaled, target="reference", config={"tile_order": [0]})(X)


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_a_key_named_like_a_tunable_is_the_tunable(target):
    """The kernel's own tunable takes it, whatever the key means elsewhere."""
    kernel = kopt.kernel(parts, target=target, config={"split_k": 2})
    torch.testing.assert_close(kernel(X), X.sum()[None] + 4)
