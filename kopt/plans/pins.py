"""What a user decides of a plan beforehand: the config keys ``accesses``, ``loops`` and ``order``.

    {"accesses": {"k": "resident", "k#1": "window x3"}, "loops": {"j": "resident unroll 2"}, "order": ["i", "j"]}

An access is named by its id, ``k`` for the first of the array ``k``; a loop and a dimension by the name of its variable
in the source, or by its tag. The values are the words of `kopt.plans.kinds`. What is left open is the planner's
choice. As options of the pass ``plan-accesses`` they are

    plan-accesses{accesses="k = resident","k#1 = window x3" loops="j = resident unroll 2" order=i,j}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kopt.errors import ConfigError
from kopt.plans.checks import of_schedule
from kopt.plans.kinds import LINKS
from kopt.plans.parsing import PlanParser
from kopt.plans.plan import LoopSchedule, Options
from kopt.plans.tokens import PlanTextError, TextTokens

_T = TypeVar("_T")

#: The config keys that pin decisions, and what they look like.
EXAMPLES = {"accesses": {"k": "resident", "k#1": "window x2"}, "loops": {"j": "resident"}, "order": ["i", "j"]}
_ACCESS = re.compile(r"[\w$.-]+(#[0-9]+)?")
_AXIS = re.compile(r"[A-Za-z_][\w$.]*")


@dataclass(frozen=True)
class Pin:
    """What is decided of the buffer of an access; None and nothing where the planner chooses."""

    kind: str
    axes: tuple[str, ...] | None = None
    depth: int | None = None
    options: Options = ()


@dataclass(frozen=True)
class Pins:
    """The decisions that a plan has to keep. ``order`` is None where it is open."""

    accesses: Mapping[str, Pin] = field(default_factory=dict)
    loops: Mapping[str, LoopSchedule] = field(default_factory=dict)
    order: tuple[str, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.accesses or self.loops or self.order is not None)


#: Names and the words behind them.
Named = Iterable[tuple[str, str]]


def make_pins(accesses: Named = (), loops: Named = (), order: Sequence[str] | None = None) -> Pins:
    """The pins that words spell. Raises `ConfigError` for words that there are not, with those that there are."""
    return Pins(
        {name: _read("accesses", name, text, _pin) for name, text in accesses},
        {name: _read("loops", name, text, _schedule) for name, text in loops},
        None if order is None else tuple(order),
    )


def read_options(accesses: Iterable[str], loops: Iterable[str], order: Sequence[str]) -> Pins:
    """The pins of a pass's options: ``k#1 = window x3`` of each access and loop."""
    named = {"accesses": dict(map(_split, accesses)), "loops": dict(map(_split, loops))}
    pairs = {key: checked_names(key, names) for key, names in named.items()}
    return make_pins(**pairs, order=checked_order(order) if order else None)


def options(accesses: Named, loops: Named, order: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    """The options that `read_options` reads, where there are any."""
    named = {"accesses": accesses, "loops": loops}
    texts = {key: tuple(f"{name} = {words}" for name, words in pairs) for key, pairs in named.items()}
    return {key: items for key, items in {**texts, "order": tuple(order or ())}.items() if items}


def _split(item: str) -> tuple[str, str]:
    name, mark, words = item.partition("=")
    if not mark:
        raise ConfigError(f"expected a name, '=' and words, as 'k = {EXAMPLES['accesses']['k']}', found {item!r:.100}")
    return name.strip(), words.strip()


def checked_names(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    """The names and words of ``accesses`` or ``loops``, in order. Raises `ConfigError` for anything else."""
    if not isinstance(value, Mapping):
        raise _wrong(key, f"is a mapping of {key} to words", value)
    what, pattern = ("ids of accesses", _ACCESS) if key == "accesses" else ("tags of loops", _AXIS)
    for name, words in value.items():
        if not isinstance(name, str) or not pattern.fullmatch(name):
            raise _wrong(key, f"has {what} for keys", name)
        if not isinstance(words, str):
            raise _wrong(key, "has words for values", words)
    return tuple(sorted(value.items()))


def checked_order(value: Any) -> tuple[str, ...]:
    """The axes of ``order``. Raises `ConfigError` for anything but a list of different tags."""
    names = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None
    if not names or not all(isinstance(name, str) and _AXIS.fullmatch(name) for name in names):
        raise _wrong("order", "is a list of axes, outermost first", value)
    if len({*names}) < len(names):
        raise _wrong("order", "has each axis once", value)
    return tuple(names)


def _wrong(key: str, message: str, found: Any) -> ConfigError:
    return ConfigError(f"config key '{key}' {message}, as {EXAMPLES[key]!r}, found {found!r:.100}", id="config-value")


def _read(key: str, name: str, text: str, read: Callable[[PlanParser], _T]) -> _T:
    """What words spell, read to their end."""
    tokens = TextTokens(text)
    try:
        found = read(PlanParser(tokens))
        return found if tokens.at_end() else tokens.fail("expected nothing more")
    except PlanTextError as error:
        where = f", at {text[error.start :]!r:.60}" if 0 < error.start < len(text) else ""
        raise ConfigError(f"config key '{key}', {name} = {text!r:.100}{where}: {error}", id="config-value") from None


def _pin(parser: PlanParser) -> Pin:
    words = parser.buffer_words()
    if links := [word for word, field in LINKS.items() if field in words]:
        parser.tokens.fail(f"'{links[0]}' names a buffer, which the planner does")
    return Pin(**words)


def _schedule(parser: PlanParser) -> LoopSchedule:
    schedule = parser.schedule()
    for found in of_schedule(schedule):
        parser.tokens.fail(found)
    return schedule
