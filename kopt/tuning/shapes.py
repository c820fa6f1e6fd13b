"""A kernel tuned for one set of arguments, or for several: one configuration for all, or a decision table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kopt.errors import ArgumentError, ConfigError, KoptError
from kopt.runtime.admission import admit_call
from kopt.runtime.report import require_compiler
from kopt.specs import as_spec
from kopt.targets.target import Target
from kopt.tuning.compiled import executor
from kopt.tuning.imports import configs_of
from kopt.tuning.kernel_subject import KernelSubject
from kopt.tuning.measuring import Measurer, measurer_for
from kopt.tuning.progress import progress
from kopt.tuning.results import Candidate, Tuned, TunedShapes
from kopt.tuning.tuner import EFFORTS, Tuner

Start = Sequence[Mapping[str, Any] | str | Path]
#: Configurations of each shape that are tried for all.
_SHARED = 4


def tune(
    kernel: Any,
    calls: Sequence[dict[str, Any]],
    target: Target,
    effort: str = "quick",
    seed: int = 0,
    start: Start = (),
    measurer: Measurer | None = None,
    scheduler: str | None = None,
    live: bool | None = None,
) -> list[Tuned]:
    """Tunes a kernel for each of some calls, whose values are by the names of parameters.

    Raises `ConfigError` for efforts that there are not and targets without a chip; what importing the kernel raises.
    """
    if effort not in EFFORTS:
        raise ConfigError(f"'effort' is one of {', '.join(EFFORTS)}, found {effort!r}", id="config-value")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ConfigError(f"'seed' is a number from 0 on, found {seed!r}")
    if target.chip is None:
        raise ConfigError(
            f"target '{target}' has no chip to tune for", notes=["name one, as pallas:v6e or triton:sm90"]
        )
    if not calls:
        raise ArgumentError("there is nothing to tune: 'shapes' is empty")
    if EFFORTS[effort].points:
        require_compiler(target.compile_target)
    calls = [{name: as_spec(value) for name, value in values.items()} for values in calls]
    for values in calls:
        admit_call(kernel.fn.__name__, values, lowers=True)
    starts = [config for one in start for config in configs_of(one, kernel.fn, target.chip.name)]
    measurer = measurer or measurer_for(target)
    results: list[Tuned] = []
    with executor(scheduler) as pool, progress(live) as said:
        for values in calls:
            subject = KernelSubject(kernel, values, target.compile_target, seed)
            own = [] if subject.own is None else [subject.own]
            tuner = Tuner(
                subject,
                target.compile_target,
                target.chip,
                EFFORTS[effort],
                seed,
                [*own, *starts],
                pool,
                measurer,
                said,
            )
            results.append(tuner.run(effort))
            results[-1].values = values
            if results[-1].interrupted:
                break
    return results


def shared(kernel: Any, target: Target, results: list[Tuned]) -> TunedShapes:
    """The results of several calls, with the configuration that loses least over all of them."""
    tried: list[dict[str, Any]] = []
    for result in results:
        for one in result.candidates[:_SHARED]:
            if one.legal is not False and one.config not in tried:
                tried.append(one.config)
    best: tuple[float, float, Candidate] | None = None
    for config in tried:
        found = [_candidate(kernel, result, target, config) for result in results]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or not found:
            continue
        losses = [_loss(one, result) for one, result in zip(known, results, strict=True)]
        mean = math.exp(sum(map(math.log, losses)) / len(losses))
        if best is None or mean < best[0]:
            best = mean, max(losses) - 1, Candidate(config, known[0].predicted_ms, known[0].measured_ms, known[0].legal)
    return TunedShapes(results) if best is None else TunedShapes(results, best[2], best[1])


def _loss(one: Candidate, result: Tuned) -> float:
    """How many times its best a shape takes with a configuration."""
    best = result.best
    measured = best is not None and best.measured_ms is not None and one.measured_ms is not None
    ours = one.measured_ms if measured else one.predicted_ms
    theirs = None if best is None else best.measured_ms if measured else best.predicted_ms
    return max(1.0, ours / theirs) if ours and theirs else 1.0


def _candidate(kernel: Any, result: Tuned, target: Target, config: dict[str, Any]) -> Candidate | None:
    """A configuration for a shape: one that was looked at there, or else by the model; None where it is not legal."""
    if (known := next((one for one in result.candidates if one.config == config), None)) is not None:
        return None if known.legal is False else known
    assert target.chip is not None
    tuner = Tuner(
        KernelSubject(kernel, result.values, target.compile_target), target.compile_target, target.chip, EFFORTS["none"]
    )
    with suppress(KoptError):
        tuner.consider(Candidate({}, origin="default"))
        found = tuner.consider(Candidate(dict(config), origin="start"))
        return found if found is None or found.legal is not False else None
    return None
