"""All that is known of a compile, as plain data: what ``kopt explain --json`` prints, and what its page shows.

The schema is told in ``docs/explain.md``. Its number changes when a key changes its meaning or goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.clone import cloned
from kopt.config import Config
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.errors import KoptError
from kopt.explain.emitted import emitted
from kopt.explain.launches import planned_launches, vmem_of
from kopt.explain.places import SourcePlaces
from kopt.explain.stages import Recorder
from kopt.explain.values import made_up, values_at, why_too_large
from kopt.pass_manager import Instrumentation, run
from kopt.passes.pipelines import pipeline
from kopt.runtime.signature import Signature
from kopt.runtime.versions import version
from kopt.specs import spec_of
from kopt.targets.target import Target

if TYPE_CHECKING:
    from kopt.lowered import Lowered

SCHEMA = 1
#: The pass after which plans are whole.
_PLANNED = "plan-accesses"


@dataclass(frozen=True)
class Compile:
    """One compile: an imported module, the passes that it goes through, and the ``source`` that came out.

    ``source`` is None where something refused. ``family`` is whose code it is; ``hidden`` tensors of closures.
    """

    module: ModuleOp
    entry: str
    passes: Sequence[ModulePass]
    target: Target
    config: Config
    signature: Signature
    family: str
    source: str | None
    hidden: tuple[Any, ...] = ()

    @staticmethod
    def of(lowered: Lowered) -> Compile:
        """That of a lowered kernel."""
        return Compile(
            lowered.imported,
            lowered.entry,
            lowered.passes,
            lowered.target,
            lowered.config,
            lowered.signature,
            lowered.family,
            lowered.source,
            lowered.hidden,
        )

    @staticmethod
    def refused(imported: Lowered, target: Target) -> Compile:
        """That of a kernel that is ``imported``, for the reference, and that a pass of another target refuses."""
        found = Compile.of(imported)
        passes = pipeline(target, imported.config)
        return replace(found, passes=passes, target=target, family=target.family, source=None)


@dataclass(frozen=True)
class Asked:
    """What is explained beside the stages: ``values`` whether stages are run, None where that is cheap.

    ``arrays`` are arguments whose elements are known, by number; ``compiled``, ``verdicts`` (one a pass) and ``tuned``
    are what a chip's compiler, a verifier and a tuner have said.
    """

    values: bool | None = None
    arrays: Mapping[int, Any] = field(default_factory=dict)
    compiled: Mapping[str, Any] | None = None
    verdicts: Sequence[Mapping[str, Any] | None] = ()
    tuned: Mapping[str, Any] | None = None


def explanation(found: Compile, asked: Asked = Asked()) -> dict[str, Any]:
    """The data of one compile."""
    places = SourcePlaces()
    module = cloned(found.module)
    with collect() as said:
        watch, reason = _watch(found, asked)
        recorder = Recorder(places, said, watch)
        plans = _Plans(found.target, places)
        recorder.imported(module)
        refusal = _run(found, module, recorder, plans)
    for stage, verdict in zip(recorder.stages[1:], asked.verdicts, strict=False):
        stage["verdict"] = verdict
    lowers = refusal is None and bool(found.source)
    return {
        "schema": SCHEMA,
        "kopt": version("kopt-compiler"),
        "kernel": _kernel(found, refusal),
        "stages": recorder.stages,
        "texts": recorder.texts,
        "no_values": reason,
        "emitted": _emitted(found, module, places) if lowers else None,
        "compiled": asked.compiled,
        "plan": {"launches": plans.launches, "memory": _vmem(found, module) if lowers else []},
        "tuned": asked.tuned,
        **places.data(),
    }


def _run(found: Compile, module: ModuleOp, recorder: Recorder, plans: _Plans) -> KoptError | None:
    """Runs the passes; gives the refusal, where there is one."""
    try:
        run(module, make_context(), found.passes, instrumentation=[recorder, plans])
    except KoptError as error:
        recorder.refused(error)
        return error
    return None


class _Plans(Instrumentation):
    """Takes the launches where they are planned."""

    def __init__(self, target: Target, places: SourcePlaces):
        self.launches: list[dict[str, Any]] = []
        self._target, self._places = target, places

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        if pass_.name == _PLANNED and self._target.chip is not None:
            self.launches = planned_launches(module, self._target.chip, self._places)


def _watch(found: Compile, asked: Asked) -> tuple[Any, str | None]:
    """What runs stages, or why nothing does."""
    specs = [*found.signature.specs, *map(spec_of, found.hidden)]
    reason = "nobody asked for values" if asked.values is False else None if asked.values else why_too_large(specs)
    if reason is not None:
        return None, reason
    hidden = {len(found.signature.specs) + number: value for number, value in enumerate(found.hidden)}
    arrays = made_up(specs, {**asked.arrays, **hidden})
    return (lambda module, masked: values_at(module, found.entry, arrays, masked)), None


def _kernel(found: Compile, refusal: KoptError | None) -> dict[str, Any]:
    config, default = found.config, Config()
    keys = [one.name for one in fields(config)]
    return {
        "name": found.entry,
        "signature": str(found.signature),
        "target": str(found.target),
        "chip": None if found.target.chip is None else found.target.chip.name,
        "config": {key: str(getattr(config, key)) for key in keys if getattr(config, key) != getattr(default, key)},
        "block_sizes": None if config.block_sizes is None else list(config.block_sizes),
        "refused": None if refusal is None else refusal.message,
    }


def _emitted(found: Compile, module: ModuleOp, places: SourcePlaces) -> dict[str, Any]:
    assert found.source is not None
    ops = emitted(module, found.entry, found.family, found.source)
    return {"lines": found.source.split("\n"), "origins": [places.origin(one) for one in ops]}


def _vmem(found: Compile, module: ModuleOp) -> list[dict[str, Any]]:
    return [] if found.target.chip is None else vmem_of(module, found.target.chip)
