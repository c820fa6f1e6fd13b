"""What costs of launches mean to people: milliseconds, what bounds them, what to change next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kopt.planning.changes import OtherChoice, cheapest_change
from kopt.planning.items import Cost
from kopt.targets.chips import Chip, GpuChip, TpuChip
from kopt.targets.costs import GPU_COSTS, tpu_costs
from kopt.targets.error_bands import error_band

#: Of what is predicted; the keys of a report, in this order.
PREDICTED = (
    "predicted_ms",
    "predicted_low_ms",
    "predicted_high_ms",
    "predicted_bound",
    "predicted_share",
    "floor_ms",
    "hbm_floor_ms",
    "mxu_floor_ms",
    "items_ms",
    "exposed_ms",
    "assumes",
    "vmem_items",
    "shared_items",
    "occupancy",
    "chosen",
    "runner_up",
    "next",
    "warnings",
)
#: Changes that gain less are within what the model cannot tell.
GAIN = 0.03
#: Changes that are listed, at most.
_LISTED = 3


def bandwidth(chip: Chip) -> float:
    """Bytes a second that the chip's memory moves at best."""
    return tpu_costs(chip).bytes_per_second if isinstance(chip, TpuChip) else chip.hbm_bytes_per_second


def items(cost: Cost, chip: Chip) -> dict[str, float]:
    """Seconds of each unit as if it were alone: of products, of vectors, of memory, and of what nothing hides."""
    if cost.seconds is None or cost.bytes_in is None:
        return {}
    gpu = isinstance(chip, GpuChip)
    share = (chip.costs or GPU_COSTS[chip.name]).hbm_share if gpu else tpu_costs(chip).hbm_share
    moved = sum(_number(part) or 0.0 for part in (cost.bytes_in, cost.bytes_out))
    parts = {
        "tensor cores" if gpu else "MXU": _number(cost.mxu_seconds),
        "vector units" if gpu else "VPU": _number(cost.vpu_seconds),
        "HBM": moved / (share * bandwidth(chip)),
        "latency": sum(_number(part) or 0.0 for part in (cost.overhead_seconds, cost.exposed_seconds)),
    }
    return {name: seconds for name, seconds in parts.items() if seconds is not None}


def bound(costs: Iterable[Cost], chip: Chip) -> str | None:
    """What takes most of the time of some launches."""
    total: dict[str, float] = {}
    for cost in costs:
        for name, seconds in items(cost, chip).items():
            total[name] = total.get(name, 0.0) + seconds
    return max(total, key=lambda name: total[name], default=None)


def times(cost: Cost, chip: Chip) -> dict[str, Any]:
    """What one launch takes."""
    return total_times([cost], chip)


def total_times(costs: Sequence[Cost], chip: Chip, more: float = 0.0) -> dict[str, Any]:
    """What launches take one after the other, and the host around them, ``more`` seconds than they count of it.

    Bytes are of GPUs alone: those of TPUs are counted in what is emitted.
    """
    seconds = [_number(cost.seconds) for cost in costs]
    known = None if not seconds or None in seconds else sum(filter(None, seconds)) + more
    parts: dict[str, float] = {}
    for cost in costs if known is not None else ():
        for name, one in items(cost, chip).items():
            parts[name] = parts.get(name, 0.0) + one
    if parts and more:
        parts["around"] = more + counted_around(costs)
    found = band(known, bound(costs, chip), chip)
    exposed = _sum(_number(cost.exposed_seconds) for cost in costs)
    found |= {"items_ms": _milliseconds(parts) or None, "exposed_ms": _ms(exposed)}
    if isinstance(chip, GpuChip):
        moved = _sum(_number(part) for cost in costs for part in (cost.bytes_in, cost.bytes_out))
        found["hbm_bytes"] = None if moved is None else round(moved)
    return found


def counted_around(costs: Sequence[Cost]) -> float:
    """The seconds that launches count of what the host does around them."""
    return sum(_number(cost.host_seconds) or 0.0 for cost in costs)


