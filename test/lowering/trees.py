"""Random expressions, as printers spell them and with all of their parentheses."""

from __future__ import annotations

from random import Random

from kopt.lowering.expr import Expr, number, spell

TEMPLATES = (
    *(f"{{0}} {sign} {{1}}" for sign in ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "==", "!=")),
    *("-{0}", "~{0}", "-(-{0} // {1})", "{0} * {1} + {2}", "~{0} & {1}", "{0}.astype(jnp.int32) != 0"),
    *("{0}.T", "{0}[:, None]", "{0}[{1}]", "jnp.exp({0})", "jnp.where({0}, {1}, {2})", "f({0}, axis=({1}))"),
    *("jnp.concatenate([{0}, {1}], axis=1)", 'tl.max({0}, axis=1, sem="a, (b")', "g(lambda i, j: ({0}, j), {1})"),
)


def tree(random: Random, depth: int) -> tuple[Expr, str]:
    """An expression, and its text with parentheses around every part."""
    if depth == 0 or random.random() < 0.1:
        leaf = number(random.randrange(-3, 4)) if random.random() < 0.3 else Expr(random.choice("xyz") * 3)
        return leaf, f"({leaf.text})"
    text = random.choice(TEMPLATES)
    operands = [tree(random, depth - 1) for _ in range(3)]
    return spell(text, *(expr for expr, _ in operands)), f"({text.format(*(full for _, full in operands))})"
