"""An argument of a call has a short way from `import_for_target` to its meta tensor: few places where it may turn."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

#: The functions that the value of one argument goes through, in order.
WALK = ("_bind", "_Import._argument", "_Import._tensor", "framework_of", "is_struct", "spec_of")
MOST = 6


def returns(function: object) -> int:
    """The ``return`` statements of a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))  # pyright: ignore[reportArgumentType]
    return sum(isinstance(node, ast.Return) for node in ast.walk(tree))


def test_an_argument_is_walked_with_few_returns():
    pytest.importorskip("torch")
    from kopt.frontend import importer

    found = {}
    for name in WALK:
        function = importer
        for part in name.split("."):
            function = getattr(function, part)
        found[name] = returns(function)
    assert sum(found.values()) <= MOST, found
