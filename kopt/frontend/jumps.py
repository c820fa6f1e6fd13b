"""``continue`` and ``break`` as branches: what follows an ``if`` that may jump moves into the arms that do not."""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

_JUMPS = (ast.Break, ast.Continue)
Loop = TypeVar("Loop", ast.For, ast.While)


def remove_jumps(function: ast.FunctionDef) -> None:
    """Rewrites the loops of a function so that ``continue`` and ``break`` under ``if`` are not needed.

        for t in loop:                        for t in loop:
            if skip:                              if skip:
                a                      ->             a
                continue                          else:
            b                                         b

    A loop that breaks gets a flag, which the visits after it look at:

        for t in loop:                        stopped = False
            if enough:                        for t in loop:
                break                  ->         if not stopped:
            b                                         if enough:
                                                          stopped = True
                                                      else:
                                                          b
                                                  if stopped is True:
                                                      break

    The meaning is the same whether the condition is Python's or the device's; a device loop runs its body once while
    it is imported and cannot jump, so its flag is a value of the device, and Python's ``break`` is not met. The flag of
    a ``while`` is part of its condition. Jumps inside ``with`` and ``try`` stay.
    """
    _Remover().visit(function)


class _Remover(ast.NodeTransformer):
    """One function's rewriting; numbers the flags."""

    def __init__(self) -> None:
        self.count = 0

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        flag = self._rewrite(node)
        if flag is None:
            return node
        leave = ast.If(ast.Compare(_load(flag), [ast.Is()], [ast.Constant(True)]), [ast.Break()], [])
        node.body = [ast.If(_not(flag), node.body, []), leave]
        return _flagged(node, flag)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        flag = self._rewrite(node)
        if flag is None:
            return node
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        node.test = _not(flag) if always else ast.IfExp(_not(flag), node.test, ast.Constant(False))
        return _flagged(node, flag)

    def _rewrite(self, node: ast.For | ast.While) -> str | None:
        """Removes the jumps of a loop, inner loops' first; the name of its flag if it has one."""
        self.generic_visit(node)
        flag = None
        if any(_jumps(statement, (ast.Break,)) for statement in node.body):
            self.count += 1
            flag = f"__kopt_stopped{self.count}__"
        node.body = _without(node.body, flag) or [ast.copy_location(ast.Pass(), node)]
        return flag


def _flagged(node: Loop, flag: str) -> list[ast.stmt]:
    """The flag's first value and the loop; ``else`` is for loops that were not left."""
    if node.orelse:
        node.orelse = [ast.If(_not(flag), node.orelse, [])]
    parts: list[ast.stmt] = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(False)), node]
    for part in (parts[0], *node.body, *node.orelse, *([node.test] if isinstance(node, ast.While) else [])):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
        ast.fix_missing_locations(part)
    return parts


def _without(statements: list[ast.stmt], flag: str | None) -> list[ast.stmt]:
    for number, statement in enumerate(statements):
        if isinstance(statement, ast.Continue):
            return statements[:number]
        if isinstance(statement, ast.Break) and flag is not None:
            stop = ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True))
            return [*statements[:number], ast.fix_missing_locations(ast.copy_location(stop, statement))]
        if isinstance(statement, ast.If) and _jumps(statement, _JUMPS):
            rest = statements[number + 1 :]
            body = _without([*statement.body, *copy.deepcopy(rest)], flag)
            orelse = _without([*statement.orelse, *rest], flag)
            branch = ast.If(statement.test, body or [ast.Pass()], orelse)
            return [*statements[:number], ast.fix_missing_locations(ast.copy_location(branch, statement))]
    return statements


def _jumps(statement: ast.stmt, kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a jump of the surrounding loop stands in a statement, under nothing but ``if``."""
    if not isinstance(statement, ast.If):
        return isinstance(statement, kinds)
    return any(_jumps(inner, kinds) for inner in (*statement.body, *statement.orelse))


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _not(name: str) -> ast.expr:
    return ast.UnaryOp(ast.Not(), _load(name))
