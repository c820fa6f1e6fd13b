"""Which names a loop carries and a branch merges: liveness of local names over Python's syntax tree.

A loop carries a name when its body assigns the name and its value is read later: at the head of the next visit or
after the loop. A name that is assigned before it is read in every visit is a temporary and is not carried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

Names = frozenset[str]
EMPTY: Names = frozenset()
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_JUMPS = (ast.Break, ast.Continue)


def annotate(function: ast.FunctionDef) -> None:
    """Writes ``carried`` and ``head_live`` on loops and ``merged`` and ``assigned`` on branches of a function.

    All are sorted tuples of names. Nested functions are analysed by themselves. Where they say ``nonlocal``, each call
    counts as reading and assigning what they share with this function.
    """
    _share(function)
    _block(function.body, EMPTY)
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node is not function:
            annotate(node)


def _share(function: ast.FunctionDef) -> None:
    """Notes on each call of a function which of its names nested functions assign."""
    own, nested = _scope(function.body), [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef)][1:]
    shared = {
        name for inner in nested for node in _scope(inner.body) if isinstance(node, ast.Nonlocal) for name in node.names
    }
    bound = {name for node in own if isinstance(node, ast.Nonlocal) for name in node.names}
    bound |= assigned_names(function.body) | {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    for call in own:
        if isinstance(call, ast.Call) and shared & bound:
            call.kopt_shared = frozenset(shared & bound)  # pyright: ignore[reportAttributeAccessIssue]


def _scope(statements: Sequence[ast.AST]) -> list[ast.AST]:
    """What stands in the statements' own scope."""
    found, stack = list[ast.AST](), list(statements)
    while stack:
        found.append(node := stack.pop())
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _shared(node: ast.AST) -> Names:
    return getattr(node, "kopt_shared", EMPTY)


def assigned_names(statements: Sequence[ast.AST]) -> Names:
    """Names that statements assign, in their own scope; a write to an element counts as one to its container."""
    found: set[str] = set()
    for node in _scope(statements):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        found |= _shared(node)
    return frozenset(found)


def used_names(nodes: Iterable[ast.AST | None]) -> Names:
    """Names that expressions read, nested functions included."""
    return EMPTY.union(*(_used_by(node) for node in nodes if node is not None))


def _used_by(root: ast.AST) -> Names:
    """The names that one node reads, found once: the fixpoint over loops asks again."""
    found = getattr(root, "kopt_used", None)
    if found is None:
        nodes = list(ast.walk(root))
        names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        found = root.kopt_used = EMPTY.union(names, *map(_shared, nodes))  # pyright: ignore[reportAttributeAccessIssue]
    return found


def jumps(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements leave the loop around them by ``break`` or ``continue``."""
    return any(isinstance(s, _JUMPS) or any(map(jumps, _arms(s))) for s in statements)


def _arms(statement: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(statement, ast.If):
        return [statement.body, statement.orelse]
    if isinstance(statement, ast.With):
        return [statement.body]
    if isinstance(statement, ast.Try):
        return [statement.body, statement.orelse, statement.finalbody, *(h.body for h in statement.handlers)]
    return []


def _block(statements: Sequence[ast.stmt], live: Names) -> Names:
    """Names live before the statements, given those live after."""
    for statement in reversed(statements):
        live = _statement(statement, live)
    return live


def _statement(node: ast.stmt, live: Names) -> Names:
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node, live)
    return (live - _killed(node)) | used_names([node])


def _killed(node: ast.stmt) -> Names:
    """Names that a simple statement binds whole."""
    if isinstance(node, ast.Assign):
        return frozenset(name for target in node.targets for name in _targets(target))
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return frozenset(_targets(node.target))
    return EMPTY


def _targets(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in _targets(element)]
    return _targets(target.value) if isinstance(target, ast.Starred) else []


def _augmented(node: ast.AugAssign, live: Names) -> Names:
    target = {node.target.id} if isinstance(node.target, ast.Name) else EMPTY
    return live | target | used_names([node.value, node.target])


def _if(node: ast.If, live: Names) -> Names:
    assigned = assigned_names([*node.body, *node.orelse])
    node.merged = _sorted(assigned & live)  # pyright: ignore[reportAttributeAccessIssue]
    node.assigned = _sorted(assigned)  # pyright: ignore[reportAttributeAccessIssue]
    return _block(node.body, live) | _block(node.orelse, live) | used_names([node.test])


def _for(node: ast.For, live: Names) -> Names:
    targets = frozenset(_targets(node.target))
    after = _block(node.orelse, live)
    return _loop(node, targets, after) | used_names([node.iter])


def _while(node: ast.While, live: Names) -> Names:
    return _loop(node, EMPTY, _block(node.orelse, live)) | used_names([node.test])


def _loop(node: ast.For | ast.While, targets: Names, after: Names) -> Names:
    tested = used_names([node.test]) if isinstance(node, ast.While) else EMPTY
    head: Names = tested
    while True:
        before = (_block(node.body, after | head) - targets) | tested
        if before <= head:
            break
        head |= before
    assigned = assigned_names(node.body) - targets
    node.carried = _sorted(assigned & (head | after))  # pyright: ignore[reportAttributeAccessIssue]
    node.head_live = _sorted(assigned & head)  # pyright: ignore[reportAttributeAccessIssue]
    return head | after


def _with(node: ast.With, live: Names) -> Names:
    return _block(node.body, live) | used_names(item.context_expr for item in node.items)


def _try(node: ast.Try, live: Names) -> Names:
    after = _block(node.finalbody, live)
    handlers = frozenset().union(*(_block(h.body, after) for h in node.handlers))
    return _block(node.body, _block(node.orelse, after) | handlers) | handlers


def _return(node: ast.Return, _: Names) -> Names:
    return used_names([node.value])


def _raise(node: ast.Raise, _: Names) -> Names:
    return used_names([node.exc, node.cause])


def _sorted(names: Names) -> tuple[str, ...]:
    return tuple(sorted(names))


_RULES = {
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _with,
    ast.Try: _try,
    ast.Return: _return,
    ast.Raise: _raise,
}
