"""docs/passes-history.md says of each old pass what became of it: names that it sends a reader to exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kopt.passes import PASSES

PAGE = Path(__file__).resolve().parents[2] / "docs/passes-history.md"
OLD, NEW = PAGE.read_text().split("## Passes since then")
FATES = ("kept", "renamed", "split into", "merged into", "gone")


def rows(table: str) -> list[tuple[str, str]]:
    """The first two cells of each row: a pass, and what became of it."""
    return re.findall(r"^\| `([\w-]+)` \| ([^|]*?) \|", table, re.MULTILINE)


def test_every_pass_of_then_is_there_once():
    names = [name for name, _ in rows(OLD)]
    assert names == sorted(set(names)) and len(names) == 58


@pytest.mark.parametrize("name, fate", rows(OLD))
def test_fates(name, fate):
    kind, successors = fate.partition("`")[0].strip(), re.findall(r"`([\w-]+)`", fate)
    assert kind in FATES
    assert (name in PASSES) == (kind == "kept"), f"{name} is said to be {kind}"
    assert bool(successors) == (kind not in ("kept", "gone")) and set(successors) <= set(PASSES)


@pytest.mark.parametrize("name, home", rows(NEW))
def test_passes_since_then(name, home):
    then = {old for old, _ in rows(OLD)}
    assert name in PASSES and name not in then
    assert set(re.findall(r"`([\w-]+)`", home)) <= {*then, *PASSES}