def band(seconds: float | None, by: str | None, chip: Chip) -> dict[str, Any]:
    """Milliseconds, and those between which the measured ones are in nine of ten cases."""
    if seconds is None:
        return dict.fromkeys(PREDICTED[:4])
    low, high = error_band(chip, {"tensor cores": "MXU", "vector units": "VPU"}.get(by or "", by))
    found = [_ms(seconds * factor) for factor in (1.0, low, high)]
    return dict(zip(PREDICTED, (*found, by), strict=False))


def floors(hbm: float | None, products: float | None, predicted: float | None) -> dict[str, Any]:
    """The least seconds of memory and of products, and the share of the higher one of what is predicted."""
    known = [one for one in (hbm, products) if one is not None]
    most = max(known, default=0.0) or None
    return {
        "floor_ms": _ms(most),
        "hbm_floor_ms": _ms(hbm),
        "mxu_floor_ms": _ms(products),
        "predicted_share": None if most is None or not predicted else round(min(1.0, most / predicted), 4),
    }


def advice(changes: Sequence[OtherChoice], seconds: float | None, around: float = 0.0) -> dict[str, Any]:
    """The runner-up of the search, and the changes that would pay: single ones first, the best before the others.

    ``seconds`` have those that the host's operations take ``around`` launches, which no change of these takes away.
    """
    if seconds is None:
        return {"runner_up": None, "next": None}
    changes = [one if one.seconds is None else replace(one, seconds=one.seconds + around) for one in changes]
    second = cheapest_change(one for one in changes if one.searched)
    known = [one for one in changes if one.seconds is not None and one.reason is None and one.seconds > 0]
    paying = [one for one in known if (one.seconds or 0.0) < (1 - GAIN) * seconds]
    # One decision at a time is what is tried; then what several gain together.
    best = sorted(paying, key=lambda one: (not one.single, one.seconds))
    return {
        "runner_up": None if second is None else {**_said(second, seconds), "lost": _lost(second, seconds)},
        "next": [_said(one, seconds) for one in best[:_LISTED]],
    }


def _said(change: OtherChoice, seconds: float) -> dict[str, Any]:
    assert change.seconds is not None
    return {
        "change": change.text,
        "config": dict(change.config),
        "predicted_ms": _ms(change.seconds),
        "gain": round(change.seconds / seconds - 1, 4),
    }


def _lost(change: OtherChoice, seconds: float) -> str:
    assert change.seconds is not None
    more = change.seconds / seconds - 1
    if abs(more) < GAIN:
        return f"a tie: {percent(more)}, less than the model can tell"
    if more > 0:
        return f"predicted {percent(more)}"
    return f"predicted {percent(more)}: a configuration asked for another, or the gain is within the model's error"


def percent(share: float) -> str:
    """``+18 %``."""
    number = round(100 * share)
    return f"{'−' if number < 0 else '+' if number else '±'}{abs(number)} %"


def occupancy(facts: Mapping[str, Any], warps: int, chip: GpuChip) -> dict[str, Any] | None:
    """The programs of a compiled launch that a multiprocessor holds at once, and its share of all threads."""
    registers, shared = facts.get("registers"), facts.get("shared_bytes")
    known = chip.costs or GPU_COSTS.get(chip.name)
    if not registers or shared is None or known is None:
        return None
    threads = warps * chip.warp_size
    limits = {
        "threads": min(known.programs, known.threads // threads),
        "registers": chip.registers // (registers * threads),
        "shared memory": chip.shared_bytes // shared if shared else known.programs,
    }
    by = min(limits, key=lambda name: limits[name])
    programs = max(1, limits[by])
    return {"programs": programs, "share": round(programs * threads / known.threads, 3), "limited_by": by}


def _number(value: Any) -> float | None:
    return None if value is None else float(np.min(value))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{1e3 * seconds:.6g}")


def _milliseconds(parts: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _ms(seconds) for name, seconds in parts.items()}


def _sum(values: Iterable[float | None]) -> Any:
    found = [*values]
    return None if not found or None in found else sum(filter(None, found))
