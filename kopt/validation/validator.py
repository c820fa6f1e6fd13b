"""Validates passes while they run: the module before and after each, on the same arguments, by the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from kopt.diagnostics import location_of
from kopt.dialects import pallas, triton
from kopt.errors import KoptError, Location, MeaningError
from kopt.pass_manager import Instrumentation
from kopt.passes.meaning import meaning_of
from kopt.validation.comparing import Difference
from kopt.validation.options import Options
from kopt.validation.outcome import Conditions, after_pass
from kopt.validation.reproducing import reproducer
from kopt.validation.tracing import writer
from kopt.validation.watched import ChangedValue, Watched
from kopt.walk import walk


@dataclass(frozen=True)
class PassVerdict:
    """What became of one pass: ``same`` text, ``validated`` by its results, or ``not run``, with the ``reason``."""

    pass_name: str
    meaning: str
    state: str
    reason: str = ""


@dataclass
class Validation:
    """What was found of a pipeline: nothing wrong. ``inputs`` says on what it was run."""

    verdicts: list[PassVerdict] = field(default_factory=list)
    inputs: tuple[str, ...] = ()

    @property
    def validated(self) -> list[str]:
        """The passes that left the text or the results as they were, by name, in order."""
        return [verdict.pass_name for verdict in self.verdicts if verdict.state != "not run"]

    @property
    def not_run(self) -> dict[str, str]:
        """The passes of which nothing is known, and why."""
        return {verdict.pass_name: verdict.reason for verdict in self.verdicts if verdict.state == "not run"}

    def __str__(self) -> str:
        changed = sum(verdict.state == "validated" for verdict in self.verdicts)
        return f"{len(self.validated)} of {len(self.verdicts)} passes validated, of which {changed} changed the module"


class Validator(Instrumentation):
    """Raises `MeaningError` at the first pass that changes a value beyond what it states.

    Args: ``entry`` the function, every one of the module where it is None; ``arrays`` its arguments, made up where
    there are none.
    """

    def __init__(
        self, options: Options | None = None, entry: str | None = None, arrays: Sequence[np.ndarray] | None = None
    ):
        self.options = options or Options()
        self.result = Validation()
        self._entry, self._arrays = entry, arrays
        self._watched: list[Watched] | None = None
        self._text = ""

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        """The first pass is about to run: what the module computes is found out."""
        if self._watched is not None:
            return
        self._text = str(module)
        lowered = any(walk(module, pallas.CallOp, triton.LaunchOp))
        options = replace(self.options, masked=self.options.masked or lowered)
        names = [func.sym_name.data for func in walk(module, FuncOp) if func.body.blocks]
        entries = names if self._entry is None else [self._entry]
        self._watched = [Watched(module, name, options, self._arrays) for name in entries]
        self.result.inputs = tuple(input.description for one in self._watched for input in one.inputs)

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        """A pass has run."""
        text, meaning = str(module), meaning_of(pass_)
        if text == self._text:
            self.result.verdicts.append(PassVerdict(pass_.name, str(meaning), "same"))
            return
        state, reason = "validated", ""
        for one in self._watched or ():
            known, before = one.reason, one.how
            change = one.advance(module, after_pass(one.how, pass_), meaning)
            if change is not None:
                raise self._error(pass_, one, change, before)
            if known or one.reason:
                state, reason = "not run", known or one.reason or ""
        self._text = text
        self.result.verdicts.append(PassVerdict(pass_.name, str(meaning), state, reason))

    def _error(self, pass_: ModulePass, one: Watched, change: ChangedValue, before: Conditions) -> MeaningError:
        options = replace(self.options, masked=before.masked, beyond=before.reads_beyond)
        place, words = self._place(one, change, before)
        notes = [
            f"on {change.input.description}",
            *(["the place is that of the store that wrote the element before the pass"] if place else []),
            f"the pass states that it {_STATES[meaning_of(pass_).kind]}",
        ]
        return MeaningError(
            f"pass '{pass_.name}' changed what '{one.entry}' computes: {words}",
            place or location_of(walk(one.module, FuncOp)[0]),
            notes,
            pass_.name,
            reproducer(one, pass_, options),
        )

    def _place(self, one: Watched, change: ChangedValue, before: Conditions) -> tuple[Location | None, str]:
        """Where the changed element was written, and how it differs in words."""
        found = change.found
        if isinstance(found, KoptError):
            return found.location, f"running it fails since: {found.message}"
        name = one.shape.name(change.number)
        words = f"{name}{list(found.place)} is {_number(found.found)}, was {_number(found.expected)}"
        words += f"; {found.count} of {found.size} elements differ" if found.size > 1 else ""
        op = _writer(one, change, found, before)
        return location_of(op) if op is not None else None, words


_STATES = {
    "exact": "keeps every bit",
    "reassociates": "changes the order of sums and products alone",
    "approximates": "computes nearly the same values",
}


def _writer(one: Watched, change: ChangedValue, found: Difference, how: Conditions):
    return writer(one.module, one.entry, one.shape, change.input.arrays, how, change.number, found.place)


def _number(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
