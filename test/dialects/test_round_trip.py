"""Every op of the block and host dialects survives both syntaxes, and every op has such a test."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from kopt.dialects import DIALECTS
from kopt.parsing import parse_module, verify
from kopt.registry import load

FOLDER = Path(__file__).resolve().parents[1] / "lit" / "dialects"
FILES = [path for path in sorted(FOLDER.glob("*.mlir")) if not path.stem.endswith("-errors")]
OWN = ("tile", "host", "jagged", "atomic", "symm")


def printed(module: ModuleOp, generic: bool) -> str:
    """A module as text."""
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(module)
    return out.getvalue()


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text_reads_back_as_the_same_module(path: Path, generic: bool) -> None:
    """Not the text is compared but the IR, attributes and properties included."""
    module = parse_module(path.read_text(), str(path))
    verify(module)
    again = parse_module(printed(module, generic))
    verify(again)
    assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize("name", OWN)
def test_every_op_is_in_a_round_trip_test(name: str) -> None:
    """By its name in some file."""
    text = "\n".join(path.read_text() for path in FILES)
    missing = [op.name for op in load(DIALECTS[name]).operations if f"{op.name} " not in text]
    assert not missing
