"""The figures of a report for a TPU: cycles that no chip can undercut, what bounds them, and the floors.

    cycles = max(bundles × how often they run + exposed waits, bytes that move / bandwidth)

The bundles are libtpu's; how often they run, what moves, and which copies nothing hides is kopt's (`KnownKernel`).
Where libtpu knows how often loops run, its own estimate is that side: it goes through the same bundles, with branches
as they are taken and waits for copies, but knows nothing of bandwidth. Elsewhere branches count as often as they are
taken, where libtpu has as many as kopt knows of; others as if always taken.
What is not known is None, and ``cycles_reason`` says why; nothing is 0 because it is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from kopt.analysis.call_loops import CountedLoop
from kopt.targets.costs import TpuCosts

#: What a report and each of its kernels say of time, in this order.
FIGURES = (
    "cycles",
    "bound",
    "floor_cycles",
    "hbm_floor_cycles",
    "mxu_floor_cycles",
    "share",
    "hbm_bytes",
    "least_hbm_bytes",
    "libtpu_cycles",
    "estimated_cycles",
    "cycles_reason",
)
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Floor:
    """The least that must move, and must be multiplied: ``flops`` by the dtype of the factors. None: not known."""

    bytes: int | None = None
    flops: Mapping[str, int] | None = None

    def figures(self, chip: TpuCosts) -> dict[str, Any]:
        """Both floors in cycles, and the higher one."""
        hbm = None if self.bytes is None else memory_cycles(self.bytes, chip)
        mxu = None if self.flops is None else product_cycles(self.flops, chip)
        known = [cycles for cycles in (hbm, mxu) if cycles is not None]
        return {
            "floor_cycles": max(known, default=0) or None,
            "hbm_floor_cycles": hbm,
            "mxu_floor_cycles": mxu,
            "least_hbm_bytes": self.bytes,
        }


@dataclass(frozen=True)
class KnownKernel:
    """What kopt knows of a kernel of the emitted module.

    ``loops`` are those that libtpu makes of it, with how often they run; of these a core has its ``share``, which
    libtpu's own estimate goes by as well (v5p, libtpu 0.0.42). Of
    ``hbm_bytes`` the ``exposed_bytes`` move before the first step and after the last. ``items`` are seconds by kopt's
    own model of the plan, of ``MXU``, ``VPU`` and ``latency``. ``reason`` is why something is None. ``vmem`` are bytes
    by what takes them.
    """

    name: str
    loops: Sequence[CountedLoop] | None = None
    share: float = 1.0
    hbm_bytes: int | None = None
    exposed_bytes: int = 0
    floor: Floor = Floor()
    items: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    vmem: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownModule:
    """What kopt knows of an emitted module: its kernels in the order of the text, and the floor of all of it."""

    kernels: Sequence[KnownKernel]
    floor: Floor

    def with_items(self, items: Sequence[Mapping[str, float]]) -> KnownModule:
        """The same with the `KnownKernel.items` of each kernel; none where they are of other kernels."""
        if len(items) != len(self.kernels):
            return self
        kernels = [replace(kernel, items=parts) for kernel, parts in zip(self.kernels, items, strict=True)]
        return replace(self, kernels=kernels)


def memory_cycles(bytes: int, chip: TpuCosts) -> int:
    """Cycles in which so many bytes move at the published bandwidth."""
    return ceil(bytes / chip.bytes_per_second * chip.clock_hz)


def product_cycles(flops: Mapping[str, int], chip: TpuCosts) -> int:
    """Cycles of all matrix units for products of several dtypes, all of them busy."""
    passes = sum(count * chip.passes.get(dtype, 1.0) for dtype, count in flops.items())
    return ceil(passes / chip.flops_per_cycle / chip.cores)


def bundle_cycles(found: Sequence[Facts], counted: Sequence[CountedLoop]) -> int | None:
    """Bundles times how often they run; None where the loops that were ``found`` are not those that were ``counted``.

    The first that was counted is the grid, which is no loop where it has one cell.
    """
    grid, *inner = counted
    if grid.times == 1:
        without = _times(found, [replace(loop, depth=loop.depth - 1) for loop in inner])
        if without is not None:
            return without
    return _times(found, counted)


def _times(found: Sequence[Facts], counted: Sequence[CountedLoop]) -> int | None:
    """Bundles times trips. Between the loops that were counted libtpu has loops of its own, whose trips it says."""
    left, total = list(counted), 0
    runs: list[int] = []  # of the loops around, the outermost first
    for loop in found:
        depth, trips = loop["depth"], loop.get("trips")
        del runs[depth:]
        less = 0
        if depth == 0:
            runs.append(1)
        elif left and left[0].depth == depth and (depth == 1 or trips in (None, left[0].trips)):
            less = _not_run(loop, left[0])
            runs.append(left.pop(0).times)
        elif trips is not None and len(runs) == depth:
            runs.append(runs[-1] * trips)
        else:
            return None
        total += loop["bundles"] * runs[-1] - less
    return total if found and not left else None


def _not_run(found: Facts, loop: CountedLoop) -> int:
    """The bundles under each condition, times the visits that do not run them: where the branches are those known.

    Other branches count as if always taken.
    """
    skipped = found.get("skipped", ())
    if len(skipped) != len(loop.taken):
        return 0
    return sum(bundles * (loop.times - times) for bundles, times in zip(skipped, loop.taken, strict=True))


def with_figures(facts: Facts, module: KnownModule | None, chip: TpuCosts) -> dict[str, Any]:
    """The facts of a compiled module with the figures of its kernels and of the whole."""
    kernels = [dict(kernel) for kernel in facts.get("kernels", ())]
    for kernel, known in zip(kernels, _matched(kernels, module), strict=True):
        kernel |= _kernel_figures(kernel, known, chip)
    if not facts.get("legal"):
        return {**facts, "kernels": kernels}
    return {**facts, "kernels": kernels, **_sums(facts, kernels, Floor() if module is None else module.floor, chip)}


def _matched(kernels: Sequence[Facts], module: KnownModule | None) -> list[KnownKernel | None]:
    """What is known of each compiled kernel, by its name; of those of one name in their order."""
    if module is None:
        return [None] * len(kernels)
    names = [str(kernel["kernel"]).partition(".")[0] for kernel in kernels]
    known: dict[str, list[KnownKernel]] = {}
    for one in module.kernels:
        known.setdefault(one.name, []).append(one)
    if Counter(names) != {name: len(ones) for name, ones in known.items()}:
        return [None] * len(kernels)
    return [known[name].pop(0) for name in names]


def _kernel_figures(facts: Facts, known: KnownKernel | None, chip: TpuCosts) -> dict[str, Any]:
    estimate = {"libtpu_cycles": facts.get("libtpu_cycles")}
    if known is None:
        return {**dict.fromkeys(FIGURES), **estimate, "cycles_reason": "what the kernel does is not known here"}
    computed, reason = _computed(facts, known, chip)
    memory = None if known.hbm_bytes is None else memory_cycles(known.hbm_bytes, chip)
    floor = known.floor.figures(chip)
    cycles = None
    if computed is not None and memory is not None:
        cycles = max(computed, memory, floor["floor_cycles"] or 0) or None
    sides = {floor["mxu_floor_cycles"]: "MXU", memory: "HBM"}
    bound = None if cycles is None else sides.get(cycles, _largest(known.items))
    figures = {**floor, **estimate, **_of(cycles, floor), "bound": bound, "hbm_bytes": known.hbm_bytes}
    figures["cycles_reason"] = None if cycles else known.reason or reason
    return {key: figures[key] for key in FIGURES}


def _computed(facts: Facts, known: KnownKernel, chip: TpuCosts) -> tuple[int | None, str | None]:
    """Cycles as if memory had any bandwidth, or why they are not known."""
    if known.loops is None:
        return None, known.reason
    if (estimate := facts.get("libtpu_cycles")) is not None:
        return estimate, None
    if not facts.get("loops"):
        return None, "libtpu does not say the kernel's bundles"
    bundles = bundle_cycles(facts["loops"], known.loops)
    if bundles is None:
        return None, "libtpu made other loops of the kernel than it has"
    return ceil(bundles * known.share) + memory_cycles(known.exposed_bytes, chip), None


def _largest(items: Mapping[str, float]) -> str | None:
    return max(items, key=lambda item: items[item], default=None)


def _of(cycles: int | None, floor: Facts) -> dict[str, Any]:
    least = floor["floor_cycles"]
    share = None if cycles is None or least is None else least / cycles
    return {"cycles": cycles, "estimated_cycles": cycles, "share": share}


def _sums(facts: Facts, kernels: Sequence[Facts], least: Floor, chip: TpuCosts) -> dict[str, Any]:
    """The figures of a whole module: its kernels and what XLA does around them, one after the other."""
    floor = least.figures(chip)
    reason = next((kernel["cycles_reason"] for kernel in kernels if kernel["cycles"] is None), None)
    for uncounted in facts["hlo_uncounted"][:1]:
        reason = f"libtpu gives no cycles of XLA's '{uncounted}' around the kernels"
    parts = Counter({"HBM": facts["hlo_cycles"]})
    for kernel in kernels:
        parts[kernel["bound"]] += kernel["cycles"] or 0
    total = sum(parts.values())
    cycles = None if reason else max(total, floor["floor_cycles"] or 0) or None
    return {
        **floor,
        **_of(cycles, floor),
        "bound": None if cycles is None else parts.most_common(1)[0][0],
        "hbm_bytes": _sum(kernels, "hbm_bytes"),
        "libtpu_cycles": _sum(kernels, "libtpu_cycles"),
        "cycles_reason": reason if reason or cycles else "libtpu gives no cycles of anything in the module",
    }


def _sum(kernels: Sequence[Facts], key: str) -> int | None:
    values = [kernel[key] for kernel in kernels]
    return sum(values) if values and None not in values else None
