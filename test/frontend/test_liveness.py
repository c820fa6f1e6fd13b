"""Which names loops carry and branches merge."""

from __future__ import annotations

import ast

import pytest

from kopt.frontend.liveness import annotate


def annotated(body: str) -> list[ast.AST]:
    """Loops and branches of a function, in the order of the text."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    function = ast.parse(f"def f(n):\n{lines}").body[0]
    assert isinstance(function, ast.FunctionDef)
    annotate(function)
    found = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.If)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


@pytest.mark.parametrize(
    ("body", "carried"),
    [
        ("a = 0\nfor i in n:\n    a = a + i\nreturn a", ("a",)),
        ("a = 0\nfor i in n:\n    a += i\nreturn 1", ("a",)),
        ("for i in n:\n    t = i\n    s(t)", ()),
        ("t = 1\nfor i in n:\n    t = i\n    s(t)", ()),
        ("t = 1\nfor i in n:\n    s(t)\n    t = i", ("t",)),
        ("for i in n:\n    t = i\nreturn t", ("t",)),
        ("a = b = 0\nfor i in n:\n    a, b = b, a + i\nreturn a", ("a", "b")),
        ("x = [0]\nfor i in n:\n    x[0] = x[0] + i\nreturn x", ("x",)),
        ("m = 0\nfor i in n:\n    new = g(m, i)\n    m = new\nreturn m", ("m",)),
        ("a = 0\nfor i in n:\n    if i:\n        a = i\nreturn a", ("a",)),
        ("t = 1\nfor i in n:\n    for j in i:\n        s(t)\n    t = i", ("t",)),
        ("t = 1\nfor i in n:\n    for j in i:\n        s(j)\n    s(t)\n    t = i", ("t",)),
        ("t = 1\nfor i in n:\n    for j in i:\n        s(j)\n    else:\n        s(t)\n    t = i", ("t",)),
        ("t = 1\nfor i in n:\n    while c(t):\n        t = i\n    t = 2", ("t",)),
        ("for i in n:\n    with c(t):\n        s(u)\n    t = u = i", ("t", "u")),
        ("for i in n:\n    try:\n        s(t)\n    except E:\n        s(u)\n    else:\n        s(v)\n    t = u = v = i",
         ("t", "u", "v")),
        ("for i in n:\n    try:\n        t = i\n    finally:\n        s(t, u)\n    u = i", ("u",)),
        ("a = 0\nfor i in n:\n    f = lambda: a\n    a = f()", ("a",)),
        ("a = 0\ndef f():\n    nonlocal a\n    a = a + 1\nfor i in n:\n    f()\n    s(a)", ("a",)),
        ("def f():\n    a = 0\n    def g():\n        nonlocal a\n        a = 1\nfor i in n:\n    f()", ()),
    ],
)  # fmt: skip
def test_carried(body, carried):
    loop = next(node for node in annotated(body) if isinstance(node, ast.For))
    assert loop.carried == carried


def test_inner_and_outer_loops():
    outer, inner = annotated("a = 0\nfor i in n:\n    b = 0\n    for j in i:\n        b += j\n    a += b\nreturn a")
    assert outer.carried == ("a",) and inner.carried == ("b",)


def test_merged_names_are_live_after():
    (branch,) = annotated("if n:\n    a = 1\n    t = 2\nelse:\n    a = 3\nreturn a")
    assert branch.merged == ("a",) and branch.assigned == ("a", "t")
