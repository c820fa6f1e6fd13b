"""One tuning: the model searches the space, the first are lowered and compiled, and timed where the chip is here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Protocol

from kopt.config import POLICIES, Config, make_config
from kopt.errors import ArgumentError, KoptError, UnsupportedError
from kopt.targets.chips import Chip
from kopt.targets.target import Target
from kopt.tuning.compiled import CPU_SECONDS, CompileJob, compile_all, job_for
from kopt.tuning.knobs import Points, Space
from kopt.tuning.launches import Launches, Ranked
from kopt.tuning.measuring import Measurer, difference
from kopt.tuning.predictions import Predictions
from kopt.tuning.progress import Progress
from kopt.tuning.results import Candidate, Tuned, ranked
from kopt.tuning.search import Found, search

if TYPE_CHECKING:
    from kopt.frontend import Imported
    from kopt.lowered import Lowered

#: Rounds of candidates that are compiled, where all of those before are illegal.
_ROUNDS = 3
#: To how many times as many cells reduction loops may be dealt out.
_SPLITS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Effort:
    """How much is done: points of each import that are looked at, imports, candidates that are compiled at once.

    Of larger spaces Optuna asks for as many points as are ``asked``.

    ``schedules`` is of how many of these other schedules are tried; ``seconds`` are those of processors that a
    compilation may take.
    """

    points: int = 0
    asked: int = 0
    imports: int = 0
    compiled: int = 0
    schedules: int = 0
    seconds: float = CPU_SECONDS


EFFORTS = {
    "none": Effort(),
    "quick": Effort(points=65_536, asked=768, imports=4, compiled=8, schedules=2, seconds=20.0),
    "full": Effort(points=1_048_576, asked=3072, imports=32, compiled=24, schedules=8),
}


class TuningSubject(Protocol):
    """What is tuned: a kernel for the values of one call."""

    @property
    def name(self) -> str:
        """The kernel's."""
        ...

    @property
    def file(self) -> str | None:
        """The file that it stands in."""
        ...

    @property
    def source(self) -> str:
        """What its text is known by."""
        ...

    @property
    def specs(self) -> tuple[str, ...]:
        """The arguments, as files have them."""
        ...

    @property
    def base(self) -> Config:
        """The configuration that it has already, without what a tuner decides."""
        ...

    def lower(self, config: Config) -> Lowered:
        """Lowers with a configuration."""
        ...

    def opened(self, config: Config) -> Imported:
        """The import with its blocks open."""
        ...

    def expected(self) -> Sequence[Any]:
        """The results that are right, and the arguments after the call."""
        ...

    def arguments(self) -> Sequence[Any]:
        """Arrays and other values to call with."""
        ...


