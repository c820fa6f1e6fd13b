"""What shows a changed value again: the module before the pass, as small as it gets, and the command."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from itertools import islice

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from kopt.clone import cloned
from kopt.dialects.tile import FullOp, TileType
from kopt.dtypes import from_ir
from kopt.errors import KoptError
from kopt.passes.applying import apply_pass
from kopt.passes.dce import DcePass
from kopt.passes.meaning import meaning_of
from kopt.pipeline_text import pipeline_text
from kopt.validation.options import Options
from kopt.validation.outcome import NotRun, after_pass
from kopt.validation.watched import Watched
from kopt.verification import verify
from kopt.walk import walk

#: How many smaller modules are tried at most.
_TRIALS = 40

#: Makes a module smaller in place; False where it cannot.
Step = Callable[[ModuleOp], bool]


def reproducer(one: Watched, pass_: ModulePass, options: Options) -> str:
    """A module, led by the command that shows the change again."""
    small = _reduced(one.module, lambda module: _changes(module, one, pass_, options))
    pipeline = f"--pass-pipeline={pipeline_text([pass_])}"
    command = shlex.join(["kopt", "FILE", pipeline, f"--verify-semantics={options}"])
    return f"// {command}\n{small!s}\n"


def _changes(module: ModuleOp, one: Watched, pass_: ModulePass, options: Options) -> bool:
    """Whether the pass changes what a module computes, on made-up arguments as the command makes them."""
    try:
        verify(module)
        before = Watched(module, one.entry, options)
        if before.reason is not None:
            return False
        after = cloned(module)
        apply_pass(pass_, after)
        verify(after)
        return before.advance(after, after_pass(before.how, pass_), meaning_of(pass_)) is not None
    except (KoptError, NotRun):
        return False
    except Exception:  # a pass that fails on what no pipeline gives it
        return False


def _reduced(module: ModuleOp, fails: Callable[[ModuleOp], bool]) -> ModuleOp:
    """A smaller module that still fails; the module itself where made-up arguments do not show the change."""
    best = cloned(module)
    if not fails(best):
        return best
    trials = iter(range(_TRIALS))
    smaller = True
    while smaller:
        smaller = False
        for step in _steps(best):
            if next(trials, None) is None:
                return best
            tried = cloned(best)
            if step(tried) and fails(tried):
                best, smaller = tried, True
                break
    return best


def _steps(module: ModuleOp) -> Iterator[Step]:
    """What may be left out: results, operations from the last on."""
    for number, func in enumerate(walk(module, FuncOp)):
        for result in range(len(func.function_type.outputs.data) - 1, -1, -1):
            if len(func.function_type.outputs.data) > 1:
                yield lambda tried, f=number, r=result: _without_result(walk(tried, FuncOp)[f], r)
    for number in range(len(walk(module)) - 1, -1, -1):
        yield lambda tried, n=number: _without(tried, n)


def _without_result(func: FuncOp, number: int) -> bool:
    end = func.body.block.last_op
    if not isinstance(end, ReturnOp):
        return False
    end.operands = [value for n, value in enumerate(end.operands) if n != number]
    outputs = [type for n, type in enumerate(func.function_type.outputs.data) if n != number]
    func.function_type = FunctionType.from_lists(func.function_type.inputs.data, outputs)
    return True


def _without(module: ModuleOp, number: int) -> bool:
    """Leaves out an operation: what it gave is one of its operands, or zeros."""
    op = next(islice(walk(module), number, None))
    if isinstance(op, ModuleOp | FuncOp) or op.has_trait(IsTerminator) or op.parent is None:
        return False
    for result in op.results:
        if not result.uses:
            continue
        instead = next((value for value in op.operands if value.type == result.type), None) or _zeros(op, result)
        if instead is None:
            return False
        result.replace_all_uses_with(instead)
    op.detach()
    op.erase(safe_erase=False)
    apply_pass(DcePass(), module)
    return True


def _zeros(op: Operation, result: SSAValue) -> SSAValue | None:
    if not isinstance(result.type, TileType) or isinstance(op, FullOp) or op.parent is None:
        return None
    dtype = from_ir(result.type.element_type)
    if dtype is None:
        return None
    full = FullOp(0.0 if dtype.is_float else 0, result.type)
    op.parent.insert_op_before(full, op)
    return full.result
