"""Places of lanes in blocks that end with the tensor: as torch counts them in what is there, on every CPU target."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")


def flipped(x, out):
    """Each block backwards, from its last element."""
    for i, j in hl.tile(x.size(), block_size=[4, 8]):
        out[i, j] = torch.flip(x[i, j], [0, 1])


def first_smallest(x, out):
    """The place in a block, row by row."""
    for j in hl.tile(x.size(1), block_size=8):
        out[j] = x[:, j].argmin()[None]


def largest_of_both(x, out):
    """Both dimensions end inside a block."""
    for i, j in hl.tile(x.size(), block_size=[4, 8]):
        out[i, j] = torch.argmax(x[i, j], keepdim=True)


def _flipped(x):
    return torch.cat([torch.cat([c.flip(0, 1) for c in r.split(8, 1)], 1) for r in x.split(4)])


def _smallest(x):
    return torch.cat([part.argmin().expand(part.size(1)) for part in x.split(8, 1)])


def _largest(x):
    return torch.cat([torch.cat([c.argmax().expand(c.shape) for c in r.split(8, 1)], 1) for r in x.split(4)])


CASES = {
    "flip": (flipped, _flipped, torch.float32, 2),
    "argmin": (first_smallest, _smallest, torch.int64, 1),
    "argmax of both": (largest_of_both, _largest, torch.int64, 2),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(6, 11), (3, 17), (4, 8), (1, 1)], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_of_what_is_there(case, shape, target):
    """The last block may have fewer lanes than the others."""
    fn, wanted, dtype, rank = CASES[case]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    x[-1, -1] = 9  # the largest one stands last
    out = torch.zeros(shape[-rank:], dtype=dtype)
    kopt.kernel(fn).on(target)(x, out)
    torch.testing.assert_close(out, wanted(x), rtol=0, atol=0)


def test_the_largest_lane_of_an_array_by_blocks():
    """A 64-bit number of a lane is at most its block's, so that a block's first element may be added in 32 bits."""

    def places(x):
        out = torch.empty([x.size(0), x.size(1) // 32], dtype=torch.int64)
        for rows, columns in hl.tile(x.size(), block_size=[None, 32]):
            out[rows, columns.id] = x[rows, columns].argmax(dim=1) + columns.begin
        return out

    x = torch.randn(16, 96)
    wanted = x.view(16, 3, 32).argmax(-1) + torch.arange(0, 96, 32)
    torch.testing.assert_close(kopt.kernel(places, target="pallas:interpret")(x), wanted)
