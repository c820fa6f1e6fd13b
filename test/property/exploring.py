"""A number of generated kernels on some targets, beside torch."""

from __future__ import annotations

import itertools
import random
import re
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture import engine
from hypothesis.internal.conjecture.providers import HypothesisProvider

import kopt
from test.fuzzing.record import Record
from test.property.judge import Undefined, Verdict, judge, module_of, results
from test.property.programs import programs
from test.property.refusals import is_refusal
from test.property.relations import RELATIONS, related, without_approximations

#: Examples of one run of hypothesis: the first is always the simplest there is, and after ten it varies what it has.
ROUND = 10
#: A kernel that takes longer to shrink is small enough.
_SHRINKING_SECONDS = 90
#: The relation of a kernel to its own IR.
AS_IR = "as IR"


@dataclass
class Tally:
    """What became of the kernels."""

    targets: Sequence[str]
    #: Whether 64-bit integers and floats are computed, which a TPU has not.
    wide: bool = False
    seen: set[str] = field(default_factory=set, repr=False)
    record: Record = field(default_factory=Record, repr=False)
    #: Of how many kernels one is changed as `relations` may change it, on each target; 0: none.
    related: dict[str, int] = field(default_factory=dict)
    #: Which of the relations; any where none is named.
    relation: str = ""
    #: Told of each kernel's text before it runs.
    before: Callable[[str], None] = field(default=lambda _: None, repr=False)
    #: Equal on every target; refused by one, as is documented; refused by torch.
    compared: int = 0
    refused: int = 0
    undefined: int = 0
    #: What the targets gave for the last kernel.
    _given: dict[str, list[torch.Tensor]] = field(default_factory=dict, repr=False)

    def count(self, module: ModuleType) -> list[str] | None:
        """Runs a kernel; what is wrong with it. None where torch refuses it."""
        self._given.clear()
        try:
            verdict = self._timed("eager", lambda: judge(module))
            found = {target: self._on(target, module, verdict) for target in self.targets}
        except Undefined:
            self.undefined += 1
            return None
        self.refused += None in found.values()
        said = [problem for problems in found.values() for problem in problems or ()]
        self.compared += not said and None not in found.values()
        return said

    def _on(self, target: str, module: ModuleType, verdict: Verdict) -> list[str] | None:
        """What is wrong on a target; None where it refuses the kernel, for a reason that is documented."""
        try:
            said = self._timed(target, lambda: self._problems(module, verdict, target))
        except Refused as refused:
            self.record.counts[f"refused {target}: {diagnostic(str(refused))}"] += 1
            return None
        self.record.counts[f"compared {target}"] += not said
        return said

    def changed(self, text: str, folder: Path) -> list[str]:
        """What is wrong with the last kernel once it is changed in ways that change no bit of its results."""
        chosen = random.Random(text)
        name = self.relation or chosen.choice([*RELATIONS, AS_IR])
        targets = [target for target, of in self.related.items() if of and chosen.randrange(of) == 0]
        targets = [target for target in targets if target in self._given]
        if not targets:
            return []
        other = text if name == AS_IR else related(text, name, chosen)
        module, said = module_of(other, folder), []
        before = module_of(text, folder)
        run = results_of_ir if name == AS_IR else results
        for target in targets:
            try:
                problems = self._timed(target, lambda target=target: self._differences(before, module, target, run))
            except Refused as refused:
                self.record.counts[f"refused {target}: {diagnostic(str(refused))}"] += 1
                continue
            self.record.counts[f"related {target}"] += not problems
            said += [f"{target}, {name}: {problem}" for problem in problems]
        return [*said, "", other] if said else []

    def _problems(self, module: ModuleType, verdict: Verdict, target: str) -> list[str]:
        """What is wrong on a target."""
        try:
            signs = not target.startswith("pallas")  # XLA leaves additions of 0 out
            self._given[target] = results(module, target)
            return [f"{target}: {problem}" for problem in verdict.problems(self._given[target], signs)]
        except kopt.KoptError as error:
            if is_refusal(target, str(error)):
                raise Refused(str(error)) from error
            return [f"{target}: {error}"]
        except Undefined:
            raise
        except Exception:  # no kernel may show one
            return [f"{target}: {traceback.format_exc()}"]

    def _differences(
        self, module: ModuleType, changed: ModuleType, target: str, run: Callable[[ModuleType, str], list[torch.Tensor]]
    ) -> list[str]:
        """Where a changed kernel's results have other bits than the last kernel's; NaN is NaN.

        They may, by a pass that approximates: then both are compared without such passes. And the order in which NumPy
        adds, which Triton's interpreter has add, follows the shape of what is added, of which constants have fewer
        dimensions: where a kernel sums, what torch gives says how far they may differ.
        """
        try:
            differs = _other_bits(self._given[target], run(changed, target))
            if differs:
                with without_approximations():
                    differs = _other_bits(results(module, target), found := run(changed, target))
                if differs and _sums_by_numpy(module, target):
                    verdict = judge(module)
                    differs = differs if verdict.problems(found[: len(verdict.wanted)]) else []
            return [f"result {n} has other bits" for n in differs]
        except kopt.KoptError as error:
            if is_refusal(target, str(error)):
                raise Refused(str(error)) from error
            return [str(error)]
        except Exception:  # no kernel may show one
            return [traceback.format_exc()]

    def _timed(self, target: str, run: Callable[[], Any]) -> Any:
        begun = time.process_time()
        try:
            return run()
        finally:
            self.record.counts[f"ms {target}"] += round(1000 * (time.process_time() - begun))


