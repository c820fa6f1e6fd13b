"""Language constructs, each run by the reference interpreter and compared with torch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import pytest
import torch

import kopt.language as hl
from kopt.frontend.language_calls import _choices

from .support import check, imported, reference

torch.manual_seed(0)
X = torch.randn(37, 70)
Y = torch.randn(70, 45)
ROW = torch.randn(70)
COLUMN = torch.randn(37)


def nested_bounds(x):
    m, n = x.shape
    out = torch.zeros([m], dtype=x.dtype, device=x.device)
    for tile_m in hl.tile(m, block_size=8):
        acc = hl.zeros([tile_m], dtype=torch.float32)
        for tile_n in hl.tile(tile_m.begin, n, block_size=16):
            acc += x[tile_m, tile_n].sum(-1)
        out[tile_m] = acc
    return out


def test_loop_bounds_from_an_outer_tile():
    expected = torch.stack([X[i, i // 8 * 8 :].sum() for i in range(37)])
    check(nested_bounds, [X], expected)


def data_dependent(x, lengths):
    out = torch.empty_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        acc = hl.zeros([], dtype=torch.float32)
        for tile in hl.tile(lengths[i], block_size=16):
            acc += x[i, tile].sum()
        out[i] = acc
    return out


def test_loop_bounds_from_memory():
    lengths = torch.randint(0, 71, (37,), dtype=torch.int32)
    expected = torch.stack([X[i, : lengths[i]].sum() for i in range(37)])
    check(data_dependent, [X, lengths], expected)


def device_if(x):
    out = torch.empty_like(x)
    for i in hl.grid(x.size(0)):
        row = x[i, :]
        total = row.sum()
        if total > 0:
            scale = 2.0
            row = row + 1.0
        else:
            scale = 3.0
        out[i, :] = row * scale
    return out


def test_if_on_a_device_scalar():
    rows = torch.where(X.sum(-1, keepdim=True) > 0, (X + 1) * 2, X * 3)
    check(device_if, [X], rows)


def elif_chain(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0), block_size=8):
        if tile.begin == 0:
            v = x[tile, :] + 1
        elif tile.begin == 8:
            v = x[tile, :] + 2
        else:
            v = x[tile, :] + 3
        out[tile, :] = v
    return out


def test_elif_on_loop_numbers():
    add = torch.tensor([1.0] * 8 + [2.0] * 8 + [3.0] * 21)
    check(elif_chain, [X], X + add[:, None])


def conditional_store(x, limit):
    out = torch.zeros_like(x)
    for tile in hl.tile(x.size(0), block_size=8):
        if tile.begin < limit:
            out[tile, :] = x[tile, :]
    return out


def test_store_under_a_condition():
    expected = X.clone()
    expected[16:] = 0
    check(conditional_store, [X, 16], expected)


def static_unroll(xs, n):
    out = torch.empty_like(xs[0])
    for tile in hl.tile(out.size(0)):
        acc = hl.zeros([tile, out.size(1)], dtype=torch.float32)
        for i in hl.static_range(n):
            acc = acc + xs[i][tile, :] * (i + 1)
        out[tile, :] = acc
    return out


def test_tuple_of_tensors_and_static_range():
    check(static_unroll, [(X, X + 1, X * 2), 3], X + (X + 1) * 2 + X * 6)


def broadcast_by_identity(x, b):
    out = torch.empty_like(x)
    for tile0, tile1 in hl.tile(x.shape, block_size=[16, 32]):
        out[tile0, tile1] = x[tile0, tile1] + b[tile0]
    return out


def test_broadcast_by_tile_identity():
    check(broadcast_by_identity, [X, COLUMN], X + COLUMN[:, None])


def plain_meets_tagged(x):
    m, n = x.shape
    out = torch.empty([m], dtype=torch.float32, device=x.device)
    block_n = hl.register_block_size(n)
    for tile_m in hl.tile(m):
        acc = hl.zeros([tile_m, block_n], dtype=torch.float32)
        for tile_n in hl.tile(n, block_size=block_n):
            acc += x[tile_m, tile_n] * 2
        out[tile_m] = acc.sum(-1)
    return out


def test_registered_block_size_as_a_shape():
    check(plain_meets_tagged, [X], X.sum(-1) * 2, block_sizes=[32, 8])


def accumulate_and_spread(x):
    m, n = x.shape
    out = torch.empty([n], dtype=torch.float32, device=x.device)
    block_m = hl.register_block_size(m)
    for tile_n in hl.tile(n):
        acc = hl.zeros([block_m, tile_n], dtype=torch.float32)
        for tile_m in hl.tile(m, block_size=block_m):
            acc += x[tile_m, tile_n]
        out[tile_n] = acc.sum(0)
    return out


def test_plain_leading_block():
    check(accumulate_and_spread, [X], X.sum(0), block_sizes=[8, 32])


def plain_store(x):
    out = torch.empty_like(x)
    block = hl.register_block_size(x.size(0))
    for _ in hl.grid(1):
        acc = hl.zeros([block, x.size(1)], dtype=torch.float32)
        for tile in hl.tile(x.size(0), block_size=block):
            acc = acc + x[tile, :]
        for tile in hl.tile(x.size(0), block_size=block):
            out[tile, :] = acc + x[tile, :] * 0
    return out


def test_plain_value_stored_through_a_tile():
    blocks = torch.zeros(8, 70)
    for start in range(0, 37, 8):
        part = X[start : start + 8]
        blocks[: len(part)] += part
    expected = torch.cat([blocks] * 5)[:37]
    check(plain_store, [X], expected, block_sizes=[8])


def python_counter(x):
    out = torch.empty([x.size(0)], dtype=torch.float32, device=x.device)
    for tile in hl.tile(x.size(0)):
        count = 0
        best = float("-inf")
        for tile_n in hl.tile(x.size(1), block_size=16):
            count += 1
            best = (
                torch.maximum(x[tile, tile_n].amax(-1), torch.full_like(x[tile, 0], best))
                if False
                else max(x[tile, tile_n].amax(), best)
            )
        out[tile] = best + count
    return out


def test_python_numbers_become_carried():
    expected = torch.cat([X[i : i + 8].amax().expand(8) for i in range(0, 40, 8)])[:37] + 5
    check(python_counter, [X], expected, block_sizes=[8])


class Pair(NamedTuple):
    total: torch.Tensor
    largest: torch.Tensor


def combine(state: Pair, values) -> Pair:
    return Pair(state.total + values.sum(-1), torch.maximum(state.largest, values.amax(-1)))


def named_tuples(x):
    out = torch.empty([x.size(0), 2], dtype=torch.float32, device=x.device)
    for tile in hl.tile(x.size(0)):
        state = Pair(hl.zeros([tile]), hl.full([tile], float("-inf")))
        for tile_n in hl.tile(x.size(1), block_size=16):
            state = combine(state, x[tile, tile_n])
        out[tile, 0] = state.total
        out[tile, 1] = state.largest
    return out


def test_named_tuples_are_carried():
    check(named_tuples, [X], torch.stack([X.sum(-1), X.amax(-1)], -1))


def list_state(x):
    out = torch.empty([x.size(0)], dtype=torch.float32, device=x.device)
    for tile in hl.tile(x.size(0)):
        accs = [hl.zeros([tile]), hl.zeros([tile])]
        for tile_n in hl.tile(x.size(1), block_size=16):
            for i in hl.static_range(2):
                accs[i] = accs[i] + x[tile, tile_n].sum(-1) * (i + 1)
        out[tile] = accs[0] + accs[1]
    return out


def test_lists_are_carried():
    check(list_state, [X], X.sum(-1) * 3)


def gathers(table, ids):
    n, d = ids.size(0), table.size(1)
    out = torch.empty([n, d], dtype=table.dtype, device=table.device)
    for tile_n, tile_d in hl.tile([n, d]):
        out[tile_n, tile_d] = table[ids[tile_n], tile_d]
    return out


def test_gather_of_rows():
    ids = torch.randint(0, 37, (50,))
    check(gathers, [X, ids], X[ids])


def cartesian(table, rows, columns):
    out = torch.empty([rows.size(0), columns.size(0)], dtype=table.dtype, device=table.device)
    for tile_r, tile_c in hl.tile(out.shape):
        out[tile_r, tile_c] = table[rows[tile_r], columns[tile_c]]
    return out


def test_index_tensors_of_rank_one_are_cartesian():
    rows, columns = torch.randint(0, 37, (11,)), torch.randint(0, 70, (13,))
    check(cartesian, [X, rows, columns], X[rows][:, columns])


def broadcast_index(x):
    out = torch.empty_like(x)
    for tile0, tile1 in hl.tile(x.shape, block_size=[16, 16]):
        out[tile0, tile1] = x[tile0.index[:, None], tile1.index[None, :]] + hl.load(x, [tile0.index, tile1])
    return out


def test_tile_index_as_an_index():
    check(broadcast_index, [X], X * 2)
    assert "gather" not in str(imported(broadcast_index, X).module)


def flat_gather(x):
    out = torch.empty_like(x)
    flat = x.view(-1)
    width = x.size(1)
    for tile0, tile1 in hl.tile(x.shape, block_size=[16, 16]):
        at = tile0.index[:, None] * width + tile1.index[None, :]
        inside = (tile0.index < x.size(0))[:, None] & (tile1.index < width)[None, :]
        out[tile0, tile1] = hl.load(flat, [at], extra_mask=inside)
    return out


def test_flat_gather_with_a_mask():
    check(flat_gather, [X], X)


def shifted(x):
    n = x.size(0) - 1
    out = torch.empty([n, x.size(1)], dtype=x.dtype, device=x.device)
    for tile in hl.tile(n):
        out[tile, :] = x[tile + 1, :] - x[tile.index, :]
    return out


def test_tile_plus_offset():
    check(shifted, [X], X[1:] - X[:-1])


def size_one(x, b):
    out = torch.empty_like(x)
    for tile0, tile1 in hl.tile(x.shape):
        out[tile0, tile1] = x[tile0, tile1] + b[tile0, tile1]
    return out


def test_dimension_of_one_repeats():
    check(size_one, [X, ROW[None, :]], X + ROW)
    check(size_one, [X, COLUMN[:, None]], X + COLUMN[:, None])


def slices(x):
    out = torch.zeros_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, 0:35] = x[tile, 35:70]
        out[tile, 35:] = x[tile, ::2] + x[tile, -1][:, None]
    return out


def test_static_slices():
    check(slices, [X], torch.cat([X[:, 35:], X[:, ::2] + X[:, -1:]], 1))


def scalar_store(x):
    out = torch.empty_like(x)
    total = torch.zeros([], dtype=x.dtype, device=x.device)
    for tile0, tile1 in hl.tile(x.shape):
        out[tile0, tile1] = 3
    for _ in hl.grid(1):
        total[()] = x[0, :].sum()
    return out, total


def test_scalar_stores():
    check(scalar_store, [X], (torch.full_like(X, 3), X[0].sum()))


def in_place(x, y):
    for tile in hl.tile(x.size(0)):
        x[tile, :] += y[tile, :]
    return x


def test_arguments_written_in_place():
    a, b = X.clone(), torch.randn_like(X)
    got = reference(in_place, a, b)
    assert got is a
    torch.testing.assert_close(a, X + b)
    assert imported(in_place, X, b).mutated == [0]


def no_result(x, out):
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] * 2


def test_kernel_without_a_result():
    out = torch.zeros_like(X)
    assert reference(no_result, X, out) is None
    torch.testing.assert_close(out, X * 2)


def phases(x):
    middle = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        middle[tile, :] = x[tile, :] + 1
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(1)):
        out[:, tile] = middle[:, tile].cumsum(0)
    return out, middle, None, 5


def test_several_top_level_loops_and_results():
    kernel = imported(phases, X)
    got = reference(phases, X)
    torch.testing.assert_close(got[0], (X + 1).cumsum(0))
    torch.testing.assert_close(got[1], X + 1)
    assert got[2:] == (None, 5)
    assert len(kernel.blocks) == 2


def host_views(x):
    a, b = x.t().chunk(2, 0)
    out = torch.empty([a.size(0) + b.size(0), x.size(0)], dtype=x.dtype, device=x.device)
    top, bottom = out[: a.size(0)], out[a.size(0) :]
    for tile in hl.tile(a.size(0)):
        top[tile, :] = b[tile, :]
        bottom[tile, :] = a[tile, :]
    return out.unsqueeze(0)


def test_views_of_host_tensors():
    t = X.t()
    check(host_views, [X], torch.cat([t[35:], t[:35]])[None])


def host_operations(x):
    scale = torch.sum(x * 2, dim=1)
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] * scale[tile][:, None]
    return out.to(torch.float64)


def test_torch_on_the_host():
    check(host_operations, [X], (X * (X * 2).sum(1, keepdim=True)).double())


def item(x, lengths):
    longest = int(lengths.max().item())
    out = torch.zeros([longest], dtype=x.dtype, device=x.device)
    for tile in hl.tile(longest):
        out[tile] = x[0, tile]
    return out


def test_values_read_on_the_host_are_guards():
    lengths = torch.tensor([3, 9, 4])
    check(item, [X, lengths], X[0, :9])
    kernel = imported(item, X, lengths)
    assert kernel.guards[0].holds([X, lengths])
    assert not kernel.guards[0].holds([X, lengths + 1])


SCALE = 2.5


def uses_global(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] * SCALE + ROW[None, :]
    return out


def test_globals_are_guards_and_hidden_tensors(monkeypatch):
    kernel = imported(uses_global, X)
    assert len(kernel.hidden) == 1 and kernel.hidden[0] is ROW
    check(uses_global, [X], X * SCALE + ROW)
    assert all(g.holds([X, ROW]) for g in kernel.guards)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert not all(g.holds([X, ROW]) for g in kernel.guards)


def epilogue_kernel(x, y, epilogue):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile(out.shape):
        acc = hl.zeros([tile_m, tile_n])
        for tile_k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = epilogue(acc, (tile_m, tile_n))
    return out


def test_lambda_epilogue_with_a_closure():
    bias = torch.randn(45)
    check(epilogue_kernel, [X, Y, lambda acc, tile: torch.relu(acc + bias[tile[1]])], torch.relu(X @ Y + bias))


def boolean_logic(x, flag):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0), block_size=8):
        if tile.begin > 0 and tile.begin < 16 or not flag:
            v = x[tile, :] * 2
        else:
            v = x[tile, :] if 0 <= tile.begin < 8 else -x[tile, :]
        out[tile, :] = v
    return out


def test_boolean_operators_and_chains():
    factor = torch.tensor([1.0] * 8 + [2.0] * 8 + [-1.0] * 21)
    check(boolean_logic, [X, True], X * factor[:, None])


def tile_numbers(x):
    out = torch.empty([x.size(0)], dtype=torch.int32, device=x.device)
    for tile in hl.tile(x.size(0), block_size=8):
        out[tile] = tile.index + tile.id * 100 + tile.count * 10000 + tile.block_size * 0 + (tile.end - tile.begin)
    return out


def test_tile_properties():
    i = torch.arange(37)
    expected = i + i // 8 * 100 + 50000 + torch.where(i < 32, 8, 5)
    check(tile_numbers, [X], expected.int())


def range_loop(x):
    out = torch.empty([x.size(0)], dtype=x.dtype, device=x.device)
    for tile in hl.tile(x.size(0)):
        acc = hl.zeros([tile])
        for j in range(x.size(1)):
            acc = acc + x[tile, j] * (j % 3)
        out[tile] = acc
    return out


def test_python_range_in_a_device_loop():
    check(range_loop, [X], (X * (torch.arange(70) % 3)).sum(-1), tolerance=1e-3)


def grid_2d(x):
    out = torch.empty_like(x)
    for i, j in hl.grid([x.size(0), x.size(1)]):
        out[i, j] = x[i, j] + i * 10 + j
    return out


def test_grid_of_two_dimensions():
    small = X[:4, :5].contiguous()
    check(grid_2d, [small], small + torch.arange(4)[:, None] * 10 + torch.arange(5))


def tunable(x):
    factor = hl.register_tunable("factor", 4)
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] * factor
    return out


def test_tunables():
    check(tunable, [X], X * 4)
    check(tunable, [X], X * 7, tunables={"factor": 7})
    assert imported(tunable, X).tunables == {"factor": 4}


def test_block_sizes_from_a_function():
    seen = []

    def choose(blocks):
        seen.extend(blocks)
        return [16 for _ in blocks]

    kernel = imported(epilogue_kernel, X, Y, lambda acc, tile: acc, block_sizes=choose)
    assert [b.extent for b in seen] == [37, 45, 70]
    assert [b.size for b in kernel.blocks] == [16, 16, 16]


@pytest.mark.parametrize("shape", [(0, 5), (1, 1)])
def test_empty_and_tiny(shape):
    x = torch.randn(shape)
    check(in_place, [x.clone(), x], x * 2)


@pytest.mark.parametrize(
    ("fragment", "wanted"),
    [
        (SimpleNamespace(search_values=lambda most: [0, most - 1]), [0, 15]),
        (SimpleNamespace(choices=("a", "b")), ["a", "b"]),
        (SimpleNamespace(low=4, high=40), [4, 8, 16, 32]),
        (SimpleNamespace(low=8), [8]),
        (SimpleNamespace(low=0, high=4), []),
        (SimpleNamespace(low=1.5, high=4), []),
        (7, []),
    ],
)
def test_what_a_tunable_may_be(fragment: object, wanted: list[object]) -> None:
    """By Helion's fragments: those that list values, enumerate them, or are powers of two between two ends."""
    assert _choices(fragment) == wanted


def triangle(x):
    out = torch.empty_like(x)
    rows = hl.register_block_size(x.size(0))
    for tile in hl.tile(x.size(0), block_size=rows):
        acc = hl.zeros([tile, x.size(1)], dtype=torch.float32)
        for part in hl.tile((tile.id + 1) * rows):
            acc = acc + torch.where(part.index < x.size(0), part.index, 0).sum() + x[tile, :]
        out[tile, :] = acc
    return out


def test_sizes_in_the_arithmetic_of_loops_are_those_that_are_chosen():
    """The bound of the inner loop follows the block's size: any other is a substitution, and no import."""
    found = imported(triangle, torch.empty(64, 8))
    assert "tile.block_size" in str(found.module) and not any(block.read for block in found.blocks)
