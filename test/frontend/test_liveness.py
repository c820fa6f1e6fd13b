"""Which names loops carry and branches merge."""

from __future__ import annotations

import ast

import pytest

from kopt.frontend.liveness import annotate, assigned_names, jumps, used_names


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


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("break", True),
        ("continue", True),
        ("pass", False),
        ("a = 1\ncontinue", True),
        ("if n:\n    break", True),
        ("if n:\n    a = 1\nelse:\n    continue", True),
        ("if n:\n    if n:\n        break", True),
        ("if n:\n    a = 1", False),
        ("with n:\n    break", True),
        ("with n:\n    a = 1", False),
        ("try:\n    break\nexcept E:\n    pass", True),
        ("try:\n    pass\nexcept E:\n    break", True),
        ("try:\n    pass\nexcept E:\n    pass\nelse:\n    break", True),
        ("try:\n    pass\nfinally:\n    break", True),
        ("try:\n    pass\nexcept E:\n    pass\nelse:\n    pass\nfinally:\n    pass", False),
        # Those leave a loop of their own.
        ("for i in n:\n    break", False),
        ("while n:\n    continue", False),
        ("def f():\n    for i in n:\n        break", False),
    ],
)
def test_what_leaves_a_loop(body: str, leaves: bool) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    (loop,) = ast.parse(f"for k in n:\n{lines}").body
    assert isinstance(loop, ast.For) and jumps(loop.body) == leaves


@pytest.mark.parametrize(
    ("text", "assigned", "used"),
    [
        ("a = b", "a", "b"),
        ("a, [b, *c] = d", "a b c", "d"),
        ("a: int = b", "a", "b int"),
        ("a: int", "a", "int"),
        ("a += b", "a", "b"),
        ("a[i] = b", "a", "a b i"),
        ("a[i] += b", "a", "a b i"),
        ("a[i][j] = b", "", "a b i j"),
        ("a.x = b", "", "a b"),
        ("f(a := b)", "a", "b f"),
        ("for a in b:\n    c = d", "a c", "b d"),
        ("with a as b:\n    c = 1", "b c", "a"),
        ("def f(a):\n    b = c", "f", "c"),
        ("f = lambda a: b", "f", "b"),
        ("class A:\n    b = c", "", "c"),
        ("[a for a in b]", "a", "a b"),
        ("del a[b]", "", "a b"),
    ],
)
def test_names_of_a_statement(text: str, assigned: str, used: str) -> None:
    (statement,) = ast.parse(text).body
    assert assigned_names([statement]) == set(assigned.split())
    assert used_names([statement, None]) == set(used.split())


@pytest.mark.parametrize(
    ("body", "carried", "head"),
    [
        # Read at the head of the next visit, or behind the loop alone.
        ("for i in n:\n    s(a)\n    a = b = i\nreturn b", "a b", "a"),
        ("while c(a):\n    a = b = i\nreturn b", "a b", "a"),
        ("for i in n:\n    a = i\nelse:\n    s(a)", "a", ""),
        ("while c:\n    a = i\nelse:\n    s(a)", "a", ""),
        ("for i in n:\n    i = i + 1\nreturn i", "", ""),
        ("for i, (j, k) in n:\n    i = j = k = 0\nreturn i, j, k", "", ""),
        ("for i in n:\n    for j in i:\n        a = b\n        b = j\nreturn 0", "b", "b"),
        ("for i in n:\n    if i:\n        return a\n    a = i", "a", "a"),
        ("for i in n:\n    if i:\n        raise a\n    a = i", "a", "a"),
        ("for i in n:\n    if i:\n        raise E from a\n    a = i", "a", "a"),
        ("for i in n:\n    a = i\n    return a", "", ""),
        ("for i in n:\n    a: int = i\n    s(a)", "", ""),
        ("for i in n:\n    a: int\n    s(a)\n    a = i", "a", "a"),
        ("for i in n:\n    try:\n        s(1)\n    except E:\n        a = i\n    s(a)", "a", "a"),
        ("for i in n:\n    with c(i):\n        a = i\n    s(a)", "", ""),
    ],
)  # fmt: skip
def test_where_carried_names_are_read(body: str, carried: str, head: str) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    (function,) = ast.parse(f"def f(n):\n{lines}").body
    assert isinstance(function, ast.FunctionDef)
    annotate(function)
    loop = function.body[0]
    assert (loop.carried, loop.head_live) == (tuple(carried.split()), tuple(head.split()))  # pyright: ignore