class Refused(Exception):
    """A target refuses the kernel, for a reason that is documented."""


def diagnostic(message: str) -> str:
    """The first line of an error, without its place and the kernel's own names and numbers."""
    line = re.sub(r"^\S*?:\d+:\d+: ", "", message.partition("\n")[0])
    return re.sub(r"'[^']*'|\b[a-z]?\d+\b", "…", line)[:120]


def explore(
    number: int, wanted: int, targets: Sequence[str], folder: Path, shrink: bool, related: dict[str, int]
) -> Tally:
    """Compares as many different kernels, drawn from the seed ``number``; 64-bit types are the reference's alone.

    Of ``related`` many kernels of a target one is changed, too (`Tally.related`). A failure shows the kernel, the
    smallest that hypothesis finds if ``shrink``, as a module that runs as it is.
    """
    torch.set_num_threads(1)  # the tensors are small
    tally = Tally(targets, tuple(targets) == ("reference",), related=related)
    for part in itertools.count():
        missing = wanted - tally.compared
        if missing <= 0 or len(tally.seen) >= 2 * wanted:
            return tally
        run_round(number * 1000 + part, min(ROUND, missing + 1), tally, folder, shrink)


def run_round(number: int, examples: int, tally: Tally, folder: Path, shrink: bool) -> None:
    """Compares kernels of a seed until one fails, which is an AssertionError."""

    def case(text: str) -> None:
        if text not in tally.seen:
            tally.before(text)
            problems = tally.count(module_of(text, folder))
            assert not problems, "\n".join([*problems, "", text])
            if problems is not None:
                problems = tally.changed(text, folder)
                assert not problems, "\n".join([*problems, "", text])
            tally.seen.add(text)

    draw(number, examples, tally.wide, case, shrink)


def draw(number: int, examples: int, wide: bool, case: Callable[[str], None], shrink: bool = False) -> None:
    """Hands kernels of a seed to a function."""
    run = given(programs(wide=wide))(case)
    run = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )(run)
    # Else hypothesis draws from the constants of all modules that are loaded: others beside other tests.
    constants = mock.patch.object(HypothesisProvider, "_maybe_draw_constant", return_value=None)
    with constants, mock.patch.object(engine, "MAX_SHRINKING_SECONDS", _SHRINKING_SECONDS):
        seed(number)(run)()


def results_of_ir(module: ModuleType, target: str) -> list[torch.Tensor]:
    """What a target gives and writes for a kernel's IR, written, read again and cleaned up. Raises `kopt.KoptError`."""
    inputs = module.inputs()
    low = kopt.kernel(module.kernel).lower(*inputs, target=target)
    again = kopt.run_pipeline(kopt.parse(low.ir), "canonicalize,cse,dce,canonicalize")
    got: Any = kopt.lower_module(again, "kernel", target=target).compile()(*inputs)
    return [*got, *inputs] if isinstance(got, tuple) else [got, *inputs]


def _sums_by_numpy(module: ModuleType, target: str) -> bool:
    """Whether a kernel has sums that Triton's interpreter computes."""
    if not target.startswith("triton"):
        return False
    return "tl.sum(" in kopt.kernel(module.kernel).lower(*module.inputs(), target=target).source


def _other_bits(wanted: list[torch.Tensor], got: list[torch.Tensor]) -> list[int]:
    """The numbers of results, or arguments, that differ; an argument more is the last."""
    pairs = zip(wanted, got[: len(wanted)], strict=True)
    return [n for n, pair in enumerate(pairs) if not _same_bits(*pair)]


def _same_bits(one: torch.Tensor, two: torch.Tensor) -> bool:
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if not one.dtype.is_floating_point:
        return torch.equal(one, two)
    one, two = one.double(), two.double()  # exact, and torch has no signs of 8-bit floats
    return bool(((one == two) & (one.signbit() == two.signbit()) | one.isnan() & two.isnan()).all())
