"""What comes before what when all ranks run, and which accesses nothing orders: events by hand, without IR."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp

from kopt.analysis.remote.conflicts import conflicts
from kopt.analysis.remote.events import (
    Arrive,
    Await,
    AwaitSignal,
    Enter,
    Event,
    Flag,
    Leave,
    Pass,
    RefBlock,
    Signal,
    StartCopy,
    Touch,
)
from kopt.analysis.remote.order import RankRun, run

OP = TestOp(result_types=[i32, i32, i32])
MINE, INBOX, FLAGS = OP.results
SENT, GOT, FREE = (Flag(FLAGS, (number,)) for number in range(3))


def block(ref=MINE, rows: tuple[int, int] = (0, 8)) -> RefBlock:
    return RefBlock(ref, (rows, (0, 128)))


def copy(to: int, rows: tuple[int, int] = (0, 8), size: int = 64, received: Flag = GOT) -> StartCopy:
    return StartCopy(OP, block(MINE, rows), block(INBOX, rows), to, SENT, received, size)


def reads(ref=INBOX, rows: tuple[int, int] = (0, 8)) -> Touch:
    return Touch(OP, block(ref, rows), False)


def writes(ref=MINE, rows: tuple[int, int] = (0, 8)) -> Touch:
    return Touch(OP, block(ref, rows), True)


def took(flag: Flag = GOT, size: int = 64) -> Await:
    return Await(OP, flag, size)


BARRIER: list[Event] = [Arrive(OP), Pass(OP)]


def go(*ranks: list[Event]) -> RankRun:
    return run([[Enter(OP), *events, Leave(OP)] for events in ranks])


def kinds(found: RankRun) -> list[tuple[int, int]]:
    """The ranks and numbers of events that are in conflict."""
    return [(one.begin[0], one.begin[1]) for pair in conflicts(found) for one in pair]


def test_a_rank_runs_in_order_and_ranks_do_not() -> None:
    found = go([reads()], [reads()])
    assert found.stuck == []
    assert found.is_before((0, 0), (0, 2)) and not found.is_before((0, 2), (0, 0))
    assert not found.is_before((0, 0), (1, 2)) and not found.is_before((1, 0), (0, 2))
    assert found.is_before((0, 1), (0, 1)) and not found.is_before(None, (0, 1))


def test_a_barrier_orders_what_is_before_it_on_all_ranks() -> None:
    found = go([reads(), *BARRIER], [*BARRIER, reads()], [*BARRIER])
    assert found.is_before((0, 1), (1, 3)) and not found.is_before((1, 3), (0, 1))
    assert found.is_before((2, 0), (0, 3)) and not found.is_before((2, 2), (0, 3))


def test_a_second_barrier_is_another() -> None:
    found = go([*BARRIER, reads(), *BARRIER], [*BARRIER, *BARRIER, reads()])
    assert found.is_before((0, 3), (1, 5))
    assert not found.is_before((0, 3), (1, 2))


def test_a_rank_that_does_not_come_leaves_all_waiting() -> None:
    found = go([*BARRIER], [reads()])
    assert found.stuck == [(0, 2)]


def test_a_signal_orders_what_was_before_it() -> None:
    found = go([reads(), Signal(OP, FREE, 1)], [AwaitSignal(OP, FREE), reads()])
    assert found.is_before((0, 2), (1, 1)) and not found.is_before((1, 0), (0, 3))


def test_a_wait_for_nothing_never_ends() -> None:
    assert go([AwaitSignal(OP, FREE)], []).stuck == [(0, 1)]
    assert go([Signal(OP, FREE, 1)], [AwaitSignal(OP, FREE), AwaitSignal(OP, FREE)]).stuck == [(1, 2)]


def test_signals_that_nobody_waits_for_are_left_over() -> None:
    found = go([Signal(OP, FREE, 1), Signal(OP, FREE, 1)], [AwaitSignal(OP, FREE)])
    assert list(found.left_over()) == [(0, 2)]


def test_a_wait_that_another_rank_may_satisfy_orders_nothing() -> None:
    """Of two ranks that signal, one wait does not know which one came; two waits know both."""
    one, two = [Signal(OP, FREE, 2)], [AwaitSignal(OP, FREE)]
    found = go(one, one, two * 2)
    assert not found.is_before((0, 1), (2, 1)) and not found.is_before((1, 1), (2, 1))
    assert found.is_before((0, 1), (2, 2)) and found.is_before((1, 1), (2, 2))


def test_signals_of_one_rank_come_in_their_order() -> None:
    found = go([Signal(OP, FREE, 1), reads(), Signal(OP, FREE, 1)], [AwaitSignal(OP, FREE)] * 2)
    assert found.is_before((0, 1), (1, 1)) and not found.is_before((0, 2), (1, 1))
    assert found.is_before((0, 2), (1, 2))


def test_a_copy_has_left_and_arrived_where_it_was_waited_for() -> None:
    found = go([copy(1), took(SENT)], [took()])
    (transfer,) = found.transfers
    assert (transfer.start, transfer.left, transfer.arrived) == ((0, 1), (0, 2), (1, 1))
    (transfer,) = go([copy(1)], [took()]).transfers
    assert (transfer.left, transfer.arrived) == (None, (1, 1))


def test_copies_that_share_a_semaphore_are_known_when_all_have_come() -> None:
    found = go([copy(1), copy(1)], [took(), took()])
    assert [transfer.arrived for transfer in found.transfers] == [(1, 2), (1, 2)]


def test_waits_for_another_size_are_mixed() -> None:
    assert list(go([copy(1)], [took()]).mixed()) == []
    assert list(go([copy(1)], [took(size=32)]).mixed()) == [(1, 1)]
    assert list(go([copy(1, size=32)], [took()]).mixed()) == [(1, 1)]


@pytest.mark.parametrize(
    ("ranks", "wanted"),
    [
        # Read after it has arrived; before; elsewhere; and what is sent is written.
        (([copy(1), took(SENT)], [took(), reads()]), []),
        (([copy(1), took(SENT)], [reads(), took()]), [(0, 1), (1, 1)]),
        (([copy(1), took(SENT)], [reads(INBOX, (8, 16)), took()]), []),
        (([copy(1), took(SENT)], [reads(MINE), took()]), []),
        (([copy(1), writes(), took(SENT)], [took()]), [(0, 1), (0, 2)]),
        (([copy(1), took(SENT), writes()], [took()]), []),
        (([copy(1), reads(MINE), took(SENT)], [took()]), []),
        # Two copies into one place.
        (([copy(2), took(SENT)], [copy(2), took(SENT)], [took(), took()]), [(0, 1), (1, 1)]),
        (([copy(2, (0, 4)), took(SENT)], [copy(2, (4, 8)), took(SENT)], [took(), took()]), []),
    ],
)
def test_what_nothing_orders_is_in_conflict(ranks: tuple[list[Event], ...], wanted: list[tuple[int, int]]) -> None:
    assert kinds(go(*ranks)) == wanted


def test_each_pair_is_named_once() -> None:
    """However many blocks of rows there are that both have a part of."""
    parts = [reads(INBOX, (0, 4)), reads(INBOX, (4, 8))]
    both = [copy(2), took(SENT)]
    found = go(both, both, [took(), took(), *parts])
    assert kinds(found) == [(0, 1), (1, 1)]
