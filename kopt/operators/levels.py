"""How an operator is called at the level of torch where a call is: by itself, or as torch.func transforms it.

The dispatcher leads operators through most of torch. It knows no gradients of what is written, and torch.func
differentiates autograd's functions only and functionalises no custom operator that writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from kopt.error_places import definition
from kopt.errors import ArgumentError, UnsupportedError
from kopt.operators.gradients import ADVICE
from kopt.operators.operands import has_foreign_arrays, tensors_in
from kopt.runtime import torch_tracing

if TYPE_CHECKING:
    from kopt.operators.definition import Operator


def takes(values: Mapping[str, Any]) -> bool:
    """Whether torch must see an operator for a call: it traces, transforms or differentiates what is called."""
    every = list(values.values())
    if has_foreign_arrays(every):
        return False
    found = torch_tracing.transforms()
    if found is not None:
        return found
    return any(torch_tracing.is_traced(x) for x in tensors_in(every)) or needs_grad(tensors_in(every))


def call_operator(operator: Operator, operands: Sequence[Any]) -> Any:
    """What an operator gives for operands of this level."""
    if operator.written and needs_grad(operands):
        if torch_tracing.traced_by() is not None:
            raise no_grad_of_writes(operator.kernel.fn)
        _refuse_leaves(operator, operands)
        found = _Writes.apply(operator, *operands)
        return tuple(found[: len(found) - len(operator.written)])
    if operator.written and torch_tracing.functionalises():
        return _functionalised(operator, operands)
    if torch_tracing.differentiates():
        return _Differentiated.apply(operator, *operands)
    return operator.overload(*operands)


def needs_grad(operands: Sequence[Any]) -> bool:
    """Whether a gradient is recorded for an operand."""
    return torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in operands)


def no_grad_of_writes(fn: Any) -> ArgumentError:
    """The error for gradients through arguments that are written, where torch traces."""
    return ArgumentError(
        f"{fn.__name__} writes its arguments, and torch traces a gradient through them",
        notes=["call it under torch.no_grad(), or with detached tensors (x.detach())"],
        id="gradient",
    )


def _refuse_leaves(operator: Operator, operands: Sequence[Any]) -> None:
    """Raises `ArgumentError` for a written tensor that autograd gives a gradient of its own."""
    for number in operator.written:
        if operands[number].requires_grad and operands[number].is_leaf:
            name = operator.form.operands[number].name
            raise ArgumentError(
                f"{operator.kernel.fn.__name__}: argument '{name}' is written, and it is a leaf that requires grad",
                notes=["call it under torch.no_grad(), or with a detached tensor (x.detach())"],
                id="gradient",
            )


def _functionalised(operator: Operator, operands: Sequence[Any]) -> Any:
    """An operator that writes, on copies that then take the place of what it writes."""
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter
    from torch._subclasses.functional_tensor import FunctorchFunctionalizeAPI

    level: Any = FunctorchFunctionalizeAPI(retrieve_current_functorch_interpreter())  # pyright: ignore
    plain = [level.unwrap_tensors(x) if isinstance(x, torch.Tensor) else x for x in operands]
    with level.redispatch_to_next():
        for number in operator.written:
            plain[number] = plain[number].clone()
        outputs = call_operator(operator, plain)
    for number in operator.written:
        operands[number].copy_(level.wrap_tensors(plain[number]))
    return level.wrap_tensors(outputs)


class _Differentiated(torch.autograd.Function):
    """An operator as torch.func differentiates it."""

    @staticmethod
    def forward(operator: Operator, *operands: Any) -> Any:
        return operator.overload(*operands)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.gradients = inputs[0].gradients
        ctx.gradients.save(ctx, inputs[1:], output)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, *ctx.gradients.backward(ctx, grads, ctx.needs_input_grad[1:])

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: Operator, *operands: Any) -> Any:
        return operator.mapped(info, in_dims[1:], *operands)


class _Writes(torch.autograd.Function):
    """An operator that writes its operands, as one step of autograd's that has no backward."""

    @staticmethod
    def forward(ctx: Any, operator: Operator, *operands: Any) -> Any:
        ctx.fn = operator.kernel.fn
        outputs = operator.overload(*operands)
        written = [operands[number] for number in operator.written]
        ctx.mark_dirty(*written)
        return (*([outputs] if isinstance(outputs, torch.Tensor) else outputs or ()), *written)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        name = ctx.fn.__name__
        message = f"kernel '{name}' writes its arguments and has no backward, and a gradient is asked for"
        notes = ["make it give back a new tensor; " + ADVICE.format(name)]
        raise UnsupportedError(message, definition(ctx.fn), notes=notes, id="gradient")
