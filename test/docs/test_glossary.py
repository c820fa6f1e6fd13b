"""docs/glossary.md has every kind of buffer that a plan may name, and no other."""

import re
from pathlib import Path

from kopt.plans.kinds import KINDS

PAGE = (Path(__file__).resolve().parents[2] / "docs/glossary.md").read_text()


def test_kinds():
    table = PAGE.partition("### Kinds of buffers")[2].partition("## Around")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    assert sorted(name for cell in cells for name in re.findall(r"`(\w+)`", cell)) == sorted(KINDS)


def test_every_word_is_explained():
    rows = re.findall(r"^\| (?!---)(.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) > 60 and all(all(row.split(" | ")) for row in rows)
