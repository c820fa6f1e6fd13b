"""Tensors without dimensions, without lanes, of booleans: what random kernels found, on every CPU target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
CASES: dict[str, tuple[Callable[..., Any], list[torch.Tensor], Callable[..., Any]]] = {}


def case(expected, *args):
    """Adds a kernel to the table: the same in torch, its arguments."""

    def add(kernel):
        CASES[kernel.__name__] = (kernel, list(args), expected)
        return kernel

    return add


def _random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _along(x):
    """Operations along the only dimension that a number has to torch."""
    return [
        x.sum(0),
        torch.cumsum(x, -1),
        torch.softmax(x, 0),
        torch.sort(x).values,
        torch.max(x, 0).values,
        x.transpose(0, -1),
        x.flip(0),
        torch.logsumexp(x, 0, keepdim=True),
        torch.hstack([x, x]).sum(),
        torch.vstack([x, x]).sum(),
        x.repeat_interleave(3).sum(),
        torch.inner(x, x),
    ]


@case(lambda x: torch.stack(_along(x[0])), _random(7))
def numbers_along_a_dimension(x):
    out = torch.empty([12], dtype=x.dtype)
    for _ in hl.grid(1):
        out[:] = torch.stack(_along(x[0]))
    return out


@case(lambda b, c: torch.stack([(b & c).any(), b[:9].any()]), _random(40) > 0, _random(40) > 1)
def products_of_booleans(b, c):
    """torch has none of numbers of one dimension on a CPU."""
    out = torch.empty([2], dtype=torch.bool)
    for _ in hl.grid(1):
        out[:] = torch.stack([torch.inner(b[:], c[:]), torch.inner(b[0:9], b[0:9])])
    return out


def _of_booleans(b, c):
    return torch.stack([v.float() for v in (b.sign(), torch.clamp_min(b, c), b.square() + 1, b**3, torch.pow(b, 2.0))])


@case(_of_booleans, _random(13) > 0, _random(13) > 1)
def functions_of_booleans(b, c):
    out = torch.empty([5, 13])
    for i in hl.tile(13, block_size=8):
        out[:, i] = _of_booleans(b[i], c[i])
    return out


@case(lambda x: torch.where(x > 0, 5 - torch.arange(13) // 8 * 3, 0), _random(13))
def sizes_of_blocks_as_values(x):
    out = torch.empty([13], dtype=torch.int64)
    for i in hl.tile(13, block_size=8):
        v = x[i]
        full = torch.full((1,), v.size(0)) - 3
        out[i] = torch.where(v > 0, torch.where(full + 3 == v.size(0), full, 9), 0).to(torch.int64)
    return out


@case(lambda x: x * torch.tensor([1.0, 2.0, 4.0]), _random(13, 3))
def lists_of_numbers(x):
    out = torch.empty_like(x)
    for i in hl.tile(13, block_size=8):
        out[i, :] = x[i, :] * torch.tensor([1.0, 2.0, 4.0])
    return out


@case(torch.erfc, torch.linspace(-4, 9, 101))
def small_results_of_erfc(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=16):
        out[i] = torch.erfc(x[i])
    return out


@case(lambda x, w: F.linear(x, w), _random(13, 7), _random(7))
def linear_of_a_vector(x, w):
    out = torch.empty([13])
    for i in hl.tile(13, block_size=8):
        out[i] = F.linear(x[i, :], w[:])
    return out


@case(lambda x: (x.sum(1) != 0).float(), _random(13, 7))
def logic_of_a_mean(x):
    out = torch.empty([13])
    for i in hl.tile(13, block_size=8):
        mean = torch.mean(x[i, :], dim=(0, 1))
        out[i] = torch.logical_or(x[i, 0], mean[None]).to(torch.float32)
    return out


@case(lambda x: torch.addmm(x, x, x, beta=2, alpha=0.5), torch.arange(49, dtype=torch.int32).reshape(7, 7))
def factors_of_integer_products(x):
    out = torch.empty_like(x)
    for _ in hl.grid(1):
        out[:, :] = torch.addmm(x[:, :], x[:, :], x[:, :], beta=2, alpha=0.5)
    return out


@case(lambda x: torch.norm(x, 0, 1), _random(13, 7).relu())
def norm_of_order_0(x):
    out = torch.empty([13])
    for i in hl.tile(13, block_size=8):
        out[i] = torch.norm(x[i, :], 0, 1)
    return out


@case(lambda x: torch.where(x < 0, (torch.arange(13.0) // 8 * 8)[:, None], x), _random(13, 7))
def fills_by_numbers_of_the_device(x):
    out = torch.empty_like(x)
    for i in hl.tile(13, block_size=8):
        out[i, :] = torch.nan_to_num(torch.where(x[i, :] < 0, float("nan"), x[i, :]), i.begin)
    return out


@case(lambda x: x + 0.0, _random(13, 7))
def parts_without_lanes(x):
    out = torch.empty_like(x)
    for i in hl.tile(13, block_size=8):
        none = torch.cummin(x[i, :][:, :0], 1).values
        both = torch.cat([none, x[i, :], torch.split(none, 2, dim=1)[0]], 1)
        both = torch.cat([both, torch.tensor_split(both, [2, 1], dim=1)[1], both.repeat(1, 0), none.repeat(1, -1)], 1)
        out[i, :] = torch.cat([both, torch.chunk(none.reshape(none.size(0), 0), 2, dim=1)[1]], 1)
    return out


def _halved_blocks(x):
    total = torch.zeros(x.size(0), 8)
    for block in torch.nn.functional.pad(x, (0, -x.size(1) % 8)).split(8, 1):
        total = total * 0.5 + block
    return total


@case(_halved_blocks, _random(13, 20))
def carried_blocks_of_the_loop(x):
    out = torch.empty([13, 8])
    for i in hl.tile(13, block_size=8):
        total = hl.zeros([i, 8])
        for j in hl.tile(20, block_size=8):
            total = total * 0.5 + x[i, j]
        out[i, :] = total
    return out


@case(lambda x: x.sum(1), _random(13, 7))
def carried_blocks_of_one(x):
    out = torch.empty([13])
    block = hl.register_block_size(1, 1)
    for i in hl.tile(13, block_size=8):
        total = hl.zeros([1, i])
        for j in hl.tile(7, block_size=block):
            total = total + x[i, j].T.reshape(1, -1)
        out[i] = total.reshape(i)
    return out


@case(lambda x: x.sum(1), _random(13, 7))
def carried_values_without_lanes(x):
    out = torch.empty([13])
    void = torch.empty([13, 0])
    for i in hl.tile(13, block_size=8):
        none = hl.zeros([i, 0])
        total = hl.zeros([i])
        for j in hl.tile(7, block_size=4):
            if j.begin > 0:
                none = none + 1
            none = none * 2
            total = total + x[i, j].sum(1)
        void[i, :] = none
        out[i] = total
    return out


@case(lambda x: x.half().sum(1), torch.arange(91.0).reshape(13, 7))
def carried_f16(x):
    out = torch.empty([13], dtype=torch.float16)
    for i in hl.tile(13, block_size=8):
        total = hl.zeros([i], dtype=torch.float16)
        for j in hl.grid(7):
            total = total + x[i, j].half()
        out[i] = total
    return out


@case(lambda m, x: torch.where(m, x[0], 0.0), torch.tensor([True, False]), _random(7))
def masked_stores_of_a_number(m, x):
    yes = torch.zeros([])
    no = torch.zeros([])
    out = torch.empty([2])
    for _ in hl.grid(1):
        hl.store(yes, [], x[0], extra_mask=m[0])
        hl.store(no, [], x[0], extra_mask=m[1])
    for _ in hl.grid(1):
        out[0] = yes[()]
        out[1] = no[()]
    return out


@case(lambda x: x.t() + 1, _random(4, 8))
def blocks_of_one_in_turned_lanes(x):
    out = torch.empty([8, 4])
    for i in hl.tile(8, block_size=2):
        for j in hl.tile(4, block_size=1):
            out[i, j] = x[j, i].t() + 1
    return out


@case(lambda x: x @ x[0, :1, None].T, _random(7, 1))
def products_over_a_tile_of_one(x):
    out = torch.empty_like(x)
    for j in hl.tile(1, block_size=1):
        out[:, j] = x[:, j] @ x[:1, :]
    return out


@case(lambda x: torch.zeros([7, 0]), _random(7, 1))
def parts_past_a_tile_of_one(x):
    out = torch.zeros([7, 0])
    for i, j in hl.tile(x.size(), block_size=[4, 1]):
        out[i, :] = torch.tensor_split(x[i, j], (1,), 1)[1]
    return out


def _written(x, *places):
    x = x.clone()
    *where, value = places
    x[tuple(where)] = value
    return x


@case(lambda x, m: _written(x, m, 3.0), _random(5, 7), _random(5, 7) > 0)
def stores_by_a_whole_mask(x, mask):
    out = x.clone()
    for _ in hl.grid(2):
        out[mask] = 3
    return out


@case(lambda x, m, row: _written(x, m, row), _random(5, 7), _random(5) > 0, _random(7))
def stores_rows_by_a_mask(x, mask, row):
    out = x.clone()
    for _ in hl.grid(1):
        out[mask] = row
    return out


@case(
    lambda x, m, v: torch.stack([torch.where(m[..., None], v, x[0]), x[1]]),
    _random(2, 3, 4, 50),
    _random(3, 4) > 0,
    _random(50),
)
def stores_by_a_mask_between_others(x, mask, v):
    out = x.clone()
    for tile in hl.tile(x.size(3), block_size=16):
        out[0, mask, tile] = v[tile]
    return out


@case(lambda x, m, v: _written(x, m, v), _random(5, 3, 4), _random(5) > 0, _random(3, 4))
def stores_matrices_by_a_mask(x, mask, v):
    out = x.clone()
    for _ in hl.grid(1):
        out[mask] = v
    return out


@case(
    lambda x, m, v: torch.where(m[..., None], v[:, :, None], x),
    _random(2, 3, 4, 7),
    _random(3, 4) > 0,
    _random(2, 1, 7),
)
def stores_by_a_mask_what_differs_beside_it(x, mask, v):
    out = x.clone()
    for _ in hl.grid(1):
        out[:, mask, :] = v[:, :, :]
    return out


@case(lambda x, m, row: _written(x, m, row), _random(5, 7), _random(5) > 0, _random(7))
def stores_by_a_mask_before_a_new_dimension(x, mask, row):
    out = x.clone()
    for _ in hl.grid(1):
        out[mask, None, :] = row[None, :]
    return out


@case(lambda x: torch.where(x > 0, -1.0, x), _random(5, 7))
def stores_by_a_computed_mask(x):
    out = x.clone()
    for _ in hl.grid(1):
        out[x[:] > 0] = -1.0
    return out


@case(lambda x, n: _written(x[n], [2], 0.0), _random(9, 50), torch.tensor([3, 1, 8, 3]))
def host_tensors_as_indices(x, numbers):
    out = x.new_empty(numbers.size(0), x.size(1))
    last = torch.tensor([2])
    for tile in hl.tile(x.size(1), block_size=16):
        out[:, tile] = x[numbers, tile]
        out[last, tile] = 0
    return out


@case(
    lambda n, v: torch.zeros(5, 3).index_put((torch.arange(5)[:, None], n[:, :1].long()), v.sum(1)[:, None]),
    torch.arange(35, dtype=torch.int32).reshape(5, 7) % 3,
    _random(5, 7),
)
def lanes_that_meet_in_one_element(numbers, v):
    out = torch.zeros(5, 3)
    for i, j in hl.tile(v.size(), block_size=[2, 4]):
        hl.atomic_add(out, [i.index[:, None], numbers[i, 0][:, None]], v[i, j])
    return out


@case(lambda x: torch.stack([x[:, i::4] for i in (1, 2, 3)]), _random(5, 16))
def every_fourth_from_a_computed_one(x):
    out = x.new_empty(3, 5, 4)
    for i in hl.grid(3):
        out[i, :, :] = x[:, i + 1 :: 4]
    return out


@case(lambda x: torch.stack([x[2 + i : 17 + i : 3] for i in range(3)]), _random(20))
def every_third_of_a_moving_run(x):
    out = x.new_empty(3, 5)
    for i in hl.grid(3):
        out[i, :] = x[2 + i : 17 + i : 3]
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_kernel(name: str, target: str) -> None:
    """The target gives what torch gives."""
    kernel, args, expected = CASES[name]
    wanted = expected(*args)
    got = kopt.kernel(kernel).on(target)(*args)
    torch.testing.assert_close(got.to(wanted.dtype), wanted, rtol=1e-5, atol=1e-30 if "erfc" in name else 1e-5)
