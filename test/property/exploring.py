"""A number of generated kernels on some targets, beside torch."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from unittest import mock

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider

import kopt
from test.property.judge import Undefined, Verdict, judge, module_of, results
from test.property.programs import programs
from test.property.refusals import is_refusal

#: Examples of one run of hypothesis: the first is always the simplest there is, and after ten it varies what it has.
_ROUND = 10


@dataclass
class Tally:
    """What became of the kernels."""

    targets: Sequence[str]
    seen: set[str] = field(default_factory=set, repr=False)
    #: Equal on every target; refused by one, as is documented; refused by torch.
    compared: int = 0
    refused: int = 0
    undefined: int = 0

    def count(self, module: ModuleType) -> list[str]:
        """Runs a kernel; what is wrong with it."""
        try:
            verdict = judge(module)
            said = [problem for target in self.targets for problem in _problems(module, verdict, target)]
        except Undefined:
            self.undefined += 1
            return []
        except Refused:
            self.refused += 1
            return []
        self.compared += not said
        return said


class Refused(Exception):
    """A target refuses the kernel, for a reason that is documented."""


def explore(number: int, wanted: int, targets: Sequence[str], folder: Path, shrink: bool) -> Tally:
    """Compares as many different kernels, drawn from the seed ``number``; 64-bit types are the reference's alone.

    A failure shows the kernel, the smallest that hypothesis finds if ``shrink``, as a module that runs as it is.
    """
    torch.set_num_threads(1)  # the tensors are small
    tally = Tally(targets)
    for part in itertools.count():
        missing = wanted - tally.compared
        if missing <= 0 or len(tally.seen) >= 2 * wanted:
            return tally
        _round(number * 1000 + part, min(_ROUND, missing + 1), tally, folder, shrink)


def _round(number: int, examples: int, tally: Tally, folder: Path, shrink: bool) -> None:
    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(wide=tuple(tally.targets) == ("reference",)))
    def case(text: str) -> None:
        if text not in tally.seen:
            problems = tally.count(module_of(text, folder))
            assert not problems, "\n".join([*problems, "", text])
            tally.seen.add(text)

    # Else hypothesis draws from the constants of all modules that are loaded: others beside other tests.
    with mock.patch.object(HypothesisProvider, "_maybe_draw_constant", return_value=None):
        case()


def _problems(module: ModuleType, verdict: Verdict, target: str) -> list[str]:
    """What is wrong on a target."""
    try:
        signs = not target.startswith("pallas")  # XLA leaves additions of 0 out
        return [f"{target}: {problem}" for problem in verdict.problems(results(module, target), signs)]
    except kopt.KoptError as error:
        if is_refusal(target, str(error)):
            raise Refused from error
        return [f"{target}: {error}"]
    except Undefined:
        raise
    except Exception:  # no kernel may show one
        return [f"{target}: {traceback.format_exc()}"]
