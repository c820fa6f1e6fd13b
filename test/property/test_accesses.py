"""Random accesses by computed indices: the class of each, the bytes that it moves, and its values on every target.

The class is compared with what NumPy finds in the numbers of the lanes, the bytes with the tiles that these are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kopt
from kopt.dialects.tile import LoadOp
from kopt.ir.access_relation import KINDS, AccessRelation, Kind
from kopt.ir.from_access import relation_of
from kopt.runtime.wire import pack
from kopt.runtime.worker import Worker
from test.frontend.support import imported
from test.property.accesses import Loads, drawn
from test.property.judge import module_of
from test.property.test_kernels import GIVEN, SEED
from test.property.traffic import SECTOR_BYTES, TILE_BYTES, moved_on_tpu, sectors, tiles

#: Accesses of a kernel, and kernels of a run: 500 accesses.
EACH, DRAWN = 4, 125
#: How many kernels of a run tests without the mark take to chips, and run.
FEW_ON_CHIPS, FEW_VALUES = 8, 3
#: How many accesses of 500 may have a class worse than their numbers have, in any run. It may only fall. They are
#: remainders of sums, and moved lanes, that wrap in no lane inside a launch, or in the middle of no run: as the extents
#: of the launch tell, and not the block.
WEAKER = 3
#: How many times the tiles that its blocks touch an access may move, on every target.
MOST = 4
_BITS = 32
#: How many times numbers are drawn that kernels load: what is regular in one launch alone is no class, and bytes that
#: are chosen before numbers are known are compared with what all launches touch, in the mean. Classes are those of
#: larger numbers too, whose sums reach every period.
_SEEDS, _LARGE = 8, 5000
_gpu = Worker(
    "sectors_worker",
    {"PYTHONPATH": str(Path(__file__).parent), "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""},
)

#: The forms that the classes are named after, in blocks of 16 × 64 lanes of 64 × 128.
FORMS: dict[str, tuple[tuple[str, ...], Kind]] = {
    "groups": (("(i // 4) * 8 + j % 8",), "runs"),
    "chosen": (("torch.where(flag, i * 128, 4096) + j",), "runs"),
    "chosen once": (("torch.where(once, 128, 512) + j",), "block"),
    "clamped": (("torch.clip(i, 0, 20)", "j"), "runs"),
    "ring": (("(i * 3 + j) % 37",), "elements"),
    "ring of groups": (("(i * 64 + j) % 1024",), "runs"),
    "by number": (("row * 16 + j",), "runs"),
    "reversed": (("63 - i", "j"), "block"),
    "reversed lanes": (("i * 128 + (127 - j)",), "runs"),
    "overlapping": (("i + j",), "runs"),
    "clamped in a ring": (("(torch.clip(i, 0, 20) * 3 + j) % 100",), "elements"),
    "groups by number": (("row * 64 + j // 8 * 16 + j % 8",), "runs"),
}
#: Some of them to a kernel.
_TOGETHER = 4


def form_kernels() -> list[tuple[Loads, tuple[Kind, ...]]]:
    """Kernels of the named forms, and their classes."""
    forms = [*FORMS.values()]
    parts = [forms[first : first + _TOGETHER] for first in range(0, len(forms), _TOGETHER)]
    return [
        (Loads(64, 128, (16, 64), tuple(entries for entries, _ in part), seed), tuple(kind for _, kind in part))
        for seed, part in enumerate(parts)
    ]


@pytest.mark.parametrize("number", range(-(-len(FORMS) // _TOGETHER)))
def test_forms(number: int, tmp_path: Path) -> None:
    loads, kinds = form_kernels()[number]
    kernel = module_of(loads.text, tmp_path).kernel
    assert tuple(relation.kind for relation in relations(loads, kernel)) == kinds
    assert [problem for one in apart(loads) if (problem := excess(one, tmp_path))] == []
    check_values(loads, kernel)


def test_classes(tmp_path: Path, record_property) -> None:
    """No class promises what the numbers of lanes do not keep, and few promise less."""
    record_property("KOPT_FUZZ_SEED", SEED)
    weaker = []
    for loads in map(kernel_of, range(DRAWN if GIVEN else DRAWN // 4)):
        for number, relation in enumerate(relations(loads, module_of(loads.text, tmp_path).kernel)):
            kind = "block" if relation.kind == "whole" else relation.kind
            found, numbers = KINDS.index(kind), KINDS.index(class_of_numbers(loads, number))
            assert found >= numbers, f"{loads.indices[number]} is {relation}"
            weaker += [loads.indices[number]] if found > numbers else []
    assert len(weaker) <= WEAKER, "\n".join(map(str, weaker))


def test_some_bytes(tmp_path: Path, record_property) -> None:
    record_property("KOPT_FUZZ_SEED", SEED)
    compare_bytes(range(FEW_ON_CHIPS), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(5 if GIVEN else 1))
def test_all_bytes(shard: int, tmp_path: Path, record_property) -> None:
    record_property("KOPT_FUZZ_SEED", SEED)
    compare_bytes(range(shard, DRAWN, 5 if GIVEN else 10), tmp_path)


def test_some_values(tmp_path: Path, record_property) -> None:
    record_property("KOPT_FUZZ_SEED", SEED)
    compare_values(range(FEW_VALUES), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(25 if GIVEN else 2))
def test_all_values(shard: int, tmp_path: Path, record_property) -> None:
    record_property("KOPT_FUZZ_SEED", SEED)
    compare_values(range(shard, DRAWN, 25), tmp_path)


def kernel_of(number: int) -> Loads:
    """One kernel of a run."""
    return drawn(SEED * DRAWN + number, EACH)


# Classes.


def relations(loads: Loads, kernel) -> list[AccessRelation]:
    """The relations of a kernel's loads, in the order of its arrays."""
    module = imported(kernel, *loads.arguments).module
    found = {op.memory.name_hint: relation_of(op) for op in module.walk() if isinstance(op, LoadOp)}
    return [found[f"x{number}"] for number in range(len(loads.indices))]


