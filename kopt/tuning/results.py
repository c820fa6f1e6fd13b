"""What tuning gives: candidates with what the model, the compiler and the chip say of them, and the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kopt.errors import ConfigError
from kopt.notebooks import html, preformatted

if TYPE_CHECKING:
    from pathlib import Path

#: Candidates that differ by less are ties: neither the model nor a measurement tells them apart.
TIE = 1.03


@dataclass
class Candidate:
    """One configuration.

    ``predicted_ms`` is what the model says, None where it cannot tell; ``measured_ms`` the median on the chip, None
    where none is here. ``legal`` is what the chip's compiler says, None of one that was not compiled; ``reason`` why it
    is not. ``origin`` is ``default``, ``start`` or ``search``; ``tie`` says that it is within 3 % of the best.
    ``facts`` are the compiler's.
    """

    config: dict[str, Any]
    predicted_ms: float | None = None
    measured_ms: float | None = None
    legal: bool | None = None
    reason: str | None = None
    origin: str = "search"
    tie: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def ms(self) -> float | None:
        """What it takes, as far as is known: measured, else predicted."""
        return self.predicted_ms if self.measured_ms is None else self.measured_ms

    @property
    def spills(self) -> int:
        """Bytes that registers did not hold."""
        launches = self.facts.get("launches", ())
        return max([self.facts.get("spill_bytes") or 0, *(one.get("spill_bytes") or 0 for one in launches)])

    @property
    def json(self) -> dict[str, Any]:
        """All but the compiler's facts."""
        names = ("config", "predicted_ms", "measured_ms", "legal", "reason", "origin", "tie")
        return {name: getattr(self, name) for name in names}


@dataclass(repr=False)
class Tuned:
    """The result of tuning a kernel for one set of arguments; it prints as a table.

    ``candidates`` are those that were looked at closely, the best first. ``counts`` say how many points were
    ``searched``, ``too_large`` by the formula of VMEM or shared memory, ``compiled``, and ``illegal`` for the compiler.
    ``model_error`` is the mean of |predicted / measured - 1|, None where nothing was measured.
    """

    kernel: str
    target: str
    chip: str
    specs: tuple[str, ...]
    candidates: list[Candidate]
    counts: dict[str, int]
    effort: str
    seed: int
    source: str = ""
    file: str | None = None
    interrupted: bool = False
    remarks: tuple[str, ...] = ()
    #: The values of the call, by the names of parameters.
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> Candidate | None:
        """The candidate to take; None where no configuration is legal."""
        found = self.candidates[0] if self.candidates else None
        return None if found is None or found.legal is False else found

    @property
    def default(self) -> Candidate | None:
        """The one that is taken without tuning."""
        return next((one for one in self.candidates if one.origin == "default"), None)

    @property
    def model_error(self) -> float | None:
        """How far the model is from what was measured."""
        pairs = [(one.predicted_ms, one.measured_ms) for one in self.candidates if one.measured_ms and one.predicted_ms]
        return sum(abs(said / ms - 1) for said, ms in pairs) / len(pairs) if pairs else None

    def __repr__(self) -> str:
        best = self.best
        took = "no legal configuration" if best is None else f"best {best.config}, {_ms(best)}"
        return f"<kopt tuned {self.kernel}({', '.join(self.specs)}) for {self.target}: {took}>"

    def __str__(self) -> str:
        from kopt.tuning.tables import text

        return text(self)

    def _repr_html_(self) -> str:
        from kopt.tuning.tables import text

        return html(repr(self)) + preformatted(text(self))

    def save(self, path: str | Path | None = None) -> Path:
        """Keeps the best in a file, by default ``NAME.kopt.json`` beside the kernel's, with what is kept there.

        Raises `ConfigError` where no configuration is legal, or the file cannot be written.
        """
        from kopt.tuning.files import save

        if self.best is None:
            raise ConfigError(f"no configuration of '{self.kernel}' is legal: there is nothing to keep")
        return save([self], path)

    @property
    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        names = ("kernel", "target", "chip", "counts", "effort", "seed", "interrupted", "model_error")
        candidates = [one.json for one in self.candidates]
        return {**{name: getattr(self, name) for name in names}, "specs": [*self.specs], "candidates": candidates}


@dataclass(repr=False)
class TunedShapes:
    """The results for several sets of arguments.

    ``best`` is the one configuration that loses least over all of them, by the geometric mean; ``loss`` is how much
    more than its own best the worst of them takes with it. ``table`` has each one's own best by its specs.
    """

    results: list[Tuned]
    shared: Candidate | None = None
    loss: float | None = None

    @property
    def best(self) -> Candidate | None:
        """One configuration for all; None where none is legal for all."""
        return self.shared

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates of all sets."""
        return [one for result in self.results for one in result.candidates]

    @property
    def table(self) -> dict[tuple[str, ...], Candidate | None]:
        """The decision table: the best of each set of arguments."""
        return {result.specs: result.best for result in self.results}

    def __repr__(self) -> str:
        first = self.results[0]
        took = "no configuration for all" if self.best is None else f"best for all {self.best.config}"
        return f"<kopt tuned {first.kernel} for {first.target}, {len(self.results)} shapes: {took}>"

    def __str__(self) -> str:
        from kopt.tuning.tables import shapes_text

        return shapes_text(self)

    def _repr_html_(self) -> str:
        return html(repr(self)) + preformatted(str(self))

    def save(self, path: str | Path | None = None) -> Path:
        """Keeps the decision table in a file, as `Tuned.save` does."""
        from kopt.tuning.files import save

        return save([result for result in self.results if result.best is not None], path)

    @property
    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        shared = None if self.best is None else self.best.json
        return {"best": shared, "loss": self.loss, "shapes": [result.json for result in self.results]}


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates in order, with ties marked: legal ones that were timed, then by the model; illegal ones last.

    Of ties the default is the first, since nothing speaks for another. What spills registers comes behind what does
    not, where only the model tells.
    """
    measured = any(one.measured_ms is not None for one in candidates)

    def key(one: Candidate) -> tuple[Any, ...]:
        if measured:
            return one.legal is False, one.measured_ms is None, _number(one.ms)
        return one.legal is False, one.legal is None, one.spills > 0, _number(one.predicted_ms)

    found = sorted(candidates, key=key)
    first = found[0] if found else None
    if first is None or first.legal is False or first.ms is None:
        return found
    for one in found:
        known = one.ms is not None and one.legal is not False and key(one)[:-1] == key(first)[:-1]
        one.tie = known and one.ms <= TIE * first.ms  # pyright: ignore[reportOptionalOperand]
    own = next((one for one in found if one.origin == "default" and one.tie), None)
    return found if own is None else [own, *(one for one in found if one is not own)]


def _number(ms: float | None) -> float:
    return float("inf") if ms is None else ms


def _ms(one: Candidate) -> str:
    if one.measured_ms is not None:
        return f"{one.measured_ms:.4g} ms measured"
    return "time not known" if one.predicted_ms is None else f"{one.predicted_ms:.4g} ms predicted"
