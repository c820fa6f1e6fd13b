"""Changes of a kernel's text that may not change a bit of its results: metamorphic relations.

No oracle is asked: what a target gives for the changed kernel is compared with what it gives for the kernel itself.
"""

from __future__ import annotations

import ast
import pkgutil
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from kopt.passes import PASSES
from kopt.passes.meaning import meaning_of

#: Names that emitted modules, printers and languages have uses for.
_NAMES = (
    "jnp pl pltpu tl jax triton x_ref o_ref inside i j pid lane mask kernel_kernel grid out_shape where float32 "
    "lambda_ w1024 é __x v_2 scratch sem n b0 f32 tile index unit"
).split()


def renamed(function: ast.FunctionDef, random: random.Random) -> None:
    """Other names for all that the kernel calls by a name of its own, those that emitted code uses first."""
    stored = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    own = list(dict.fromkeys([*(arg.arg for arg in function.args.args), *stored]))
    names = [name for name in _NAMES if name not in own]
    random.shuffle(names)
    fresh = dict(zip(own, [*names, *(f"name{n}" for n in range(len(own)))], strict=False))
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = fresh.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = fresh.get(node.arg, node.arg)  # a function inside has its own


def with_temporaries(function: ast.FunctionDef, random: random.Random) -> None:
    """Expressions inside of expressions get names of their own, in the order of evaluation."""
    count = 0

    def named(statement: ast.stmt) -> list[ast.stmt]:
        nonlocal count
        before: list[ast.stmt] = []

        class Names(ast.NodeTransformer):
            def visit(self, node: ast.AST) -> ast.AST:
                nonlocal count
                if isinstance(node, ast.Lambda | ast.Slice | ast.Starred):
                    return node
                self.generic_visit(node)
                if node is top or not isinstance(node, ast.Call | ast.BinOp | ast.Compare) or _is_of_python(node):
                    return node
                name = f"t{count}"
                count += 1
                before.append(ast.Assign([ast.Name(name, ast.Store())], node))  # pyright: ignore
                return ast.Name(name, ast.Load())

        if isinstance(statement, ast.Assign | ast.Expr):
            top = statement.value
            statement.value = Names().visit(statement.value)
        return [*before, statement]

    for block in _device_blocks(function):
        block[:] = [each for statement in block for each in named(statement)]


def with_dead_stores(function: ast.FunctionDef, random: random.Random) -> None:
    """Zeros are stored before values, to the same elements."""
    for block in _device_blocks(function):
        for statement in list(block):
            if (stored := _stored(statement)) is not None and random.random() < 0.7:
                dead = _copy(statement)
                zeros = ast.parse(f"torch.zeros_like({ast.unparse(stored)})", mode="eval").body
                if isinstance(dead, ast.Assign):
                    dead.value = zeros
                elif isinstance(dead, ast.Expr) and isinstance(dead.value, ast.Call):
                    dead.value.args[2] = zeros
                block.insert(block.index(statement), dead)


def with_true_branches(function: ast.FunctionDef, random: random.Random) -> None:
    """Stores, and values computed again, stand under a condition that holds, which the compiler cannot know."""
    for block in _device_blocks(function):
        for statement in list(block):
            if random.random() < 0.5:
                continue
            at = block.index(statement)
            if _stored(statement) is not None or _is_update(statement):
                block[at] = _branch("flag[0] > 0", [statement])
            elif _is_definition(statement):
                block.insert(at + 1, _branch("flag[0] > 0", [_copy(statement)]))


def with_false_branches(function: ast.FunctionDef, random: random.Random) -> None:
    """Values are replaced by zeros, and zeros stored, under a condition that does not hold."""
    for block in _device_blocks(function):
        for statement in list(block):
            if random.random() < 0.5:
                continue
            at = block.index(statement)
            if (stored := _stored(statement)) is not None and isinstance(statement, ast.Assign):
                dead = _copy(statement)
                assert isinstance(dead, ast.Assign)
                dead.value = ast.parse(f"torch.zeros_like({ast.unparse(stored)})", mode="eval").body
                block.insert(at + 1, _branch("flag[0] < 0", [dead]))
            elif _is_definition(statement):
                name = ast.unparse(statement.targets[0])  # pyright: ignore[reportAttributeAccessIssue]
                block.insert(at + 1, _branch("flag[0] < 0", ast.parse(f"{name} = torch.zeros_like({name})").body))


