"""The page of the language: every torch call and every function of ``kopt.language``, by target."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

from conformance import listed
from conformance.table import GROUPS, TARGETS, WITHOUT_VALUES, Group, Refusal, refusal

from kopt import language
from kopt.language.unsupported import PALLAS_ONLY, TRITON_ONLY, UNSUPPORTED

_INTRO = """\
What kernels may call, and where it works. The tests of `test/conformance` run each line below on each target, in each
dtype named, beside torch. Where a line says *no* or *not*, a test checks that the call is refused in those dtypes, with
its place in the source. In the calls `x`, `y` and `z` are blocks of one shape and dtype, and `n` is a block of int64.
Functions of torch are methods of device values too. Operators mean what they mean in torch: types are promoted, each
operation is rounded to its dtype, `//` and `%` round down, and a maximum with a NaN is NaN."""
_PYTHON = """\
These work too: {names}. Everything else is an error that names the operation and its place.
Outside of device loops any Python and any torch call is allowed."""
_COUNTED = """\
The table counts the operations that kernels are promised (`test/conformance/listed.py`), for each dtype those that
torch has. An operation works if every call of it above works. A test requires that 95 % of them do."""
_FORMS = {
    "lanes": "Blocks of any shape.",
    "rows": "Blocks of rank 3, of which a loop walks the first dimension.",
    "whole": "Matrices in one block.",
}


def language_page() -> str:
    """The page's text."""
    notes: list[str] = []
    parts = ["# The language", _INTRO, "## torch", *(_group(group, notes) for group in GROUPS)]
    parts += [_PYTHON.format(names=_questions()), "### Why not", "\n".join(f"{n}. {t}" for n, t in enumerate(notes, 1))]
    parts += ["### How much works", _COUNTED, _counts()]
    return "\n\n".join([*parts, "## `kopt.language`", _functions()]) + "\n"


def _counts() -> str:
    """How many of the listed operations work, by dtype and target."""
    rows = [f"| dtype | {' | '.join(TARGETS)} |", "|---" * (len(TARGETS) + 1) + "|"]
    for dtype in listed.DTYPES:
        cells = (f"{working} of {known}" for working, known in (listed.count(target, dtype) for target in TARGETS))
        rows.append(f"| {dtype} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _questions() -> str:
    return ", ".join(f"`{name}` ({why})" for name, why in WITHOUT_VALUES.items())


def _group(group: Group, notes: list[str]) -> str:
    """One table: a line a call, a column a target."""
    head = [f"### {group.title}", f"{_FORMS[group.form]} dtypes: {' '.join(group.dtypes)}."]
    rows = [f"| call | {' | '.join(TARGETS)} |", "|---" * (len(TARGETS) + 1) + "|"]
    for call in group.calls:
        cells = (_cell(target, call, group.dtypes, notes) for target in TARGETS)
        rows.append(f"| `{call.replace('|', chr(92) + '|')}` | {' | '.join(cells)} |")
    return "\n\n".join([*head, "\n".join(rows)])


def _cell(target: str, call: str, dtypes: Iterable[str], notes: list[str]) -> str:
    """``yes``, or the dtypes in which it is refused and the numbers of the reasons."""
    found: dict[str, list[str]] = {}
    works = False
    for dtype in dtypes:
        rule = refusal(target, call, dtype)
        works = works or rule is None
        if rule is not None:
            found.setdefault(_number(rule, notes), []).append(dtype)
    no = "; ".join(f"not {', '.join(dtypes)} ({number})" for number, dtypes in found.items())
    return no.replace("not", "no:", 1) if not works else f"yes; {no}" if no else "yes"


def _number(rule: Refusal, notes: list[str]) -> str:
    if rule.reason not in notes:
        notes.append(rule.reason)
    return str(notes.index(rule.reason) + 1)


_ONLY = {**dict.fromkeys(TRITON_ONLY, "Triton only"), **dict.fromkeys(PALLAS_ONLY, "TPU only")}


def _functions() -> str:
    """The functions of the language, with the first sentence of what they say of themselves."""
    rows = ["| name | meaning | works |", "|---|---|---|"]
    for name in language.__all__:
        text = inspect.cleandoc(getattr(language, name).__doc__ or "").split("\n\n")[0]
        works = f"no: {UNSUPPORTED[name]}" if name in UNSUPPORTED else _ONLY.get(name, "yes")
        rows.append(f"| `hl.{name}` | {' '.join(text.split()).replace('|', chr(92) + '|')} | {works} |")
    return "\n".join(rows)
