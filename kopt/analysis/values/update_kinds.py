"""The kinds of buffers that updates at computed places may have, and which ones an array's are given together. Pure.

| kind | when |
|---|---|
| ``one_hot`` | sums of floats: a product; other updates that commute, of an array of one dimension: comparisons |
| ``row_loop`` | anything else of an array that fits: one row after the other |
| ``row_dma`` | of an array that half of VMEM does not hold; blocks of such that loops of computed bounds update |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Operation

from kopt.analysis.values.hbm_updates import is_far, may_be_far
from kopt.analysis.values.update_cost import UpdateSizes, cycles, fits
from kopt.analysis.values.updates import UpdateOp, gathered
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, array_type
from kopt.targets.chips import TpuChip
from kopt.walk import walk

#: What is said of an update: at which, and what.
Remark = tuple[Operation, str]


def update_kinds(op: Access, launch: LaunchOp, chip: TpuChip) -> list[str]:
    """The kinds that an update may have, the cheapest first; none for an ordinary block."""
    if not isinstance(op, UpdateOp):
        return []
    if not gathered(op):
        return ["row_dma"] if may_be_far(accesses_of(op, launch)) else []
    costs = cycles(UpdateSizes.of(op), chip) if fits(op, chip) else {}
    return [*sorted(costs, key=costs.__getitem__), "row_dma"]


def best_kinds(
    accesses: Sequence[Access], launch: LaunchOp, chip: TpuChip, wanted: Sequence[str], pins: Mapping[Operation, str]
) -> dict[UpdateOp, str]:
    """The kinds that the accesses of an array are given that are updates at computed places, or pinned to be such."""
    pinned = {op: pins[op] for op in accesses if isinstance(op, UpdateOp) and op in pins}
    updates = [op for op in accesses if isinstance(op, UpdateOp) and gathered(op)]
    if updates:
        return chosen_together(updates, launch, chip, wanted, pinned)
    far = is_far(accesses, launch, chip) and not pinned
    return {op: "row_dma" for op in accesses if far and isinstance(op, UpdateOp)} | pinned


def accesses_of(op: Access, launch: LaunchOp) -> list[Access]:
    """The accesses of an update's array."""
    return [other for other in walk(launch, Access) if other.memory is op.memory]


def chosen_together(
    updates: Sequence[UpdateOp], launch: LaunchOp, chip: TpuChip, wanted: Sequence[str], pinned: Mapping[UpdateOp, str]
) -> dict[UpdateOp, str]:
    """The kinds of an array's updates: what is pinned; else what is ``wanted`` and may be, or is cheapest.

    All or none are in HBM, and of an array of one dimension all or none are products.
    """
    may = {op: update_kinds(op, launch, chip) for op in updates}
    found = {op: next((kind for kind in wanted if kind in kinds), kinds[0]) for op, kinds in may.items()}
    found |= pinned  # of blocks too
    left = [op for op in updates if op not in pinned]
    if "row_dma" in found.values() and not any(kind != "row_dma" for kind in pinned.values()):
        found |= dict.fromkeys(left, "row_dma")
    elif is_flat(updates[0]) and {*found.values()} != {"one_hot"}:
        found |= {op: "row_loop" for op in left if found[op] == "one_hot"}
    return found


def why_not_together(given: Mapping[UpdateOp, str]) -> Iterator[tuple[UpdateOp, str]]:
    """The updates of an array whose kinds do not go with those of others, and why."""
    kinds = dict.fromkeys(given.values())
    for kind, reason in (
        ("row_dma", "the array is in HBM for all of its updates or for none"),
        ("one_hot", "an array of one dimension is updated by products alone or by none"),
    ):
        if kind in kinds and len(kinds) > 1 and (kind == "row_dma" or is_flat(next(iter(given)))):
            yield next(op for op, other in given.items() if other == kind), reason


def is_flat(op: UpdateOp) -> bool:
    """Whether row numbers index all dimensions of an update's array."""
    return len(gathered(op)) == len(array_type(op.memory).get_shape())


def choice_remarks(found: Mapping[UpdateOp, str], chip: TpuChip) -> Iterator[Remark]:
    """What is to be said of updates that stay on the chip: what each way would take."""
    for op, kind in found.items():
        costs = cycles(UpdateSizes.of(op), chip) if gathered(op) else {}
        if kind in costs:
            others = [f"{cost:.0f} by {other}" for other, cost in costs.items() if other != kind]
            against = f", against {', '.join(others)}" if others else ", the only way"
            name = op.memory.name_hint or "an array"
            yield op, f"'{name}' is updated by {kind}: about {costs[kind]:.0f} cycles a cell{against}"