def reordered(function: ast.FunctionDef, random: random.Random) -> None:
    """Another order of statements that do not depend on each other."""
    bases = _bases(function)
    for block in _device_blocks(function):
        left, order = list(block), []
        while left:
            ready = [s for n, s in enumerate(left) if not any(_depends(s, other, bases) for other in left[:n])]
            order.append(chosen := random.choice(ready))
            left.remove(chosen)
        block[:] = order


#: The relations, and whether they need an input of their own.
RELATIONS: dict[str, Callable[[ast.FunctionDef, random.Random], None]] = {
    "renamed": renamed,
    "temporaries": with_temporaries,
    "dead stores": with_dead_stores,
    "true branches": with_true_branches,
    "false branches": with_false_branches,
    "reordered": reordered,
}


def related(text: str, name: str, random: random.Random) -> str:
    """The kernel's text changed by a relation."""
    module = ast.parse(text)
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "kernel")
    if "branches" in name:
        function.args.args.append(ast.arg("flag"))
        inputs = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "inputs")
        given = inputs.body[-1]
        assert isinstance(given, ast.Return) and isinstance(given.value, ast.List)
        given.value.elts.append(ast.parse("torch.ones(1, dtype=torch.int32)", mode="eval").body)
    RELATIONS[name](function, random)
    return f"{ast.unparse(ast.fix_missing_locations(module))}\n"


@contextmanager
def without_approximations() -> Iterator[None]:
    """Kernels are lowered without the passes that put functions of nearly the same values in place of others.

    Where such a pass pays depends on how often a kernel computes a function, and where: a change may alter that.
    """
    with ExitStack() as stack:
        for found in map(pkgutil.resolve_name, PASSES.values()):
            if meaning_of(found).kind == "approximates":
                stack.enter_context(mock.patch.object(found, "apply", lambda self, ctx, op: None))
        yield


def _device_blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """The bodies of loops, and of branches in them, inner ones first."""

    def inside(node: ast.stmt) -> Iterator[list[ast.stmt]]:
        for block in (getattr(node, "body", []), getattr(node, "orelse", [])):
            for statement in block:
                yield from inside(statement)
            if block:
                yield block

    for statement in function.body:
        yield from inside(statement)


def _copy(statement: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(statement)).body[0]


def _branch(condition: str, body: list[ast.stmt]) -> ast.stmt:
    return ast.If(ast.parse(condition, mode="eval").body, body, [])


def _stored(statement: ast.stmt) -> ast.expr | None:
    """What a statement stores to an array: not what it adds."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return None if isinstance(statement.value, ast.Constant) else statement.value
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if ast.unparse(call.func) == "hl.store" and not isinstance(call.args[2], ast.Constant):
            return call.args[2]
    return None


def _is_update(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("hl.atomic_")


def _is_definition(statement: ast.stmt) -> bool:
    """Whether a statement gives a name a value that does not depend on what the name was."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    updates = "hl.atomic_" in ast.unparse(statement.value)
    return statement.targets[0].id not in _read(statement.value) and not updates


def _is_of_python(node: ast.AST) -> bool:
    """Whether an expression is a number of Python's, or what is unpacked at once."""
    return all(not isinstance(part, ast.Name) for part in ast.walk(node))


def _read(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _written(node: ast.AST) -> set[str]:
    """Names that are assigned, and arrays that are stored to."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            names |= _read(part.value)
        if isinstance(part, ast.Call) and ast.unparse(part.func).startswith(("hl.store", "hl.atomic")):
            names |= _read(part.args[0])
    return names


def _bases(function: ast.FunctionDef) -> dict[str, str]:
    """The array that each view is one of."""
    bases: dict[str, str] = {}
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            of = next(iter(_read(statement.value) - {"torch"}), "")
            bases[statement.targets[0].id] = bases.get(of, of)
    return bases


def _depends(later: ast.stmt, earlier: ast.stmt, bases: dict[str, str]) -> bool:
    found = (_written(earlier), _written(later), _read(earlier), _read(later))
    wrote, writes, read, reads = ({bases.get(name) or name for name in names} for names in found)
    return bool(wrote & (reads | writes) or writes & read)
