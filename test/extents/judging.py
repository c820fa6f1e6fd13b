"""A case run on a target, beside torch."""

from __future__ import annotations

import traceback
from typing import Any

import torch

import kopt
from test.extents.families import Case


def problem(case: Case, target: str, seed: int) -> str | None:
    """What is wrong with a case on a target, or None; what torch itself refuses is not asked."""
    torch.manual_seed(seed)
    arguments = case.family.arguments(case.sizes)
    wanted = _wanted(case, arguments)
    if not wanted:
        return None
    try:
        got = kopt.kernel(case.kernel, config=case.config).on(target)(*arguments)
    except kopt.KoptError as error:
        return f"{target} refuses {case}: {error}"
    except Exception:  # no kernel may show one
        return f"{target} fails at {case}: {traceback.format_exc()}"
    try:
        torch.testing.assert_close(got, wanted[0], equal_nan=True)
    except AssertionError as error:
        return f"{target} is wrong at {case}: {error}"
    return None


def refused(case: Case, target: str, seed: int) -> str | None:
    """What a chip's compiler refuses of a case, or None."""
    torch.manual_seed(seed)
    arguments = case.family.arguments(case.sizes)
    if not _wanted(case, arguments):
        return None
    report = kopt.kernel(case.kernel, config=case.config).lower(*arguments, target=target).report()
    return None if report["legal"] else f"{target} refuses {case}: {report['reason']}"


def _wanted(case: Case, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What torch gives; nothing where torch itself refuses, or where that depends on the blocks."""
    try:
        wanted = case.family.wanted(*arguments)
    except (RuntimeError, IndexError):
        return ()
    return () if wanted is None else (wanted,)
