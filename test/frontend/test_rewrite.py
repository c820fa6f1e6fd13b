"""The text of rewritten functions: which hooks are called, with what."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest
import torch

import kopt.language as hl
from kopt.frontend.rewrite import rewrite, rewrite_lambda

from .support import check


def rewritten(body: str) -> str:
    """The body of ``f`` with hooks; its decorator, defaults and annotations are gone."""
    text = (
        f"@decorated\ndef f(n: int = 0, /, m: int = 1, *, k: int = 2) -> int:\n{indent(dedent(body).strip(), '    ')}"
    )
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    head, _, found = ast.unparse(ast.fix_missing_locations(rewrite(function))).partition("\n")
    assert head == "def f(n, /, m, *, k):"
    return dedent(found).strip().replace("__kopt__.", "K.").replace("__kopt_", "_")


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("a = n", "a = K.named(n, 'a')"),
        ("g(n).a = m[0]", "K.call(g, n).a = K.getitem(m, 0)"),
        ("n[0] = m", "K.setitem(m, n, 0)"),
        ("n.b[g(m)] = k", "K.setitem(k, n.b, K.call(g, m))"),
        ("a, b = n", "a, b = K.named_all(n, ('a', 'b'))"),
        ("[a, *b] = n", "a, *b = K.named_all(n, ('a', ''))"),
        ("a, n[0] = m", "a, _value1__ = K.named_all(m, ('a', ''))\nK.setitem(_value1__, n, 0)"),
        (
            "a = n[0] = b, m.c = g(k)",
            "_value1__ = K.call(g, k)\n"
            "a = K.named(_value1__, 'a')\n"
            "K.setitem(_value1__, n, 0)\n"
            "b, m.c = K.named_all(_value1__, ('b', ''))",
        ),
        ("a: int", "pass"),
        ("a: int = g(n)", "a = K.named(K.call(g, n), 'a')"),
        ("n[0]: int = m", "K.setitem(m, n, 0)"),
        ("n += g(m)", "n = K.named(K.inplace('add', n, K.call(g, m)), 'n')"),
        ("n[0] -= m", "K.inplace_item('sub', n, 0, m)"),
        ("n.a *= m[0]", "n.a *= K.getitem(m, 0)"),
        ("del n[g(m)]", "del n[K.call(g, m)]"),
        ("return", "return"),
        ("return n", "return K.returned(n)"),
        ("assert n", "assert K.check(n)"),
        ("assert n, g(m)", "assert K.check(n), K.call(g, m)"),
    ],
)
def test_statements(statement: str, wanted: str) -> None:
    assert rewritten(statement) == wanted


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("g(n, *m, a=k[0], **k)", "K.call(g, n, *m, a=K.getitem(k, 0), **k)"),
        ("locals()", "locals()"),
        ("super().g(n)", "K.call(super().g, n)"),
        ("vars(g(n))", "vars(K.call(g, n))"),
        ("n[0]", "K.getitem(n, 0)"),
        ("n[1:m, ::k, (0, None)]", "K.getitem(n, (K.slice(1, m, None), K.slice(None, None, k), (0, None)))"),
        ("n and m", "K.all_of(n, lambda: m)"),
        ("n or m or g(k)", "K.any_of(n, lambda: m, lambda: K.call(g, k))"),
        ("n and (b := m[0])", "n and (b := K.getitem(m, 0))"),  # a function would hide the name
        ("(b := n) and m", "K.all_of((b := n), lambda: m)"),
        ("n if m else k", "K.choose(m, lambda: n, lambda: k)"),
        ("(b := n[0]) if m else k", "(b := K.getitem(n, 0)) if m else k"),
        ("n if m else (b := k[0])", "n if m else (b := K.getitem(k, 0))"),
        ("n if (b := m) else k", "K.choose((b := m), lambda: n, lambda: k)"),
        ("n < m", "K.binary('lt', n, m)"),
        ("n < m <= g(k)", "K.chain(('lt', 'le'), n, lambda: m, lambda: K.call(g, k))"),
        ("n < m < (b := k[0])", "n < m < (b := K.getitem(k, 0))"),
        ("n < (b := m)", "K.binary('lt', n, (b := m))"),
        ("n[0] in m", "K.getitem(n, 0) in m"),
        ("n < m is k", "n < m is k"),
        ("n * m", "K.binary('mul', n, m)"),
        ("n * 3", "K.binary('mul', n, 3)"),
        ("3 * n[0]", "3 * K.getitem(n, 0)"),
        ("3.0 * n", "K.binary('mul', 3.0, n)"),
        ("n[0] @ m", "K.getitem(n, 0) @ m"),
        ("-n[0]", "-K.getitem(n, 0)"),
        ("not n[0]", "K.negation(K.getitem(n, 0))"),
        ("lambda b, c=n[0]: b[0]", "lambda b, c=K.getitem(n, 0): K.getitem(b, 0)"),
    ],
)
def test_expressions(expression: str, wanted: str) -> None:
    assert rewritten(f"g({expression})") == f"K.call(g, {wanted})"


def test_functions_defined_inside() -> None:
    """Decorators and defaults are evaluated where they stand, annotations are not; each has loops of its own."""
    inner = """
        for i in n:
            @g(n)
            @g[1]
            def h(x: int = g(1), /, y: int = 2, *, z: int = n[1], w: int) -> int:
                for j in x:
                    return j
            return h
    """
    lines = rewritten(inner).splitlines()
    names = [n for n, line in enumerate(lines) if "def h" in line]
    assert [line.strip() for line in lines[names[0] - 2 : names[0] + 1]] == [
        "@K.call(g, n)",
        "@K.getitem(g, 1)",
        "def h(x=K.call(g, 1), /, y=2, *, z=K.getitem(n, 1), w):",
    ]
    told = [line.strip() for line in lines if ".jump(" in line or "return" in line.split("(")[0].split()]
    assert told == [
        "_loop2__.jump('return')",
        "return K.returned(j)",
        "_loop1__.jump('return')",
        "return K.returned(h)",
    ]


def test_branches() -> None:
    """The second arm is there where there is one; arms that return need a condition that is known."""
    arms = rewritten("if n:\n    k = m\nelse:\n    k = 3\nreturn k").splitlines()
    assert arms == [
        "_branch1__ = K.branch(n, ('k',), ('k',))",
        "if _branch1__.device:",
        "    _branch1__.enter(K.locals())",
        "if _branch1__.then:",
        "    k = K.named(m, 'k')",
        "if _branch1__.device:",
        "    k, = _branch1__.switch(K.locals())",
        "if _branch1__.otherwise:",
        "    k = K.named(3, 'k')",
        "if _branch1__.device:",
        "    k, = _branch1__.merge(K.locals())",
        "return K.returned(k)",
    ]
    assert "otherwise" not in rewritten("if n:\n    k = m\nreturn k")
    leaving = rewritten("if n:\n    k = m\nelse:\n    return 3\nreturn k").splitlines()
    assert leaving[:2] == ["if K.truth(n, True):", "    k = K.named(m, 'k')"]


def test_lambdas() -> None:
    """Defaults are those of the function object."""
    node = ast.parse("lambda n, m=g(1), *, k=2: n[m]").body[0]
    assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Lambda)
    made = ast.unparse(ast.fix_missing_locations(rewrite_lambda(node.value)))
    assert made == "lambda n, m, *, k: __kopt__.getitem(n, m)"


def test_defaults_of_functions_inside_load_elements() -> None:
    def kernel(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0), block_size=4):

            def scaled(v, first=x[0, 1], *, by=x[0, 0] if rows.begin > 3 else 2.0):
                return v * by + first

            out[rows, :] = scaled(x[rows, :])
        return out

    x = torch.randn(8, 16)
    check(kernel, [x], torch.cat([x[:4] * 2, x[4:] * x[0, 0]]) + x[0, 1])
