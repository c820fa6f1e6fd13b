"""Cells that disturb each other: every target says what the reference says, at import where shapes show it."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "pallas:interpret", "pallas:strict", "triton:interpret"]
CHIPS = ["pallas:v6e", "triton:sm90"]
X = torch.randn(20, 300)


def added_to_all(x):
    out = torch.zeros([x.size(1)])
    for t in hl.tile(x.size(0), block_size=8):
        out[:] += x[t, :].sum(0)
    return out


def added_to_columns(x):
    out = torch.zeros([x.size(1)])
    for i, j in hl.tile(x.size(), block_size=[8, 128]):
        out[j] += x[i, j].sum(0)
    return out


def added_to_one(x):
    out = torch.zeros([3])
    for t in hl.tile(x.size(0), block_size=8):
        out[1] += x[t, :].sum()
    return out


def numbered(x):
    out = torch.zeros([1], dtype=torch.int32)
    for t in hl.tile(x.size(0), block_size=8):
        out[0] = t.id
    return out


def next_row_in_place(x):
    for t in hl.tile(x.size(0) - 1, block_size=1):
        x[t, :] = x[t.index + 1, :]
    return x


def overlapping(x):
    out = torch.zeros([64])
    for t in hl.tile(x.size(0), block_size=4):
        out[t.begin + hl.arange(8)] = out[t.begin + hl.arange(8)] + 1
    return out


def through_a_view(x):
    out = torch.zeros([x.size(1)])
    view = out.reshape(2, -1)
    for t in hl.tile(x.size(0), block_size=8):
        view[1, :] += x[t, :150].sum(0)
    return out


def beside_updates(x):
    out = torch.zeros([x.size(1)])
    for t in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [slice(None)], x[t, :].sum(0))
        out[0] = 1.0
    return out


VISIBLE = [
    added_to_all, added_to_columns, added_to_one, numbered, next_row_in_place, overlapping, through_a_view,
    beside_updates,
]  # fmt: skip


@pytest.mark.parametrize("kernel", VISIBLE, ids=lambda kernel: kernel.__name__)
def test_what_shapes_show_is_refused_at_import(kernel) -> None:
    """In the same words, with both places."""
    said = set()
    for target in [*TARGETS, *CHIPS]:
        with pytest.raises(kopt.AccessError, match="of another cell of the grid accesses: cells run") as error:
            kopt.kernel(kernel).lower(X, target=target)
        said.add(str(error.value))
    assert len(said) == 1
    assert said.pop().count(__file__) == 2


def whole(buffer, values):
    for i in hl.grid(values.size(0)):
        buffer[:] = values[i]
    return buffer


def sums_of_rows(buffer, values):
    for t in hl.tile(values.size(0), block_size=1):
        buffer[:] = values[t].sum()
    return buffer


def at_a_number(buffer, values):
    for i in hl.grid(values.size(0)):
        buffer[values[i].to(torch.int32) * 0] = values[i]
    return buffer


@pytest.mark.parametrize("kernel", [whole, sums_of_rows, at_a_number], ids=lambda kernel: kernel.__name__)
def test_other_values_in_one_place_are_refused_and_equal_ones_are_not(kernel) -> None:
    """Which of them it is, is seen before each call."""
    same, other = torch.full([5], 2.0), torch.arange(5.0)
    said = set()
    for target in TARGETS:
        run = kopt.kernel(kernel).lower(torch.zeros(1), same, target=target).compile()
        assert run(torch.zeros(1), same).tolist() == [2.0]
        with pytest.raises(kopt.AccessError, match="'tile.store' writes what 'tile.store' of another cell") as error:
            run(torch.zeros(1), other)
        said.add(str(error.value))
    assert len(said) == 1


def halved_ids(x):
    out = torch.zeros([x.size(0)])
    for t in hl.tile(x.size(0), block_size=1):
        out[t.id // 2] = x[t, 0].sum()
    return out


def halved_begins(x):
    out = torch.zeros([x.size(0), x.size(1)])
    for t in hl.tile(x.size(0), block_size=2):
        out[t.begin // 4, :] = x[t, :].sum(0)
    return out


def halved_in_both(x):
    out = torch.ones([x.size(0), 3])
    for i, j in hl.tile([x.size(0), 6], block_size=[1, 1]):
        out[i.id // 2, j.id // 2] = x[i, j].sum()
    return out


@pytest.mark.parametrize("kernel", [halved_ids, halved_begins, halved_in_both], ids=lambda kernel: kernel.__name__)
def test_cells_that_follow_one_another_to_one_place_are_refused_as_any(kernel) -> None:
    """Where their values differ; equal ones are stored, beside what there was."""
    same, said = torch.full([8, 130], 2.0), set()
    wanted = kopt.kernel(kernel).on("eager")(same)
    for target in TARGETS:
        run = kopt.kernel(kernel).on(target)
        assert torch.equal(run(same), wanted)
        with pytest.raises(kopt.AccessError, match="'tile.store' writes what 'tile.store' of another cell") as error:
            run(X[:8, :130].contiguous())
        said.add(str(error.value))
    assert len(said) == 1


def in_one_cell(x):
    """One cell may come back to what it wrote."""
    out = torch.zeros([x.size(1)])
    for _ in hl.tile(1):
        for k in hl.tile(x.size(0), block_size=8):
            out[:] += x[k, :].sum(0)
    return out


def by_atomics(x):
    out = torch.zeros([x.size(1)])
    for t in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [slice(None)], x[t, :].sum(0))
    return out


def in_their_own_places(x):
    sums, out = torch.zeros(x.size()), torch.zeros([x.size(1)])
    for j in hl.tile(x.size(1), block_size=128):
        for i in hl.tile(x.size(0), block_size=8):
            sums[i, j] = x[i, j]
            out[j] += sums[i, j].sum(0)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [in_one_cell, by_atomics, in_their_own_places], ids=lambda kernel: kernel.__name__)
def test_what_is_in_order_is_right(kernel, target: str) -> None:
    torch.testing.assert_close(kopt.kernel(kernel).on(target)(X), X.sum(0))


def last_sum(x):
    out = torch.zeros([x.size(0)])
    for i in hl.tile(x.size(0), block_size=8):
        for j in hl.tile(x.size(1), block_size=128):
            out[i] = x[i, j].sum(1)
    return out


def last_sum_in_a_column(x):
    out = torch.zeros([x.size(0), 2])
    for i in hl.tile(x.size(0), block_size=8):
        for j in hl.tile(x.size(1), block_size=128):
            out[i, 1] = x[i, j].sum(1)
    return out[:, 1]


def last_sum_beside_what_moves(x):
    out, twice = torch.zeros([x.size(0)]), torch.zeros(x.size())
    for i in hl.tile(x.size(0), block_size=8):
        for j in hl.tile(x.size(1), block_size=128):
            twice[i, j] = x[i, j] * 2
            out[i] = x[i, j].sum(1)
    return out


def last_sum_beside_updates(x):
    out, total = torch.zeros([x.size(0)]), torch.zeros([1])
    for i in hl.tile(x.size(0), block_size=8):
        for j in hl.tile(x.size(1), block_size=128):
            out[i] = x[i, j].sum(1)
            hl.atomic_add(total, [0], x[i, j].sum())
    return out


def last_of_pairs(x):
    out = torch.zeros([x.size(0), 5])
    for i in hl.tile(x.size(0), block_size=8):
        for j in hl.tile(10, block_size=1):
            out[i, j.id // 2] = x[i, j].sum(1)
    return out


@pytest.mark.parametrize("target", [*TARGETS, "eager"])
def test_of_visits_that_share_a_place_the_last_one_s_value_stays(target: str) -> None:
    assert torch.equal(kopt.kernel(last_of_pairs).on(target)(X), X[:, 1:10:2])


LAST = [last_sum, last_sum_in_a_column, last_sum_beside_what_moves, last_sum_beside_updates]


@pytest.mark.parametrize("target", [*TARGETS, "eager"])
@pytest.mark.parametrize("kernel", LAST, ids=lambda kernel: kernel.__name__)
def test_of_a_loop_inside_a_cell_the_last_visit_s_value_stays(kernel, target: str) -> None:
    """Its visits run in order, as a dimension of the grid too."""
    torch.testing.assert_close(kopt.kernel(kernel).on(target)(X), X[:, 256:].sum(1))


@pytest.mark.parametrize("loop_type", ["grid", "pipeline", "fori", "resident"])
def test_the_last_visit_s_value_stays_however_the_loop_runs(loop_type: str) -> None:
    low = kopt.kernel(last_sum).lower(X, target="pallas:interpret", config={"loop_type": loop_type})
    torch.testing.assert_close(low.compile()(X), X[:, 256:].sum(1))


def one_of_the_rows(out, rows):
    for t in hl.tile(rows.size(0), block_size=1):
        out[rows[t]] = t.index.to(torch.float32) + 1
    return out


def rows_of_their_own(x, places):
    for number in hl.grid(places.size(0)):
        rows = places[number] + hl.arange(4)
        x[rows, :] = x[rows, :] * 2
    return x


@pytest.mark.parametrize("target", TARGETS)
def test_computed_rows_may_be_read_by_the_cell_that_stores_them(target: str) -> None:
    """Which cells have which rows is seen before each call."""
    apart, meeting = torch.tensor([12, 0, 4], dtype=torch.int32), torch.tensor([12, 0, 3], dtype=torch.int32)
    wanted = X.clone()
    for place in apart.tolist():
        wanted[place : place + 4] *= 2
    torch.testing.assert_close(kopt.kernel(rows_of_their_own).on(target)(X.clone(), apart), wanted)
    with pytest.raises(kopt.AccessError, match="of another cell of the grid accesses: cells run in no order"):
        kopt.kernel(rows_of_their_own).on(target)(X.clone(), meeting)


@pytest.mark.parametrize("target", TARGETS)
def test_computed_rows_may_be_named_twice(target: str) -> None:
    """One of the values stays, as in torch."""
    found = kopt.kernel(one_of_the_rows).on(target)(torch.zeros(3), torch.tensor([2, 0, 2, 2], dtype=torch.int32))
    assert found[:2].tolist() == [2, 0] and found[2] in (1, 3, 4)


def test_on_a_chip_the_last_value_is_a_remark() -> None:
    """Where nothing shows that the values differ."""
    low = kopt.kernel(whole).lower("f32[8]", "f32[5]", target="pallas:v6e")
    assert any("the last one's stay" in remark.message for remark in low.remarks)