def class_of_numbers(loads: Loads, number: int) -> Kind:
    """The class that every block of an access has, whatever numbers are loaded: of several, the worst."""
    worst = 0
    small = draws(loads)
    for one in (*small, *(replace(one, below=_LARGE) for one in small)):
        worst = max([worst, *(KINDS.index(_class_of_block(visit, loads.blocks)) for visit in one.visits(number))])
    return KINDS[worst]


def draws(loads: Loads) -> list[Loads]:
    """The loads with several draws of the numbers that kernels load."""
    return [
        replace(loads, seed=seed % (1 << 32)) for seed in (loads.seed, *(-loads.seed - n for n in range(1, _SEEDS)))
    ]


def _class_of_block(indices: tuple[np.ndarray, ...], block: tuple[int, int]) -> Kind:
    if all((index == index[0, 0]).all() for index in indices):
        return "point"
    if _is_box(indices):
        return "block"
    address = indices[-1] + (indices[0] << _BITS if len(indices) > 1 else 0)
    return "runs" if any(_has_runs(address, dim, block[dim]) for dim in (0, 1)) else "elements"


def _is_box(indices: Sequence[np.ndarray]) -> bool:
    """Whether each index goes in equal steps along one dimension of its own."""
    used: list[int] = []
    for index in indices:
        moving = [dim for dim in (0, 1) if np.diff(index, axis=dim).any()]
        if len(moving) > 1 or any(len(np.unique(np.diff(index, axis=dim))) > 1 for dim in moving):
            return False
        used += moving
    return len(set(used)) == len(used)


def _has_runs(address: np.ndarray, dim: int, size: int) -> bool:
    """Whether lanes along a dimension count up, or down, in groups of one size."""
    steps = np.diff(address, axis=dim)
    for group in (group for group in range(size, 1, -1) if size % group == 0):
        inside = np.delete(steps, np.arange(group - 1, steps.shape[dim], group), axis=dim)
        if inside.size and len(np.unique(inside)) == 1 and abs(inside.flat[0]) == 1:
            return True
    return False


# Bytes.


def compare_bytes(numbers: Sequence[int], folder: Path) -> None:
    """All accesses of some kernels, each in a kernel of its own, move what their blocks touch."""
    found = [problem for number in numbers for loads in apart(kernel_of(number)) if (problem := excess(loads, folder))]
    assert found == [], "\n".join(found)


def apart(loads: Loads) -> list[Loads]:
    """Each of some loads in a kernel of its own: what is chosen for one does not decide for another."""
    return [replace(loads, indices=(entries,), seed=EACH * loads.seed + n) for n, entries in enumerate(loads.indices)]


def excess(loads: Loads, folder: Path) -> str | None:
    """What is wrong with the bytes that windows and DMAs bring for the one load of a kernel, or None."""
    (entries,) = loads.indices
    try:
        low = kopt.kernel(module_of(loads.text, folder).kernel).lower(*loads.arguments, target="pallas:v6e")
        moved = moved_on_tpu(low)["x0"]
    except kopt.LoweringError as error:
        return f"{entries} of {loads.shape(0)} is refused: {error.message}"
    touched = sum(tiles(visit, _BITS) for one in draws(loads) for visit in one.visits(0)) * TILE_BYTES / _SEEDS
    return f"{entries} of {loads.shape(0)}: {moved / touched:.1f} times" if moved > MOST * touched else None


# Values.


def compare_values(numbers: Sequence[int], folder: Path) -> None:
    """Every target gives what NumPy does for some kernels."""
    for loads in map(kernel_of, numbers):
        check_values(loads, module_of(loads.text, folder).kernel)


def check_values(loads: Loads, kernel) -> None:
    """Every target gives what NumPy does; on a GPU, loads touch what blocks do."""
    count, wanted = len(loads.indices), expected(loads)
    source = kopt.kernel(kernel).lower(*loads.arguments, target="triton:sm90").source
    arrays, moved = _gpu.call("run", source, "kernel", [pack(one) for one in loads.arguments], time_limit=100)
    _compare("triton:interpret", loads, arrays[:count], wanted)
    for number, entries in enumerate(loads.indices):
        shape, size = loads.shape(number), moved[number - count]
        touched = sum(sectors(visit, shape, _BITS) for visit in loads.visits(number)) * SECTOR_BYTES
        assert size <= MOST * touched, f"{entries}: {size / touched:.1f} times\n{loads.text}"
    for target in ("reference", "eager", "pallas:interpret"):
        arguments = loads.arguments
        kopt.kernel(kernel).on(target)(*arguments)
        _compare(target, loads, [result.numpy() for result in arguments[:count]], wanted)


def expected(loads: Loads) -> list[np.ndarray]:
    """What each load gives."""
    arrays = loads.arguments[-len(loads.indices) :]
    return [array.numpy()[loads.lanes(number)] for number, array in enumerate(arrays)]


def _compare(target: str, loads: Loads, found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    for entries, one, other in zip(loads.indices, found, wanted, strict=True):
        assert np.array_equal(one, other), f"{target} is wrong at {entries}\n{loads.text}"
