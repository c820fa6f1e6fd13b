"""A number of generated kernels on some targets, beside torch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import torch
from hypothesis import HealthCheck, Phase, given, reject, seed, settings

import kopt
from test.property.judge import Undefined, Verdict, judge, module_of, results
from test.property.programs import programs
from test.property.refusals import is_refusal


def explore(number: int, examples: int, targets: Sequence[str], wide: bool, folder: Path) -> int:
    """Compares as many different kernels, drawn from the seed ``number``; how many were compared.

    A failure shows the smallest such kernel that hypothesis finds, as a module that runs as it is.
    """
    torch.set_num_threads(1)  # the tensors are small
    compared: set[str] = set()
    for part in itertools.count():
        if (missing := examples - len(compared)) <= 0:
            return len(compared)
        _round(number * 1000 + part, missing, targets, wide, folder, compared)


def _round(number: int, examples: int, targets: Sequence[str], wide: bool, folder: Path, compared: set[str]) -> None:
    """As many examples of hypothesis, which repeats itself."""

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(wide))
    def case(text: str) -> None:
        if text in compared:
            return
        module = module_of(text, folder)
        try:
            verdict = judge(module)
        except Undefined:
            reject()
        problems = [problem for target in targets for problem in _problems(module, verdict, target)]
        assert not problems, "\n".join([*problems, "", text])
        compared.add(text)

    case()


def _problems(module: ModuleType, verdict: Verdict, target: str) -> list[str]:
    """What is wrong on a target. A refusal that is documented ends the case."""
    try:
        return [f"{target}: {problem}" for problem in verdict.problems(results(module, target))]
    except kopt.KoptError as error:
        if is_refusal(target, str(error)):
            reject()
        return [f"{target}: {error}"]
