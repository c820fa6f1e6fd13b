"""Collectives of the interpreter: what each rank is given, of all ranks' arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kopt
from kopt.errors import UnsupportedError
from kopt.interpreter import HANDLERS, run
from kopt.interpreter.machine import Machine
from kopt.interpreter.world import World

RANKS = 3
NUMBERS = np.random.default_rng(5).permutation(RANKS * 6 * 2).reshape(RANKS, 6, 2).astype(np.float32) - 17
SPACE = '#symm.space<"tp">'


def ranks(text: str, given: Callable[[int], list[np.ndarray]]) -> list[list[np.ndarray]]:
    """The arguments and results of each rank after a run, results last."""
    world, found, programs = World(RANKS, 0), [list[np.ndarray]() for _ in range(RANKS)], []
    for rank in range(RANKS):
        machine = Machine(kopt.parse(text), HANDLERS, seed=0, check_conflicts=True, masked=False)
        machine.world, machine.rank = world, rank
        world.machines.append(machine)

        def program(machine: Machine = machine, rank: int = rank) -> None:
            arrays = given(rank)
            found[rank] += [*arrays, *machine.call(machine.functions["f"], arrays)]

        programs.append(program)
    world.run(programs)
    return found


def parts(array: np.ndarray, rank: int) -> np.ndarray:
    return np.split(array, RANKS)[rank]


#: What rank ``r`` is given, of all ranks' arrays.
COLLECTIVES = [
    ("all_reduce add", (6, 2), lambda x, r: x.sum(0)),
    ("all_reduce max", (6, 2), lambda x, r: x.max(0)),
    ("all_reduce min", (6, 2), lambda x, r: x.min(0)),
    ("all_reduce avg", (6, 2), lambda x, r: x.sum(0) / np.float32(3)),
    ("all_gather", (18, 2), lambda x, r: np.concatenate(x)),
    ("reduce_scatter", (2, 2), lambda x, r: parts(x.sum(0), r)),
    ("all_to_all", (6, 2), lambda x, r: np.concatenate([parts(each, r) for each in x])),
]


@pytest.mark.parametrize(("op", "shape", "wanted"), COLLECTIVES, ids=[case[0] for case in COLLECTIVES])
def test_results(op: str, shape: tuple[int, int], wanted: Callable[[np.ndarray, int], np.ndarray]) -> None:
    """Its own array stays as it was."""
    type = f"memref<{shape[0]}x{shape[1]}xf32>"
    text = f"""
func.func @f(%x: memref<6x2xf32>) -> {type} {{
  %r = symm.{op} %x group "tp" : memref<6x2xf32> to {type}
  func.return %r : {type}
}}"""
    for rank, (own, found) in enumerate(ranks(text, lambda rank: [NUMBERS[rank].copy()])):
        np.testing.assert_array_equal(found, wanted(NUMBERS, rank))
        np.testing.assert_array_equal(own, NUMBERS[rank])


@pytest.mark.parametrize(("op", "shape", "wanted"), COLLECTIVES, ids=[case[0] for case in COLLECTIVES])
def test_out_forms(op: str, shape: tuple[int, int], wanted: Callable[[np.ndarray, int], np.ndarray]) -> None:
    name, _, kind = op.partition(" ")
    type = f"memref<{shape[0]}x{shape[1]}xf32>"
    text = f"""
func.func @f(%x: memref<6x2xf32>, %out: {type}) {{
  symm.{name}_out {kind} %x to %out group "tp" : memref<6x2xf32> to {type}
  func.return
}}"""
    found = ranks(text, lambda rank: [NUMBERS[rank].copy(), np.zeros(shape, np.float32)])
    for rank, (own, out) in enumerate(found):
        np.testing.assert_array_equal(out, wanted(NUMBERS, rank))
        np.testing.assert_array_equal(own, NUMBERS[rank])


@pytest.mark.parametrize(("algorithm", "keeps"), [("one_shot", True), ("two_shot", False)])
def test_what_two_shots_leave_in_symmetric_memory_is_undefined(algorithm: str, keeps: bool) -> None:
    text = f"""
func.func @f(%x: memref<6x2xf32, {SPACE}>, %out: memref<6x2xf32>) {{
  symm.all_reduce_out add %x to %out group "tp" by {algorithm} : memref<6x2xf32, {SPACE}> to memref<6x2xf32>
  func.return
}}"""
    for rank, (own, out) in enumerate(ranks(text, lambda r: [NUMBERS[r].copy(), np.zeros((6, 2), np.float32)])):
        np.testing.assert_array_equal(out, NUMBERS.sum(0))
        assert np.isnan(own).all() if not keeps else (own == NUMBERS[rank]).all()


def test_results_of_another_shape_are_refused() -> None:
    text = """
func.func @f(%x: memref<6x2xf32>) -> memref<24x2xf32> {
  %r = symm.all_gather %x group "tp" : memref<6x2xf32> to memref<24x2xf32>
  func.return %r : memref<24x2xf32>
}"""
    with pytest.raises(UnsupportedError, match=r"'symm.all_gather' of 3 ranks gives \[18, 2\], not \[24, 2\]"):
        ranks(text, lambda rank: [NUMBERS[rank].copy()])


def test_one_rank_alone_has_no_others() -> None:
    module = kopt.parse("""
func.func @f(%x: memref<6x2xf32>) -> memref<6x2xf32> {
  %r = symm.all_reduce add %x group "tp" : memref<6x2xf32> to memref<6x2xf32>
  func.return %r : memref<6x2xf32>
}""")
    with pytest.raises(UnsupportedError, match="'symm.all_reduce' is for several ranks, and one runs alone"):
        run(module, "f", [NUMBERS[0].copy()])
