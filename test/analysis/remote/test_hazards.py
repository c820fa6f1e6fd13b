"""What can happen between the ranks of a kernel: a block is sent to the neighbour, with barriers and waits left out."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.remote.hazards import Hazard, hazards
from kopt.analysis.remote.unroll import NotKnown
from kopt.dialects.pallas import CallOp
from test.named import only

BLOCK, SEM = "!tile.ref<8 x 128 x f32, vmem>", "!tile.ref<1 x i32, semaphore>"
TEXT = f"""
func.func @f(%x: memref<8x128xf32>) -> memref<8x128xf32> {{{{
  %o = pallas.call @f(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>]
    semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {{{{
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: {BLOCK}, %theirs: {BLOCK},
       %sent: {SEM}, %received: {SEM}):
    tile.grid (%g: g0=1) in (1) {{{{
      %me = symm.rank group "tp"
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %to = arith.subi %c1, %me : index
      {{body}}
    }}}}
  }}}}
  func.return %o : memref<8x128xf32>
}}}}
"""
BARRIER = 'symm.barrier group "tp" ranks 2 : i32'
COPY = f"""%t = symm.remote_copy %mine[:, :] to %theirs[:, :] on %to signal %sent[0], %received[0] group "tp"
        : {BLOCK}, {BLOCK}, {SEM}, {SEM}
      symm.remote_copy_start %t"""
SENT, RECEIVED = "symm.remote_copy_wait send %t", "symm.remote_copy_wait receive %t"
READ = f"%v = tile.get %theirs[:, :] : {BLOCK} -> !tile.tile<8 x 128 x f32>"
FILL = f"%w = tile.full 1.0 : !tile.tile<8 x 128 x f32>\ntile.put %w, %{{}}[:, :] : !tile.tile<8 x 128 x f32>, {BLOCK}"
WHOLE = (BARRIER, COPY, SENT, RECEIVED, READ)


def found(*body: str, limit: int = 1000) -> list[Hazard]:
    return [*hazards(only(parse(TEXT.format(body="\n      ".join(body))), CallOp), limit)]


def messages(*body: str) -> str:
    return "\n".join(hazard.message for hazard in found(*body))


def test_a_copy_between_barrier_and_waits_is_right() -> None:
    assert found(*WHOLE) == []


@pytest.mark.parametrize(("to", "beyond"), [("addi %c1, %me", (1, 2)), ("subi %me, %c1", (0, -1))])
def test_ranks_that_there_are_not(to: str, beyond: tuple[int, int]) -> None:
    rank, other = beyond
    (hazard,) = found(BARRIER, f"%far = arith.{to} : index", COPY.replace("%to", "%far"), SENT, RECEIVED)
    assert hazard.message == f"'symm.remote_copy' of rank {rank} is to rank {other} of 2"
    assert hazard.note == "ranks are numbered from 0 to 1"


def test_without_a_barrier_a_rank_may_not_have_begun() -> None:
    (hazard,) = found(*WHOLE[1:])
    assert "with no barrier before" in hazard.message and hazard.op.name == "symm.remote_copy"


def test_a_barrier_behind_the_copy_comes_too_late() -> None:
    assert "before that has begun the kernel" in messages(COPY, BARRIER, SENT, RECEIVED, READ)


@pytest.mark.parametrize(
    ("left_out", "message"),
    [(SENT, "while its copy of 'mine' still leaves"), (RECEIVED, "before the copy of rank")],
)
def test_a_kernel_ends_with_nothing_on_its_way(left_out: str, message: str) -> None:
    assert message in messages(*(line for line in WHOLE if line != left_out))


def test_what_arrives_is_read_behind_the_wait() -> None:
    assert messages(BARRIER, COPY, READ, SENT, RECEIVED) != ""


def test_what_leaves_is_not_written_meanwhile() -> None:
    fill = FILL.format("mine")
    assert messages(BARRIER, COPY, fill, SENT, RECEIVED, READ) != ""
    assert messages(BARRIER, fill, COPY, SENT, RECEIVED, READ) == ""
    assert messages(BARRIER, COPY, SENT, fill, RECEIVED, READ) == ""


def test_a_wait_for_what_nobody_sends_is_for_ever() -> None:
    once = f"%first = arith.cmpi eq, %me, %c0 : index\nscf.if %first {{\n{BARRIER}\n}}"
    (hazard,) = found(*WHOLE, once)
    assert "waits at a barrier for a rank that ends" in hazard.message


def test_more_than_some_steps_are_not_known() -> None:
    with pytest.raises(NotKnown):
        found(*WHOLE, limit=2)


def test_nor_are_ranks_of_several_groups() -> None:
    with pytest.raises(NotKnown, match="several groups"):
        found(BARRIER.replace('"tp"', '"dp"'), *WHOLE[1:])


def test_nor_very_many_ranks() -> None:
    with pytest.raises(NotKnown, match="more than 256 ranks"):
        found(BARRIER.replace("ranks 2", "ranks 257"), *WHOLE[1:])
