"""The report of a lowered kernel: what the chip's compiler says, what kopt's model predicts, and what to try next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kopt.errors import ArgumentError
from kopt.known_figures import Arrays, SourceFigures, known_module
from kopt.passes.pipelines import before_models
from kopt.planning.changes import chosen
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.summary import PREDICTED, advice, counted_around, floors, items, occupancy, times, total_times
from kopt.planning.trips import UnknownError
from kopt.predictions import Opens, PlannedLaunch, PlanRecorder, Prediction, Predictor, recorded
from kopt.runtime.figures import KnownModule
from kopt.runtime.report import report
from kopt.runtime.report_table import Report, warnings_of
from kopt.specs import TensorSpec, spec_of
from kopt.targets.chips import GpuChip, TpuChip
from kopt.targets.costs import GPU_COSTS, tpu_costs

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from kopt.lowered import Lowered


def report_of(
    low: Lowered, passes: Sequence[ModulePass], estimates: bool, values: Mapping[str, Any], profile: bool
) -> Report:
    """What `Lowered.report` gives; ``passes`` are those of its target.

    Of extents that differ from call to call, the compiler is asked for those of the call that was lowered for, and
    nothing is predicted.
    """
    estimates = estimates and not any(spec.open for spec in low.signature.specs)
    specs = [*(spec.called for spec in low.signature.specs), *(spec_of(value) for value in low.hidden)]
    analysis = _Analysis(low, passes, _arrays(low, values), estimates)
    found = report(
        low.source, low.function, specs, low.target, estimates=estimates, known=analysis.known, profile=profile
    )
    sizes = low.config.block_sizes
    found |= {"block_sizes": None if sizes is None else list(sizes), "planned_seconds": analysis.planned}
    return Report(analysis.predicted(found))


class _Analysis:
    """What is known of a lowered kernel without its chip's compiler; without ``estimates`` next to nothing."""

    def __init__(self, low: Lowered, passes: Sequence[ModulePass], arrays: Arrays, estimates: bool):
        self._low, self._chip = low, low.target.chip
        self.known: KnownModule | None = None
        self.planned: float | None = None
        self._prediction: Prediction | None = None
        is_open = any(spec.open for spec in low.signature.specs)
        if self._chip is None or is_open or not (estimates or isinstance(self._chip, TpuChip)):
            return
        self._source = SourceFigures(low.module, low.entry, before_models(low.config, self._chip), self._chip, arrays)
        self.planned = self._source.seconds
        if estimates:
            self._predict(self._recorded(passes, arrays), passes)

    def _recorded(self, passes: Sequence[ModulePass], arrays: Arrays) -> list[PlannedLaunch]:
        """The plans of the launches; what is known of a TPU's kernels besides."""
        recorder, low = PlanRecorder(), self._low
        if isinstance(self._chip, TpuChip):
            watching = [recorder]
            self.known = known_module(low.module, low.entry, passes, self._chip, arrays, self._source, watching)
            return recorder.launches
        return recorded(low.module, passes)

    def _predict(self, launches: Sequence[PlannedLaunch], passes: Sequence[ModulePass]) -> None:
        low = self._low
        blocks = () if low.opened is None else low.opened.blocks.get(low.entry, ())
        opens = Opens.of(low.module, low.imported, blocks, low.config)
        assert self._chip is not None
        source = self._source
        predictor = Predictor(low.module, passes, low.config, self._chip, source.models, source.lengths, source.assumed)
        self._prediction = predictor.predict(launches, opens)
        if self.known is not None:
            parts = [items(one, self._chip) for one in self._prediction.costs]
            self.known = self.known.with_items([{key: one[key] for key in one if key != "HBM"} for one in parts])

    def predicted(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """A report with what is predicted, and what to try next."""
        keys: dict[str, Any] = dict.fromkeys(PREDICTED)
        known = self._prediction
        if known is None or self._chip is None:
            return {**found, **keys, "warnings": warnings_of(found)}
        around = self._around(found)
        total = None if known.seconds is None or around is None else known.seconds + around
        keys |= total_times(known.costs, self._chip, around or 0.0)
        if total is None:
            keys |= dict.fromkeys(PREDICTED[:4])
        keys["assumes"] = dict(known.assumes) or None
        if isinstance(self._chip, GpuChip):
            least = self._gpu_bytes()
            keys["least_hbm_bytes"] = None if least is None else round(least)
        keys |= floors(*self._least(found), total) | advice(known.changes, total, around or 0.0)
        keys["chosen"] = {
            "block_sizes": found["block_sizes"],
            "launches": [chosen(one.plan, one.names) for one in known.launches],
        }
        report = {**found, **keys, **self._memory()}
        launches = [dict(one) for one in found.get("launches", ())]
        self._add_launches(report, launches)
        return {**report, "warnings": warnings_of(report), **({"launches": launches} if launches else {})}

    def _around(self, found: Mapping[str, Any]) -> float | None:
        """Seconds of what XLA does around kernels, by its own estimates, beyond what the model has of it; None where it
        has none."""
        if not isinstance(self._chip, TpuChip) or self._prediction is None:
            return 0.0
        if found.get("hlo_uncounted"):
            return None
        seconds = (found.get("hlo_cycles") or 0) / tpu_costs(self._chip).clock_hz
        return max(0.0, seconds - counted_around(self._prediction.costs))

    def _least(self, found: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """Seconds in which memory moves, and matrix units multiply, what they must."""
        if isinstance(self._chip, TpuChip):
            clock = tpu_costs(self._chip).clock_hz
            hbm, products = (found.get(key) for key in ("hbm_floor_cycles", "mxu_floor_cycles"))
            return (None if hbm is None else hbm / clock, None if products is None else products / clock)
        assert isinstance(self._chip, GpuChip)
        costs, flops = self._chip.costs or GPU_COSTS[self._chip.name], self._source.flops
        least = self._gpu_bytes()
        seconds = [sum(count / costs.multiplied(dtype) for dtype, count in one.items()) for one in flops if one]
        hbm = None if least is None else least / self._chip.hbm_bytes_per_second
        return hbm, None if None in flops else sum(seconds)

    def _gpu_bytes(self) -> float | None:
        """Bytes that a GPU's launches must move, each array once."""
        assert isinstance(self._chip, GpuChip) and self._prediction is not None
        reads: dict[str, float] = {}
        writes: dict[str, float] = {}
        for launch in self._prediction.launches:
            try:
                found = GpuLaunch(launch.model, {}, launch.plan, self._chip, self._source.lengths).least()
            except UnknownError:
                return None
            for name, (read, written) in found.items():
                reads[name], writes[name] = max(read, reads.get(name, 0)), max(written, writes.get(name, 0))
        return sum(reads.values()) + sum(writes.values())

    def _memory(self) -> dict[str, Any]:
        """What takes the memory on the chip, launch by launch where there are several."""
        assert self._prediction is not None
        if isinstance(self._chip, TpuChip):
            kernels = () if self.known is None else self.known.kernels
            return {"vmem_items": _one_or_all([dict(one.vmem) for one in kernels])}
        assert isinstance(self._chip, GpuChip)
        launches = [
            GpuLaunch(one.model, {}, one.plan, self._chip, self._source.lengths) for one in self._prediction.launches
        ]
        return {"shared_items": _one_or_all([one.program.shared_items() for one in launches])}

    def _add_launches(self, report: dict[str, Any], launches: list[dict[str, Any]]) -> None:
        """What is predicted of each launch, where the compiler met as many; the occupancy of the fewest programs."""
        known = self._prediction
        assert known is not None and self._chip is not None
        if launches and len(launches) == len(known.launches):
            for one, cost in zip(launches, known.costs, strict=True):
                one |= times(cost, self._chip)
        if not isinstance(self._chip, GpuChip):
            return
        facts = launches or [report]
        if len(facts) == len(known.launches):
            warps = [int(dict(one.plan.options)["warps"]) for one in known.launches]  # pyright: ignore
            held = [occupancy(one, count, self._chip) for one, count in zip(facts, warps, strict=True)]
            for one, found in zip(launches, held, strict=False):
                one["occupancy"] = found
            all = [one for one in held if one is not None]
            report["occupancy"] = min(all, key=lambda one: one["share"], default=None)


def _one_or_all(found: list[dict[str, int]]) -> Any:
    return found[0] if len(found) == 1 else found or None


def _arrays(low: Lowered, values: Mapping[str, Any]) -> dict[int, np.ndarray]:
    """What arguments hold, by number: those that are named, and those that the kernel brings."""
    names = [parameter.name for parameter in low.signature.parameters]
    hidden = {len(names) + number: value for number, value in enumerate(low.hidden)}
    arrays = {n: np.asarray(value) for n, value in hidden.items() if _is_integer(spec_of(value))}
    for name, value in values.items():
        if name not in names:
            raise ArgumentError(f"'{low.entry}' has no argument '{name}'", notes=[f"it has {', '.join(names)}"])
        found, wanted = np.asarray(value), low.signature.specs[names.index(name)]
        if found.shape != wanted.shape or found.dtype.kind not in "iub" or not _is_integer(wanted):
            got = f"{found.dtype}{list(found.shape)}"
            raise ArgumentError(f"values of '{name}' are integers, of {wanted}, found {got}")
        arrays[names.index(name)] = found.astype(wanted.dtype.numpy)
    return arrays


def _is_integer(spec: TensorSpec) -> bool:
    return np.dtype(spec.dtype.numpy).kind in "iub"
