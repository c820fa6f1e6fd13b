"""Which function of a module is meant."""

from __future__ import annotations

import pytest

import kopt
from kopt.analysis.entry import entry_function
from kopt.errors import ConfigError

BODY = "func.func @{} () {{\n  func.return\n}}\n"


def module(names: str):
    """Functions with a body, and declarations: those whose names are in brackets."""
    texts = [f"func.func private @{each[1:-1]}()\n" if each[0] == "(" else BODY.format(each) for each in names.split()]
    return kopt.parse("".join(texts), "entry.mlir")


@pytest.mark.parametrize(
    ("names", "entry", "meant"),
    [
        ("f", None, "f"),
        ("f (g)", None, "f"),
        ("(g) f", None, "f"),
        ("f g", "g", "g"),
        ("f g", "f", "f"),
        ("f", "g", "no function 'g' in the module; functions with a body: f"),
        ("f (g)", "g", "no function 'g' in the module; functions with a body: f"),
        ("f g", None, "name one function with --entry; functions with a body: f, g"),
        ("f g", "h", "no function 'h' in the module; functions with a body: f, g"),
        ("(g)", None, "name one function with --entry; functions with a body: none"),
    ],
)
def test_the_function_that_is_meant(names: str, entry: str | None, meant: str) -> None:
    if " " not in meant:
        assert entry_function(module(names), entry).sym_name.data == meant
    else:
        with pytest.raises(ConfigError) as refused:
            entry_function(module(names), entry)
        assert meant in str(refused.value)