@dataclass
class Tuner:
    """A tuning under way. ``candidates`` are those that were looked at, in any order; an interrupt leaves them."""

    subject: TuningSubject
    target: Target
    chip: Chip
    effort: Effort
    seed: int = 0
    start: Sequence[Mapping[str, Any]] = ()
    pool: Executor | None = None
    measurer: Measurer | None = None
    progress: Progress = field(default_factory=Progress)
    candidates: list[Candidate] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lowered: dict[int, Lowered] = {}
        self._predictions = Predictions(self.subject, self.chip)

    def run(self, name: str) -> Tuned:
        """The whole tuning. Raises what importing the kernel raises, whatever its configuration."""
        interrupted = False
        try:
            self._run()
        except KeyboardInterrupt:
            if not self.candidates:
                raise
            interrupted = True
        subject = self.subject
        return Tuned(
            subject.name,
            str(self.target),
            self.chip.name,
            subject.specs,
            ranked(self.candidates),
            self.counts,
            name,
            self.seed,
            subject.source,
            subject.file,
            interrupted,
            tuple(self.remarks),
        )

    def _run(self) -> None:
        self.progress.phase("lowering the default")
        self.consider(Candidate({}, origin="default"))
        for config in self.start:
            self.consider(Candidate(dict(config), origin="start"))
        if not self.effort.points:
            return
        ordered = list(self._search())
        if not ordered:
            self.remarks.append("the model cannot tell what this kernel takes: only what was given is compared")
        left = iter(ordered)
        for _ in range(_ROUNDS):
            self._look_at(left)
            self._compile()
            if any(one.legal for one in self.candidates):
                break
        self._measure()

    # the search

    def _search(self) -> Iterator[dict[str, Any]]:
        """Configurations, the cheapest first by the model."""
        found: list[tuple[float, int, dict[str, Any]]] = []
        for number, config in enumerate(islice(self._imports(), self.effort.imports)):
            try:
                launches = self._predictions.launches(config)
            except KoptError:  # as a kernel without a reduction loop refuses split_k
                continue
            space = launches.space()
            self.progress.phase("searching", min(space.size, self.effort.points))
            result = self._found(launches, space)
            self._count(result)
            configs = [self._config(config, launches, point) for point in result.points]
            found += [(ms, number, one) for ms, one in zip(result.seconds, configs, strict=True)]
        found.sort(key=lambda item: item[:2])
        yield from (config for _, _, config in found)

    def _found(self, launches: Launches, space: Space) -> Found:
        """What a search of one import finds."""

        def rank(points: Points) -> Ranked:
            return launches.rank(space, points)

        starts, said, effort = self._starts(space), self.progress.done, self.effort
        return search(space, rank, effort.points, self.seed, starts, asked=effort.asked, said=said)

    def _imports(self) -> Iterator[Config]:
        """The configurations that decide what is imported: tunables, and how reductions are split."""
        base = self.subject.base
        imported = self.subject.opened(base)
        names = [name for name, values in imported.choices.items() if len(values) > 1]
        choices = [[imported.tunables[name], *imported.choices[name]] for name in names]
        for split in _SPLITS if self.target.family == "triton" or self.effort.imports > len(_SPLITS) else (1,):
            seen = []
            for values in product(*choices):
                tunables = dict(zip(names, values, strict=True))
                if tunables not in seen:
                    seen.append(tunables)
                    yield replace(base, tunables={**base.tunables, **tunables}, split_k=split if split > 1 else None)

    def _starts(self, space: Space) -> list[dict[str, int]]:
        """What the configurations to start from are in a space, where it has them."""
        found = []
        for one in self.candidates:
            sizes = one.config.get("block_sizes", ())
            given = {f"block_sizes[{number}]": size for number, size in enumerate(sizes)} | one.config
            pairs = [(knob, given.get(knob.name, knob.usual)) for knob in space.knobs]
            known = {knob.name: knob.values.index(value) for knob, value in pairs if value in knob.values}
            if len(known) == len(pairs):
                found.append(known)
        return found

    def _count(self, found: Found) -> None:
        for key in ("searched", "too_large", "impossible", "unknown"):
            self.counts[key] = self.counts.get(key, 0) + getattr(found, key)

    def _config(self, config: Config, launches: Launches, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as a configuration."""
        found: dict[str, Any] = dict(config.tunables)
        sizes = launches.given_sizes(self._default_sizes)
        for name, value in point.items():
            if name.startswith("block_sizes["):
                sizes[int(name[len("block_sizes[") : -1])] = value
            else:
                found[name] = value
        if sizes:
            found["block_sizes"] = sizes
        return found if config.split_k is None else {**found, "split_k": config.split_k}

    @property
    def _default_sizes(self) -> Sequence[int] | None:
        return next((one.config.get("block_sizes") for one in self.candidates if one.origin == "default"), None)

    # candidates

    def consider(self, candidate: Candidate) -> Candidate | None:
        """Lowers a candidate, and says what it takes; None where it is known already."""
        try:
            low = self.subject.lower(self._full(candidate.config))
        except (ArgumentError, UnsupportedError):
            if not self.candidates:
                raise
            candidate.legal, candidate.reason = False, "the kernel cannot be imported with it"
        except KoptError as error:
            candidate.legal, candidate.reason = False, error.message
        else:
            sizes = low.config.block_sizes
            if sizes is not None:
                candidate.config = {**candidate.config, "block_sizes": [*sizes]}
            if any(other.source == low.source for other in self._lowered.values()):
                return None  # a GPU's defaults, written out
            self._lowered[id(candidate)] = low
            with suppress(KoptError):
                candidate.predicted_ms = self._predictions.of(low, self._full(candidate.config))
        self.candidates.append(candidate)
        return candidate

    def _full(self, config: Mapping[str, Any]) -> Config:
        """A candidate's configuration with what the kernel has of its own. Raises `ConfigError`."""
        return merged(self.subject.base, config)

    def _look_at(self, configs: Iterator[dict[str, Any]]) -> None:
        """Lowers the next candidates, and those that run their loops in a way that the planner does not take."""
        self.progress.phase("lowering", self.effort.compiled)
        for number, config in enumerate(islice(configs, 4 * self.effort.compiled)):
            waiting = len(self._waiting)
            if waiting >= self.effort.compiled:
                break
            found = self.consider(Candidate(config))
            self.progress.done(waiting)
            if found is None or number >= self.effort.schedules:
                continue
            others = self._predictions.alternatives(self._lowered.get(id(found)), self._full(config))
            for other in (*others, *(self._policies if found.legal is None else ())):
                self.consider(Candidate({**found.config, **other}))

    @property
    def _policies(self) -> list[dict[str, Any]]:
        """What caches may be told of loads: of a GPU that is here, since only its times tell these apart."""
        timed = self.measurer is not None and self.target.family == "triton"
        return [{"load_eviction_policies": policy} for policy in POLICIES if policy] if timed else []

    @property
    def _waiting(self) -> list[Candidate]:
        """The candidates that no compiler has seen."""
        return [one for one in self.candidates if one.legal is None and one.reason is None]

    def _compile(self) -> None:
        left = self._waiting
        self.progress.phase("compiling", len(left))
        jobs = [replace(_job(self._lowered[id(one)], self.chip), cpu_seconds=self.effort.seconds) for one in left]
        self.counts["compiled"] = self.counts.get("compiled", 0) + len(jobs)

        def said(number: int, facts: Mapping[str, Any]) -> None:
            one = left[number]
            one.legal, one.reason, one.facts = facts["legal"], facts.get("reason"), facts
            self.progress.done(number + 1)

        assert self.pool is not None
        compile_all(jobs, self.pool, said)
        self.counts["illegal"] = len([one for one in self.candidates if one.legal is False])
        self.counts["late"] = len([one for one in self.candidates if one.legal is None and one.reason])

    # the chip

    def _measure(self) -> None:
        legal = [one for one in ranked(self.candidates) if one.legal]
        if self.measurer is None or not legal:
            return
        self.progress.phase("timing", len(legal))
        arguments, wanted = self.subject.arguments(), self.subject.expected()
        terms = max((extent for value in arguments for extent in getattr(value, "shape", ())), default=1)
        runs: list[tuple[Candidate, Callable[[], Any]]] = []
        for number, one in enumerate(legal[: max(1, self.effort.compiled)]):
            try:
                run = self.measurer.prepare(self._lowered[id(one)], arguments)
                problem = difference(run(), wanted, terms)
            except (KoptError, RuntimeError) as error:
                problem = f"it does not run: {str(error).splitlines()[0]}"
            else:
                runs.append((one, run))
            if problem:
                runs = [pair for pair in runs if pair[0] is not one]
                one.legal, one.reason = False, problem
                self.counts["wrong"] = self.counts.get("wrong", 0) + 1
            self.progress.done(number + 1)
        for (one, _), ms in zip(runs, self.measurer.time([run for _, run in runs]), strict=True):
            one.measured_ms = ms
        self.counts["measured"] = len(runs)


def merged(base: Config, config: Mapping[str, Any]) -> Config:
    """A configuration with the keys of another. Raises `ConfigError`."""
    from kopt.tuning.files import TUNED

    found = make_config(config)
    given = {key: getattr(found, key) for key in TUNED if key in config}
    return replace(base, **given, tunables={**base.tunables, **found.tunables})


def _job(low: Lowered, chip: Chip) -> CompileJob:
    from kopt.specs import spec_of

    specs = [*low.signature.specs, *(spec_of(value) for value in low.hidden)]
    return job_for(low.source, low.function, specs, chip)
