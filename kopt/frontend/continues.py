"""``continue`` as branches: what follows an ``if`` that may continue moves into the arms that do not."""

from __future__ import annotations

import ast
import copy

_LOOPS = (ast.For, ast.While)


def remove_continues(function: ast.FunctionDef) -> None:
    """Rewrites the loops of a function so that ``continue`` under ``if`` is not needed.

        for t in loop:                        for t in loop:
            if skip:                              if skip:
                a                      ->             a
                continue                          else:
            b                                         b

    The meaning is the same whether the condition is Python's or the device's; a device loop runs its body once while
    it is imported and cannot jump. ``continue`` inside ``with`` and ``try`` stays.
    """
    for node in ast.walk(function):
        if isinstance(node, _LOOPS):
            node.body = _without(node.body) or [ast.copy_location(ast.Pass(), node)]


def _without(statements: list[ast.stmt]) -> list[ast.stmt]:
    for number, statement in enumerate(statements):
        if isinstance(statement, ast.Continue):
            return statements[:number]
        if isinstance(statement, ast.If) and _continues(statement):
            rest = statements[number + 1 :]
            body = _without([*statement.body, *copy.deepcopy(rest)])
            orelse = _without([*statement.orelse, *rest])
            branch = ast.If(statement.test, body or [ast.Pass()], orelse)
            return [*statements[:number], ast.fix_missing_locations(ast.copy_location(branch, statement))]
    return statements


def _continues(statement: ast.stmt) -> bool:
    """Whether a ``continue`` of the surrounding loop stands in a statement, under nothing but ``if``."""
    if not isinstance(statement, ast.If):
        return isinstance(statement, ast.Continue)
    return any(map(_continues, [*statement.body, *statement.orelse]))
