"""What ``torch.compile`` sees of a kernel's call: an operator, and how the result is built from what it gives.

`traced` is what Dynamo runs in the place of ``Kernel.__call__``. It describes the arguments; `seen`, which Dynamo calls
while it traces, answers with the name of a function that was made for such calls and that Dynamo follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kopt.error_places import placed
from kopt.errors import ArgumentError
from kopt.runtime import torch_tracing

if TYPE_CHECKING:
    from kopt.operators.calls import Operators

#: What a tensor's description begins with.
_TENSOR = "kopt.tensor"


class _Calls:
    """The functions of calls, and kernels on targets that are named while Dynamo traces, as attributes."""


CALLS = _Calls()


def traced(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a kernel, as Dynamo traces it."""
    if not kernel._has_operators:
        return kernel._call_outside(*args, **kwargs)
    import torch

    items = tuple([described(value) for value in kwargs.values()])
    name = seen(kernel, described(args), tuple(kwargs), items, torch.is_grad_enabled())
    return getattr(CALLS, name)(args, kwargs)


def traced_on(kernel: Any, target: Any) -> Any:
    """A kernel on another target, as Dynamo traces it."""
    return getattr(CALLS, seen_on(kernel, target))


def described(value: Any) -> Any:
    """A value with constants for what torch traces."""
    import torch
    from torch.fx.experimental.symbolic_shapes import optimization_hint

    if isinstance(value, torch.Tensor):
        shape = tuple([optimization_hint(n) for n in value.shape])
        strides = tuple([optimization_hint(n) for n in value.stride()])
        return _TENSOR, shape, strides, value.dtype, value.requires_grad
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[described(item) for item in value])
    if isinstance(value, (tuple, list)):
        items = [described(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, int) and not isinstance(value, bool):
        return optimization_hint(value)
    if isinstance(value, float):  # Dynamo has no hints of floats, and real values of tensors
        return real(torch.scalar_tensor(value, dtype=torch.float64))
    return value


def seen_on(kernel: Any, target: Any) -> str:
    """The name of a kernel on another target; Dynamo takes it as a constant."""
    other = kernel.on(target)
    name = f"kernel_{id(other)}"
    setattr(CALLS, name, other)
    return name


def real(tensor: Any) -> float:
    """The number in a tensor; Dynamo calls it with the elements of its example, and guards nothing."""
    return float(tensor)


def seen(kernel: Any, args: Any, names: tuple[str, ...], items: tuple[Any, ...], grad_enabled: bool) -> str:
    """The name of the function for calls with such arguments; Dynamo calls it, and takes the answer as a constant."""
    from kopt.operators.call_text import call_function
    from kopt.operators.levels import no_grad_of_writes
    from kopt.operators.operands import taken_apart

    needs_grad: list[bool] = []
    operators: Operators = kernel._operators
    with placed(kernel.fn):
        call = [_undescribed(value, needs_grad) for value in args]
        named = {name: _undescribed(value, needs_grad) for name, value in zip(names, items, strict=True)}
        if torch_tracing.differentiates():
            raise ArgumentError(
                f"{kernel.fn.__name__} is differentiated by torch.func inside of what torch.compile compiles",
                notes=["use torch.autograd there, or compile inside of what torch.func differentiates"],
                id="gradient",
            )
        values = kernel._bind(tuple(call), named)
        structure = operators.structure(values)
        operators.check_hidden(structure)
        form, operands = taken_apart(values)
        operator = operators.operator(form, structure)
        recorded = grad_enabled and any(needs_grad)
        if operator.written and recorded:
            raise no_grad_of_writes(kernel.fn)
    keywords = {name: f"kwargs[{name!r}]" for name in names}
    bound = kernel._signature.bind(*[f"args[{n}]" for n in range(len(args))], **keywords)
    name = f"call_{len(vars(CALLS))}"
    setattr(CALLS, name, call_function(operator, structure, bound.arguments, operands, recorded))
    return name


for _function in (real, seen, seen_on):
    _function._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


def _undescribed(value: Any, needs_grad: list[bool]) -> Any:
    from kopt.specs import TensorSpec, dtype_named

    if isinstance(value, tuple) and value and isinstance(value[0], str) and value[0] == _TENSOR:
        _, shape, strides, dtype, grad = value
        needs_grad.append(grad)
        return TensorSpec(tuple(shape), dtype_named(str(dtype)), tuple(strides))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_undescribed(item, needs_grad) for item in value])
    if isinstance(value, tuple | list):
        return type(value)(_undescribed(item, needs_grad) for item in value)
    if isinstance(value, dict):
        return {key: _undescribed(item, needs_grad) for key, item in value.items()}
    return value
