"""Backward rules of kernels: what ``@kernel.backward`` says, and the error where nothing says it.

A rule is a kernel or a function. Its parameters are filled by their names: ``grad`` is the gradient of the result,
``result`` the result, and others are the kernel's own arguments; of several results they are numbered, as in
``grad_1``. It gives the gradients of the kernel's floating-point tensors in order, or a dict of them by name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kopt.error_places import definition
from kopt.errors import ArgumentError, KoptError, UnsupportedError
from kopt.operators.operands import Form

_GRAD, _RESULT = re.compile(r"grad(?:_(\d+))?"), re.compile(r"result(?:_(\d+))?")


@dataclass(frozen=True)
class BackwardRule:
    """A function, and what fills its parameters."""

    function: Callable[..., Any]
    names: tuple[str, ...]


def backward_rule(kernel: Any, function: Any, saved: Sequence[str] | None) -> BackwardRule:
    """The rule that a function is. Raises `ArgumentError` for parameters of which nobody knows what they are."""
    if not callable(function):
        raise ArgumentError(f"a backward is a kernel or a function, found {type(function).__name__}", id="gradient")
    plain = getattr(function, "fn", function)
    parameters = inspect.signature(plain, follow_wrapped=False).parameters.values()
    required = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    names = tuple(required if saved is None else saved)
    known = kernel._signature.parameters
    for name in names:
        if name not in known and not _GRAD.fullmatch(name) and not _RESULT.fullmatch(name):
            message = f"the backward of '{kernel.fn.__name__}' takes '{name}', which is nothing that its forward has"
            notes = [
                f"there are {', '.join(known)}, and grad and result: grad_0, result_0, … where there are several",
                "or name them in order: kernel.backward(function, saved=('grad', 'result'))",
            ]
            raise ArgumentError(message, definition(plain, f"'{name}'"), notes=notes, id="gradient")
    return BackwardRule(function, names)


class Gradients:
    """The backward of one operator, as torch's autograd asks for it."""

    def __init__(self, kernel: Any, form: Form):
        self.kernel = kernel
        self.form = form

    def save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keeps what the rule asks for."""
        results = [] if output is None else list(output) if isinstance(output, tuple | list) else [output]
        rule = self.kernel._backward
        names = () if rule is None else rule.names
        wanted, kept_results = self.wanted(len(results))
        kept = [x for n, x in enumerate(inputs) if n in wanted and isinstance(x, torch.Tensor)]
        ctx.save_for_backward(*kept, *(results[number] for number in kept_results))
        ctx.kopt = [None if isinstance(x, torch.Tensor) else x for x in inputs], wanted, kept_results
        if rule is not None and len(results) > 1:
            taken = {_number(_GRAD, name, self._parameters) for name in names}
            ctx.mark_non_differentiable(*(x for number, x in enumerate(results) if number not in taken))
        ctx.kopt_floats = [n for n, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.is_floating_point()]

    def wanted(self, results: int) -> tuple[set[int], list[int]]:
        """The numbers of the operands, and of the ``results``, that the rule takes."""
        rule = self.kernel._backward
        names = () if rule is None else rule.names
        kept = [n for name in names if (n := _number(_RESULT, name, self._parameters)) is not None]
        for number in kept:
            if number >= results:
                raise self._error(f"takes result_{number}, and there are {results} results")
        return {number for name in names for number in self._numbers(name)}, kept

    def backward(self, ctx: Any, grads: Sequence[Any], needed: Sequence[bool]) -> tuple[Any, ...]:
        """The gradients of all operands, None for those that are not ``needed``."""
        rule = self.kernel._backward
        if rule is None:
            name = self.kernel.fn.__name__
            message = f"kernel '{name}' has no backward, and a gradient is asked for"
            raise UnsupportedError(message, definition(self.kernel.fn), notes=[ADVICE.format(name)], id="gradient")
        plain, kept, kept_results = ctx.kopt
        saved = list(ctx.saved_tensors)
        count = len(saved) - len(kept_results)
        tensors = iter(saved[:count])
        operands = [
            next(tensors) if number in kept and self.form.operands[number].is_tensor else value
            for number, value in enumerate(plain)
        ]
        results, values = dict(zip(kept_results, saved[count:], strict=True)), self.form.values(operands)
        arguments = []
        for name in rule.names:
            if name in values:
                arguments.append(values[name])
            elif (number := _number(_RESULT, name, self._parameters)) is not None:
                arguments.append(results[number])
            else:
                arguments.append(self._grad(grads, _number(_GRAD, name, self._parameters) or 0))
        found = self._by_operand(self._function(rule)(*arguments), ctx.kopt_floats)
        return tuple(found.get(number) if wanted else None for number, wanted in enumerate(needed))

    def check_finals(self, written: Sequence[str], outputs: int) -> None:
        """Raises `ArgumentError` where a rule takes no gradient of what JAX has for a written argument at the end."""
        rule = self.kernel._backward
        taken = {_number(_GRAD, name, self._parameters) for name in rule.names}
        for number, name in enumerate(written, outputs - len(written)):
            if number not in taken:
                asked = f"takes no grad_{number}, the gradient of the final value of '{name}', which the kernel writes"
                raise self._error(asked, "take it; where nobody differentiates that value, it is zero")

    def like(self, gradient: Any, name: str, spec: Any) -> Any:
        """A gradient that a rule gives, in the dtype of its argument. Raises `ArgumentError` for another shape."""
        if gradient is None:
            return None
        shape = getattr(gradient, "shape", ())
        if tuple(shape) != tuple(spec.shape):
            raise self._error(f"gives a gradient of '{name}' with the shape {list(shape)}, and '{name}' is {spec}")
        return gradient.astype(spec.dtype.jax)

    def _function(self, rule: BackwardRule) -> Callable[..., Any]:
        """What to call: a kernel that names no target runs where the forward does."""
        function, target = rule.function, self.kernel.target
        follows = hasattr(function, "on") and function.target is None and target is not None
        return function.on(target) if follows else function

    @property
    def _parameters(self) -> Any:
        return self.kernel._signature.parameters

    def _numbers(self, name: str) -> set[int]:
        """The operands of a parameter."""
        found = dict(self.form.tree)
        if name not in found:
            return set()
        return {operand.number for operand in Form(((name, found[name]),)).operands}

    def _grad(self, grads: Sequence[Any], number: int) -> Any:
        if number >= len(grads):
            raise self._error(f"takes grad_{number}, and there are {len(grads)} results")
        return grads[number]

    def _by_operand(self, found: Any, floats: Sequence[int]) -> dict[int, Any]:
        """What a rule gives, by the numbers of operands."""
        if isinstance(found, dict):
            numbers = {operand.name: operand.number for operand in self.form.operands}
            if unknown := [name for name in found if numbers.get(name) not in floats]:
                raise self._error(f"gives a gradient of '{unknown[0]}', which is no floating-point tensor of it")
            return {numbers[name]: value for name, value in found.items()}
        given = list(found) if isinstance(found, tuple | list) else [found]
        if len(given) != len(floats):
            names = ", ".join(self.form.operands[number].name for number in floats)
            raise self._error(f"gives {len(given)} gradients, and there are {len(floats)} of floating point: {names}")
        return dict(zip(floats, given, strict=True))

    def _error(self, message: str, *notes: str) -> KoptError:
        function = self.kernel._backward.function
        place = definition(getattr(function, "fn", function))
        message = f"the backward of '{self.kernel.fn.__name__}' {message}"
        return ArgumentError(message, place, notes=list(notes), id="gradient")


ADVICE = (
    "write it: @{0}.backward on a function of grad, result and the kernel's arguments by name, which gives the "
    "gradients of its tensors; or pass detached tensors (x.detach()) where none is wanted"
)


def _number(pattern: re.Pattern[str], name: str, parameters: Any) -> int | None:
    """The number in a name such as ``grad_1``; parameters of the kernel come first."""
    match = None if name in parameters else pattern.fullmatch(name)
    return None if match is None else int(match[1] or 0)
