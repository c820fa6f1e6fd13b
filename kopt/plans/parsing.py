"""The grammar of plans, over any `Tokens`.

    order [i, j, k] parallel [i, j]        or ``ordered [k]``; without either, all of them are parallel
    assume [%idx in 0 to 32000]
    warps 8                                an option of the launch
    walk(dim 1 of %x: b1=8192, online)
    views [%x permute pad]                 what the host does to an operand
    @x = %x window(i, k) x2 …              a buffer: operand, kind, axes, depth, words
    loop k resident unroll 2
    via [%k = @k, %k#1 = @pages]           the buffers of accesses

Clauses stand in any order. What is unknown is refused where it stands, with what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kopt.plans.kinds import (
    FORMS,
    KINDS,
    LAUNCH_WORDS,
    LINKS,
    LOOP_WORDS,
    LOOPS,
    PARTS,
    VIEWS,
    WALKS,
    WORDS,
    Kind,
    Word,
)
from kopt.plans.plan import Assumption, Buffer, LoopSchedule, Plan, Value, Walk
from kopt.plans.tokens import TextTokens, Tokens
from kopt.registry import did_you_mean

_T = TypeVar("_T")


def parse_plan(text: str) -> Plan:
    """The plan that a text spells, as `kopt.plans.text.plan_text` prints it. Raises `PlanTextError`."""
    tokens = TextTokens(text)
    return PlanParser(tokens).plan(tokens.at_end)


class PlanParser:
    """Reads plans and parts of plans. ``axes`` are the names of axes that were read, each with its place."""

    def __init__(self, tokens: Tokens):
        self.tokens = tokens
        self.axes: list[tuple[str, int]] = []
        self._found: dict[str, Any] = {}

    def plan(self, at_end: Callable[[], bool]) -> Plan:
        """Clauses until ``at_end``."""
        buffers: list[Buffer] = []
        loops: dict[str, LoopSchedule] = {}
        walks: list[Walk] = []
        options: list[tuple[str, Value]] = []
        start = self.tokens.here()
        while not at_end():
            if (name := self.tokens.buffer()) is not None:
                buffers.append(self._buffer(name))
                continue
            match self._clause():
                case "loop":
                    self._loop(loops)
                case "walk":
                    walks.append(self._walk())
                case "order" | "parallel" | "ordered" | "assume" | "via" | "views" as clause:
                    self._once(clause)
                case word:
                    self._once(word)
                    options.append((word, self._found[word]))
        order, parallel = self._order(start)
        assume, via, views = (self._found.get(clause, empty) for clause, empty in _EMPTY.items())
        return Plan(order, parallel, tuple(buffers), via, loops, tuple(options), assume, tuple(walks), views)

    def buffer_words(self) -> dict[str, Any]:
        """``window(i, k) x2 …``: the fields of a `Buffer` that the text has, from its kind on."""
        kind = KINDS[self._one_of("kind of buffer", KINDS)]
        fields: dict[str, Any] = {"kind": kind.name}
        options: list[tuple[str, Value]] = []
        if self.tokens.mark("("):
            fields["axes"] = tuple(self._until(")", self._axis))
        while (word := self.tokens.peek()) is not None and word not in _CLAUSES:
            self._buffer_word(kind, word, fields, options)
        return fields | ({"options": tuple(options)} if options else {})

    def schedule(self) -> LoopSchedule:
        """``resident peel(full | diagonal) unroll 2``."""
        kind = self._one_of("schedule of loops", LOOPS)
        found: dict[str, Value] = {}
        while (word := self.tokens.peek()) in LOOP_WORDS:
            assert word is not None
            self._new(word, found)
            found[word] = self._value(LOOP_WORDS[self._taken()])
        unroll, peel = found.pop("unroll", 1), found.pop("peel", ())
        assert isinstance(unroll, int) and isinstance(peel, tuple)
        return LoopSchedule(kind, unroll, tuple(map(str, peel)), tuple(found.items()))

    # Clauses.

    def _clause(self) -> str:
        if (word := self.tokens.peek()) is None:
            self.tokens.fail(f"expected a buffer (@x = …) or one of {', '.join(_CLAUSES)}")
        return self._one_of("clause of a plan", _CLAUSES) if word not in _CLAUSES else self._taken()

    def _once(self, clause: str) -> None:
        if clause in self._found:
            self.tokens.fail(f"'{clause}' stands twice")
        if clause == "assume":
            self._found[clause] = tuple(self._list(self._assumption))
        elif clause == "via":
            self._found[clause] = dict(self._list(self._via))
        elif clause == "views":
            self._found[clause] = dict(self._list(self._view))
        elif clause in LAUNCH_WORDS:
            self._found[clause] = self._value(LAUNCH_WORDS[clause])
        else:
            self._found[clause] = tuple(self._list(self._axis))

    def _order(self, start: int) -> tuple[tuple[str, ...], frozenset[str]]:
        if "order" not in self._found:
            self.tokens.fail("a plan has the order of its axes, outermost first: order [i, j]", start)
        order = self._found["order"]
        ordered = self._found.get("ordered")
        parallel = self._found.get("parallel", [axis for axis in order if axis not in (ordered or ())])
        if unknown := {*parallel, *(ordered or ())} - {*order}:
            self.tokens.fail(f"'{min(unknown)}' is not in the order [{', '.join(order)}]", start)
        if ordered is not None and {*parallel} != {*order} - {*ordered}:
            self.tokens.fail("an axis is either parallel or ordered: one of the two lists is enough", start)
        return order, frozenset(parallel)

    def _assumption(self) -> Assumption:
        operand = self._operand(bare=True)
        self._expect_word("in")
        low = self._number()
        self._expect_word("to")
        return Assumption(operand, low, self._number())

    def _via(self) -> tuple[str, str]:
        access = self._needed(self.tokens.access(), "an access, as %x or %x#1")
        self._expect("=")
        return access, self._buffer_name()

    def _view(self) -> tuple[str, tuple[str, ...]]:
        operand = self._operand()
        views = [self._one_of("view", VIEWS)]
        while self.tokens.peek() in VIEWS:
            views.append(self._taken())
        return operand, tuple(views)

    def _walk(self) -> Walk:
        self._expect("(")
        self._expect_word("dim")
        dim = self._number()
        self._expect_word("of")
        operand = self._operand()
        self._expect(":")
        axis = self._axis()
        self._expect("=")
        size = self._number()
        self._expect(",")
        how = self._one_of("way to walk", WALKS)
        self._expect(")")
        return Walk(operand, dim, axis, size, how)

    def _loop(self, loops: dict[str, LoopSchedule]) -> None:
        start, axis = self.tokens.here(), self._axis()
        if axis in loops:
            self.tokens.fail(f"the loop '{axis}' has two schedules", start, len(axis))
        loops[axis] = self.schedule()

    def _buffer(self, name: str) -> Buffer:
        self._expect("=")
        return Buffer(name, self._operand(), **self.buffer_words())

    # Words of a buffer.

    def _buffer_word(self, kind: Kind, word: str, fields: dict[str, Any], options: list[tuple[str, Value]]) -> None:
        if word[0] == "x" and word[1:].isdecimal():
            self._new("depth", fields)
            if (depth := int(self._taken()[1:])) < 1:
                self.tokens.fail("a buffer is at least one deep: x1")
            fields["depth"] = depth
        elif word in kind.links:
            self._new(LINKS[self._taken()], fields)
            fields[LINKS[word]] = self._buffer_name()
        else:
            self._one_of(f"word of '{kind.name}'", (*kind.links, *kind.words))
            options.append((word, self._value(WORDS[word])))

    def _value(self, word: Word) -> Value:
        """What stands behind a word."""
        if isinstance(word.takes, tuple):
            return self._one_of(f"'{word.name}'", word.takes)
        return self._READ[word.takes](self, word)

    def _count(self, word: Word) -> Value:
        start = self.tokens.here()
        number = self.tokens.number()
        if number is None or number < 1:
            self.tokens.fail(f"expected a positive number: {word.name} {FORMS['number']}", start)
        return number

    def _axes(self, word: Word) -> Value:
        self._expect("(", f"{word.name}{FORMS['axes']}")
        return tuple(self._until(")", self._axis))

    def _ahead(self, word: Word) -> Value:
        self._expect("(", f"{word.name}{FORMS['ahead']}")
        axis = self._axis()
        self._expect(",", f"{word.name}{FORMS['ahead']}")
        count = self._count(word)
        self._expect(")")
        return (axis, count)  # pyright: ignore[reportReturnType]

    def _parts(self, word: Word) -> Value:
        self._expect("(", f"{word.name}{FORMS['parts']}")
        return tuple(self._until(")", lambda: self._one_of("part of a loop", PARTS), "|"))

    _READ = {
        "nothing": lambda self, word: (),
        "number": _count,
        "axes": _axes,
        "ahead": _ahead,
        "parts": _parts,
    }

    # Tokens.

    def _taken(self) -> str:
        word = self.tokens.word()
        assert word is not None
        return word

    def _one_of(self, what: str, known: Iterable[str]) -> str:
        start, word, known = self.tokens.here(), self.tokens.word(), list(known)
        there_are = f"there are {', '.join(known)}" if known else "there are none"
        if word is None:
            self.tokens.fail(f"expected a {what}: {there_are}", start)
        if word not in known:
            self.tokens.fail(f"unknown {what}: '{word}'{did_you_mean(word, known)}; {there_are}", start, len(word))
        return word

    def _new(self, name: str, found: dict[str, Any]) -> None:
        if name in found:
            self.tokens.fail(f"'{self.tokens.peek()}' says '{name}' a second time")

    def _axis(self) -> str:
        start = self.tokens.here()
        axis = self._needed(self.tokens.word(), "the name or tag of an axis")
        self.axes.append((axis, start))
        return axis

    def _operand(self, bare: bool = False) -> str:
        return self._needed(self.tokens.operand(bare), "an operand, as %x")

    def _buffer_name(self) -> str:
        return self._needed(self.tokens.buffer(), "a buffer, as @x")

    def _number(self) -> int:
        return self._needed(self.tokens.number(), "a number")

    def _needed(self, found: _T | None, what: str) -> _T:
        return found if found is not None else self.tokens.fail(f"expected {what}")

    def _expect(self, mark: str, form: str = "") -> None:
        if not self.tokens.mark(mark):
            self.tokens.fail(f"expected '{mark}'{form and f': {form}'}")

    def _expect_word(self, word: str) -> None:
        if self.tokens.peek() != word:
            self.tokens.fail(f"expected '{word}'")
        self.tokens.word()

    def _list(self, item: Callable[[], _T]) -> list[_T]:
        self._expect("[")
        return self._until("]", item)

    def _until(self, end: str, item: Callable[[], _T], separator: str = ",") -> list[_T]:
        if self.tokens.mark(end):
            return []
        found = [item()]
        while not self.tokens.mark(end):
            self._expect(separator)
            found.append(item())
        return found


_CLAUSES = ("order", "parallel", "ordered", "assume", "via", "views", "loop", "walk", *LAUNCH_WORDS)
_EMPTY = {"assume": (), "via": {}, "views": {}}
