"""Loads by computed numbers of arrays that the same launch writes: right, or refused with the place."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import LoweringError

TARGETS = ["pallas:interpret", "triton:interpret", "eager"]


def update_then_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        w = x[i]
        hl.atomic_add(out, [i.id, lanes], w)
        v = out[i.id, lanes]
        hl.atomic_add(out, [i.id, lanes], v * w)
    return out


def update_then_load_counted(x, out):
    for i in hl.tile(x.size(0), block_size=2):
        w = x[i]
        hl.atomic_add(out, [i.id, hl.arange(2)], w)
        v = out[i.id, hl.arange(2)]
        hl.atomic_add(out, [i.id, hl.arange(2)], v * w)
    return out


def update_then_load_others(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        w = x[i]
        hl.atomic_add(out, [i.id, lanes], w)
        v = out[i.id, 1 - lanes]
        hl.atomic_add(out, [i.id, lanes], v * w)
    return out


def exchange_then_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        w = x[i]
        hl.atomic_xchg(out, [i.id, lanes], w)
        hl.atomic_add(out, [i.id, lanes], out[i.id, 1 - lanes] * w)
    return out


def load_update_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        before = out[i.id, lanes]
        hl.atomic_add(out, [i.id, lanes], x[i] + before)
        after = out[i.id, lanes]
        hl.atomic_add(out, [i.id, lanes], after * before)
    return out


def load_then_update(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        v = out[i.id, 1 - lanes]
        hl.atomic_add(out, [i.id, lanes], v * x[i])
    return out


def load_then_update_in_a_loop(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        for k in hl.tile(6, block_size=2):
            v = out[i.id, 1 - lanes]
            hl.atomic_add(out, [i.id, lanes], v * x[i] + k.id)
    return out


def load_then_update_in_a_python_loop(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        for _ in range(2):
            v = out[i.id, 1 - lanes]
            hl.atomic_add(out, [i.id, lanes], v * x[i])
    return out


def store_then_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        out[i.id, :] = x[i]
        out[i.id, :] = out[i.id, 1 - lanes] * 2
    return out


def scattered_store_then_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        out[i.id, 1 - lanes] = x[i]
        out[i.id, :] = out[i.id, lanes] * 2 + x[i]
    return out


def load_store_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        before = out[i.id, 1 - lanes]
        out[i.id, :] = x[i]
        out[i.id, :] = out[i.id, 1 - lanes] + before
    return out


def load_then_store_in_a_loop(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        for k in hl.tile(6, block_size=2):
            v = out[i.id, 1 - lanes]
            out[i.id, :] = v * x[i] + k.id
    return out


def update_then_store_then_load(x, out):
    lanes = torch.arange(out.size(1))
    for i in hl.tile(x.size(0), block_size=2):
        before = out[i.id, lanes]
        hl.atomic_add(out, [i.id, 1 - lanes], x[i])
        out[i.id, :] = out[i.id, 1 - lanes] + before
    return out


def update_of_a_view(x, out):
    flat = out.view(-1)
    for i in hl.tile(x.size(0), block_size=2):
        lanes = hl.arange(2)
        hl.atomic_add(flat, [i.id * 2 + lanes], x[i])
        v = out[i.id, 1 - lanes]
        hl.atomic_add(flat, [i.id * 2 + lanes], v * x[i])
    return out


def load_of_a_view(x, out):
    flat = out.view(-1)
    for i in hl.tile(x.size(0), block_size=2):
        lanes = hl.arange(2)
        hl.atomic_add(out, [i.id, lanes], x[i])
        v = flat[i.id * 2 + 1 - lanes]
        hl.atomic_add(out, [i.id, lanes], v * x[i])
    return out


def store_of_a_view(x, out):
    flat = out.view(-1)
    for i in hl.tile(x.size(0), block_size=2):
        lanes = hl.arange(2)
        flat[i.id * 2 + lanes] = x[i]
        out[i.id, :] = out[i.id, 1 - lanes] * 2
    return out


def update_then_load_rows(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        rows = ids[i]
        hl.atomic_add(out, [rows, slice(None)], x[i, :])
        hl.atomic_add(out, [rows, slice(None)], out[rows, :] * 2)
    return out


def load_then_update_rows(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        rows = ids[i]
        v = out[rows, :]
        hl.atomic_add(out, [rows, slice(None)], x[i, :] * v)
    return out


def update_then_load_a_row(x, out, ids):
    for g in hl.grid(ids.size(0)):
        row = ids[g]
        hl.atomic_add(out, [row, slice(None)], x[g, :])
        hl.atomic_add(out, [row, slice(None)], out[row, :])
    return out


def update_tiles_then_load_rows(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        hl.atomic_max(out, [i, slice(None)], x[i, :])
        hl.atomic_add(out, [i, slice(None)], out[ids[i], :])
    return out


def update_in_a_branch_then_load_rows(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        if i.begin > 0:
            hl.atomic_add(out, [i, slice(None)], x[i, :])
        hl.atomic_add(out, [i, slice(None)], out[ids[i], :])
    return out


def load_then_update_columns_of_their_own(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        for j in hl.tile(x.size(1), block_size=128):
            v = out[ids[i], j]
            hl.atomic_add(out, [i, j], x[i, j] * v)
    return out


def load_columns_of_the_visit_before(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        for j in hl.tile(x.size(1), block_size=128):
            v = out[ids[i], :128]
            hl.atomic_add(out, [i, j], x[i, j] * v)
    return out


def load_then_update_while(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        visit = 0
        while visit < 3:
            v = out[ids[i], 0]
            hl.atomic_add(out, [i, 0], v)
            visit = visit + 1
    return out


def store_then_load_rows(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        rows = ids[i]
        out[rows, :] = x[i, :]
        out[rows, :] = out[rows, :] + 1
    return out


def update_then_load_counted_rows(x, out, ids):
    for i in hl.tile(x.size(0), block_size=8):
        rows = i.begin + hl.arange(8)
        hl.atomic_add(out, [rows, slice(None)], x[i, :])
        hl.atomic_add(out, [rows, slice(None)], out[rows, :])
    return out


def load_then_update_counted_rows_in_a_loop(x, out, ids):
    for i in hl.tile(x.size(0), block_size=8):
        rows = i.begin + hl.arange(8)
        for _ in hl.tile(24, block_size=8):
            v = out[rows, :]
            hl.atomic_add(out, [rows, slice(None)], x[i, :] + v)
    return out


def update_then_load_one_row_or_another(x, out, ids):
    for i in hl.tile(x.size(0), block_size=8):
        rows = torch.where(i.index > 3, i.index, i.begin)
        hl.atomic_add(out, [i, slice(None)], x[i, :])
        hl.atomic_add(out, [i, slice(None)], out[rows, :])
    return out


def update_then_load_transposed(x, out, ids):
    for i in hl.tile(x.size(0), block_size=8):
        lanes = hl.arange(256)
        hl.atomic_add(out, [i, slice(None)], x[i, :])
        hl.atomic_add(out, [i, slice(None)], out[i.index[None, :], lanes[:, None]].T)
    return out


def load_what_other_cells_update(x, out, ids):
    for i in hl.tile(ids.size(0), block_size=8):
        v = out[31 - ids[i], :]
        hl.atomic_add(out, [ids[i], slice(None)], x[i, :] * v)
    return out


OF_A_ROW = [
    update_then_load, update_then_load_counted, update_then_load_others, exchange_then_load, load_update_load,
    load_then_update, load_then_update_in_a_loop, load_then_update_in_a_python_loop, store_then_load,
    scattered_store_then_load, load_store_load, load_then_store_in_a_loop, update_then_store_then_load,
    update_of_a_view, load_of_a_view, store_of_a_view,
]  # fmt: skip
OF_ROWS = [
    update_then_load_rows, load_then_update_rows, update_then_load_a_row, update_tiles_then_load_rows,
    update_in_a_branch_then_load_rows, load_then_update_columns_of_their_own, load_columns_of_the_visit_before,
    load_then_update_while, store_then_load_rows, update_then_load_counted_rows,
    load_then_update_counted_rows_in_a_loop, update_then_load_one_row_or_another, update_then_load_transposed,
]  # fmt: skip
#: What Pallas has either before all writes, or as blocks of the array that it writes.
RIGHT = {
    update_then_load_counted, load_then_update, load_then_update_rows, update_then_load_a_row,
    load_then_update_columns_of_their_own, update_then_load_counted_rows, load_then_update_counted_rows_in_a_loop,
    update_then_load_one_row_or_another, update_then_load_transposed,
}  # fmt: skip


def _arguments(kernel):
    """Small whole numbers, which every order of sums leaves exact; cells have rows of their own."""
    if kernel in OF_A_ROW:
        return torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    torch.manual_seed(0)
    x, out = (torch.randint(-9, 9, (32, 256)).float() for _ in range(2))
    return x, out, torch.arange(32, dtype=torch.int32).view(-1, 8).flip(1).reshape(-1)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [*OF_A_ROW, *OF_ROWS], ids=lambda kernel: kernel.__name__)
def test_a_load_sees_what_its_cell_wrote_or_is_refused(kernel, target: str) -> None:
    wanted = kopt.kernel(kernel).on("reference")(*_arguments(kernel))
    try:
        found = kopt.kernel(kernel).on(target)(*_arguments(kernel))
    except LoweringError as error:
        assert target == "pallas:interpret" and kernel not in RIGHT, error
        assert __file__ in str(error)
        return
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_a_refusal_has_both_places_and_says_what_to_do() -> None:
    with pytest.raises(LoweringError, match="read by computed numbers after the same loop writes it") as error:
        kopt.kernel(update_then_load).on("pallas:interpret")(*_arguments(update_then_load))
    said = str(error.value)
    assert "v = out[i.id, lanes]" in said and f"written at {__file__}" in said and "hl.arange" in said


@pytest.mark.parametrize("target", ["reference", *TARGETS])
def test_what_other_cells_update_is_a_race(target: str) -> None:
    kernel = load_what_other_cells_update
    with pytest.raises(kopt.AccessError, match="another cell of the grid .*: cells run in no order"):
        kopt.kernel(kernel).on(target)(*_arguments(kernel))
