"""The tables of words agree with one another, and with what reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt.plans.kinds import (
    BOTH,
    FORMS,
    KINDS,
    LAUNCH_WORDS,
    LINKS,
    LOOP_WORDS,
    LOOPS,
    PARTS,
    WORDS,
    Word,
    takes,
)
from kopt.plans.parsing import parse_plan
from kopt.plans.plan import Buffer, Plan

ROOT = Path(__file__).resolve().parents[2]
CLAUSES = ("order", "parallel", "ordered", "assume", "via", "loop", "walk", *LAUNCH_WORDS)


def test_kinds_take_words_that_there_are() -> None:
    for kind in KINDS.values():
        assert {*kind.words} <= {*WORDS} and {*kind.links} <= {*LINKS} and {*kind.families} <= {*BOTH}, kind.name
        assert kind.reads or kind.writes
    assert {word for kind in KINDS.values() for word in kind.words} == {*WORDS}
    assert all({*loop.families} <= {*BOTH} for loop in LOOPS.values())


@pytest.mark.parametrize("word", [*WORDS.values(), *LOOP_WORDS.values(), *LAUNCH_WORDS.values()], ids=lambda w: w.name)
def test_words_have_a_form(word: Word) -> None:
    assert isinstance(word.takes, tuple) or word.takes in FORMS


def test_a_words_place_tells_what_it_is() -> None:
    """Words of buffers begin no clause, and a depth is no word."""
    assert not {*WORDS, *LINKS} & {*CLAUSES}
    assert len({*FORMS}) == 5 and PARTS


def test_values_of_other_forms_do_not_fit() -> None:
    values = [(), 3, "last", ("i",), ("i", 2), 0, -1, "", ("i", 0), (2, "i"), True]
    fits = {word: [value for value in values if takes(WORDS[word], value)] for word in WORDS}
    assert fits["whole"] == [()] and fits["evict"] == ["last"] and fits["vec"] == [3]
    assert fits["accumulate"] == [("i",)] and fits["prefetch"] == [("i", 2)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_with_all_its_words(kind: str) -> None:
    text = {"nothing": "", "number": " 4", "axes": "(i, j)", "ahead": "(i, 2)"}
    words = [WORDS[word] for word in KINDS[kind].words]
    spelt = [w.name + (f" {w.takes[0]}" if isinstance(w.takes, tuple) else text[w.takes]) for w in words]
    links = [f"{word} @y" for word in KINDS[kind].links]
    plan = parse_plan(f"order [i, j] @y = %y window(j) @x = %x {' '.join([kind, *links, 'x3', *spelt])}")
    buffer = plan.buffers[1]
    assert [word for word, _ in buffer.options] == [word.name for word in words] and buffer.depth == 3
    assert [getattr(buffer, LINKS[word]) for word in KINDS[kind].links] == ["y"] * len(links)


def test_buffers_of_accesses() -> None:
    plan = Plan(("i",), frozenset(), (Buffer("a", "x", "window"), Buffer("b", "x", "resident")), {"x": "a", "x#1": "b"})
    assert plan.buffer("x#1").kind == "resident"


def test_plans_need_no_ir() -> None:
    code = "import sys, kopt.plans.parsing, kopt.plans.text, kopt.plans.pins, kopt.plans.checks"
    code += "; print('xdsl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr
