"""Rewrites a kernel's syntax tree so that running it records what it does.

Control flow, calls, subscripts, ``and``/``or``/``not``, conditional expressions, comparisons, arithmetic and
augmented assignment become calls of hooks (`kopt.frontend.hooks`), which behave as Python does on host values and
record IR on device values. Line and column numbers stay those of the source.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from kopt.frontend.jumps import remove_jumps
from kopt.frontend.liveness import annotate, jumps

#: The name under which rewritten code finds the hooks.
HOOKS = "__kopt__"
_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.MatMult: "matmul",
}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
#: Calls that look at the frame they stand in.
_FRAME_CALLS = {"locals", "super", "globals", "vars", "dir"}


def rewrite(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function in terms of hooks, without decorators, defaults and annotations."""
    remove_jumps(function)
    annotate(function)
    return Rewriter().rewrite_function(function)


def rewrite_lambda(function: ast.Lambda) -> ast.Lambda:
    """The same for a lambda."""
    return Rewriter().rewrite_lambda(function)


class Rewriter(ast.NodeTransformer):
    """One function's rewriting; numbers its hidden names."""

    def __init__(self) -> None:
        self.count = 0
        self.loops: list[str] = []

    def rewrite_function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """``def`` without what is evaluated where it is defined; its closure is rebuilt by the caller."""
        node.decorator_list, node.returns = [], None
        _strip_arguments(node.args)
        node.body = self._statements(node.body)
        return node

    def rewrite_lambda(self, node: ast.Lambda) -> ast.Lambda:
        _strip_arguments(node.args)
        node.body = self.visit(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function defined inside: its loops are its own."""
        loops, self.loops = self.loops, []
        self._inner_function(node)
        self.loops = loops
        return node

    def _inner_function(self, node: ast.FunctionDef) -> None:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        node.body = self._statements(node.body)
        node.returns = None
        for argument in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs):
            argument.annotation = None

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            out.extend(new if isinstance(new, list) else [new] if new is not None else [])
        return out

    def _fresh(self, kind: str) -> str:
        self.count += 1
        return f"__kopt_{kind}{self.count}__"

    # statements

    def visit_For(self, node: ast.For) -> Any:
        """Hooks read the carried names when a device loop's body starts and ends."""
        names, name = node.carried, self._fresh("loop")  # pyright: ignore[reportAttributeAccessIssue]
        head = node.head_live  # pyright: ignore[reportAttributeAccessIssue]
        hint = _names([n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)])
        parts = [self.visit(node.iter), _names(names), _names(head), hint]
        start = _assign(name, _hook("loop", parts, node.iter), node)
        body = [_when_device(name, _exchange(names, name, "enter", node), node)]
        self.loops.append(name)
        body += self._statements(node.body)
        self.loops.pop()
        last = _last_line(node)
        body.append(_when_device(name, ast.Expr(_method(name, "leave", [_locals()], last)), last))
        target = node.target
        loop = ast.For(target, _load(name), body, self._statements(node.orelse))
        end = _when_device(name, _exchange(names, name, "results", node, with_locals=False), node)
        return [start, _at(loop, node), end]

    def visit_While(self, node: ast.While) -> Any:
        """Python evaluates the condition at the head of each visit; the hooks see it with the names as they are."""
        names, name = node.carried, self._fresh("loop")  # pyright: ignore[reportAttributeAccessIssue]
        head = node.head_live  # pyright: ignore[reportAttributeAccessIssue]
        start = _assign(name, _hook("while_loop", [_names(names), _names(head)], node.test), node)
        test = _method(name, "test", [self.visit(node.test), _locals()], node.test)
        body = [_when_device(name, _exchange(names, name, "enter", node), node)]
        self.loops.append(name)
        body += self._statements(node.body)
        self.loops.pop()
        loop = _at(ast.While(test, body, self._statements(node.orelse)), node)
        end = _when_device(name, _exchange(names, name, "results", node, with_locals=False), node)
        return [start, loop, end]

    def visit_Break(self, node: ast.Break) -> Any:
        return self._jump(self.loops[-1:], "break", node)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return self._jump(self.loops[-1:], "continue", node)

    def visit_Return(self, node: ast.Return) -> Any:
        node.value = _hook("returned", [self.visit(node.value)], node) if node.value else None
        return self._jump(self.loops, "return", node)

    def _jump(self, loops: list[str], word: str, node: ast.stmt) -> list[ast.stmt]:
        """The jump, after each loop that it leaves was told: a device loop refuses."""
        told = [_method(name, "jump", [ast.Constant(word)], node) for name in loops]
        return [*(_at(ast.Expr(call), node) for call in told), node]

    def visit_If(self, node: ast.If) -> Any:
        """A device condition runs both arms, restoring names in between; a host condition runs one."""
        if jumps([*node.body, *node.orelse]) or _returns([*node.body, *node.orelse]):
            test = _hook("truth", [self.visit(node.test), ast.Constant(True)], node.test)
            body, orelse = self._statements(node.body), self._statements(node.orelse)
            return _at(ast.If(test, body, orelse), node)
        merged, assigned = node.merged, node.assigned  # pyright: ignore[reportAttributeAccessIssue]
        name = self._fresh("branch")
        hook = _hook("branch", [self.visit(node.test), _names(assigned), _names(merged)], node.test)
        enter = _when_device(name, ast.Expr(_method(name, "enter", [_locals()], node.test)), node.test)
        switch = _when_device(name, _exchange(assigned, name, "switch", node.test), node.test)
        then = ast.If(_attribute(name, "then"), self._statements(node.body), [])
        otherwise = self._statements(node.orelse)
        merge = _when_device(name, _exchange(merged, name, "merge", node.test), node.test)
        arms = [_at(then, node), switch]
        if otherwise:
            arms.append(_at(ast.If(_attribute(name, "otherwise"), otherwise, []), node))
        return [_assign(name, hook, node), enter, *arms, merge]

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = _hook("check", [self.visit(node.test)], node.test)
        node.msg = self.visit(node.msg) if node.msg else None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return _at(ast.Pass(), node)
        return self.visit(_at(ast.Assign([node.target], node.value), node))

    def visit_Assign(self, node: ast.Assign) -> Any:
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self._assign_one(node.targets[0], value, node)
        name = self._fresh("value")
        out = [_assign(name, value, node)]
        for target in node.targets:
            out += self._assign_one(target, _at(_load(name), node), node)
        return out

    def _assign_one(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(target, ast.Subscript):
            store = [value, self.visit(target.value), self._index(target.slice)]
            return [_at(ast.Expr(_hook("setitem", store, target)), node)]
        if isinstance(target, ast.Name):
            named = _hook("named", [value, ast.Constant(target.id)], value)
            return [_at(ast.Assign([target], named), node)]
        if not isinstance(target, ast.Tuple | ast.List):
            return [_at(ast.Assign([self.visit(target)], value), node)]
        hidden: list[ast.stmt] = []
        elements = [self._element(element, hidden, node) for element in target.elts]
        hint = _names([e.id if isinstance(e, ast.Name) and not e.id.startswith("__kopt") else "" for e in elements])
        named = _hook("named_all", [value, hint], value)
        return [_at(ast.Assign([ast.Tuple(elements, ast.Store())], named), node), *hidden]

    def _element(self, element: ast.expr, later: list[ast.stmt], node: ast.stmt) -> ast.expr:
        """A target inside a tuple; one that is a subscript is stored afterwards."""
        if not isinstance(element, ast.Subscript):
            return element
        name = self._fresh("value")
        later += self._assign_one(element, _at(_load(name), node), node)
        return ast.Name(name, ast.Store())

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        kind = ast.Constant(_OPERATORS[type(node.op)])
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            new = _hook("inplace", [kind, _at(_load(node.target.id), node.target), value], node)
            named = _hook("named", [new, ast.Constant(node.target.id)], node)
            return _at(ast.Assign([node.target], named), node)
        if isinstance(node.target, ast.Subscript):
            parts = [kind, self.visit(node.target.value), self._index(node.target.slice), value]
            return _at(ast.Expr(_hook("inplace_item", parts, node)), node)
        node.value = value
        return node

    # expressions

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id in _FRAME_CALLS:
            return self.generic_visit(node)
        args = [self.visit(node.func), *(self.visit(a) for a in node.args)]
        keywords = [_at(ast.keyword(k.arg, self.visit(k.value)), k) for k in node.keywords]
        return _at(ast.Call(ast.Attribute(_load(HOOKS), "call", ast.Load()), args, keywords), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return _hook("getitem", [self.visit(node.value), self._index(node.slice)], node)

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple):
            return _at(ast.Tuple([self._index(e) for e in node.elts], ast.Load()), node)
        if isinstance(node, ast.Slice):
            bounds = [self.visit(b) if b else ast.Constant(None) for b in (node.lower, node.upper, node.step)]
            return _hook("slice", bounds, node)
        return self.visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        if any(map(_binds, node.values[1:])):
            return self.generic_visit(node)
        kind = "all_of" if isinstance(node.op, ast.And) else "any_of"
        values = [self.visit(v) for v in node.values]
        return _hook(kind, [values[0], *(_thunk(v) for v in values[1:])], node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Sizes of blocks notice what reads them, but for floats: those compute with any integer themselves."""
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult) or _is_integer(node.left):
            return node
        return _hook("binary", [ast.Constant(_OPERATORS[type(node.op)]), node.left, node.right], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return _hook("negation", [operand], node)
        node.operand = operand
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if _binds(node.body) or _binds(node.orelse):
            return self.generic_visit(node)
        parts = [self.visit(node.test), _thunk(self.visit(node.body)), _thunk(self.visit(node.orelse))]
        return _hook("choose", parts, node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if not all(type(op) in _COMPARISONS for op in node.ops):
            return node
        if len(node.ops) == 1:
            kind = ast.Constant(_COMPARISONS[type(node.ops[0])])
            return _hook("binary", [kind, node.left, node.comparators[0]], node)
        if any(map(_binds, node.comparators)):
            return node
        kinds = _names([_COMPARISONS[type(op)] for op in node.ops])
        return _hook("chain", [kinds, node.left, *(_thunk(c) for c in node.comparators)], node)


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _returns(statements: list[ast.stmt]) -> bool:
    """Whether statements may return from the function (their own nested functions aside)."""
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))
    return False


def _binds(expression: ast.expr) -> bool:
    """Whether an expression binds a name (``:=``), which a function around it would hide."""
    return any(isinstance(node, ast.NamedExpr) for node in ast.walk(expression))


def _strip_arguments(arguments: ast.arguments) -> None:
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None


def _at(node: Any, place: ast.AST) -> Any:
    return ast.copy_location(node, place)


def _last_line(loop: ast.For) -> ast.stmt:
    """What stands for the last line of a loop's body as a place."""
    line, begin, end = loop.end_lineno or loop.lineno, loop.body[-1].col_offset, loop.end_col_offset
    return ast.Pass(lineno=line, col_offset=begin, end_lineno=line, end_col_offset=end)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _attribute(name: str, attribute: str) -> ast.Attribute:
    return ast.Attribute(_load(name), attribute, ast.Load())


def _names(names: Any) -> ast.expr:
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _thunk(value: ast.expr) -> ast.expr:
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return _at(ast.Lambda(empty, value), value)


def _hook(name: str, args: Sequence[ast.expr], place: ast.AST) -> Any:
    return _call(ast.Attribute(_load(HOOKS), name, ast.Load()), args, place)


def _method(name: str, method: str, args: list[ast.expr], place: ast.AST) -> Any:
    return _call(_attribute(name, method), args, place)


def _call(callee: ast.Attribute, args: Sequence[ast.expr], place: ast.AST) -> Any:
    """A call whose place begins where ``place`` does: Python takes the line on which the callee's name ends."""
    callee = _at(callee, place)
    callee.end_lineno, callee.end_col_offset = callee.lineno, callee.col_offset
    return _at(ast.Call(callee, [*args], []), place)


def _locals() -> ast.expr:
    return ast.Call(ast.Attribute(_load(HOOKS), "locals", ast.Load()), [], [])


def _assign(name: str, value: ast.expr, place: ast.AST) -> Any:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _when_device(name: str, statement: ast.stmt, place: ast.AST) -> Any:
    return _at(ast.If(_attribute(name, "device"), [_at(statement, place)], []), place)


def _exchange(names: Any, name: str, method: str, place: ast.AST, with_locals: bool = True) -> Any:
    """``a, b = loop.method(locals)``."""
    call = _method(name, method, [_locals()] if with_locals else [], place)
    if not names:
        return ast.Expr(call)
    return ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())], call)
