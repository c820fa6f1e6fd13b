"""What traces or transforms torch's calls at a moment, and how calls stand to it.

Kernels are custom operators there (`kopt.operators`). What was compiled for one call, and programs, are none: tracers
would see their own reads of memory, or none of it, and bake the result in as a constant, so they are refused.
``torch.compile`` breaks its graph at a program, which then runs as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

REASON = "only kernels are custom operators of torch"
ADVICE = "call the @kopt.kernel itself there, or this outside of what is traced, on tensors that have elements"


#: What traces calls whose derivatives are asked for forward, why no kernel has any, and what to do.
FORWARD = "torch.func in forward mode"
_FORWARD_REASON = "kernels have no forward-mode derivatives"
_FORWARD_ADVICE = "differentiate in reverse (torch.func.grad, vjp, jacrev), with the @backward of the kernel"


def refusal(traced: str) -> tuple[str, str]:
    """Why a call is refused that is ``traced``, and what to do."""
    return (_FORWARD_REASON, _FORWARD_ADVICE) if traced == FORWARD else (REASON, ADVICE)


def breaks_graphs(function: FunctionT) -> FunctionT:
    """Marks a function for ``torch.compile``: a graph ends before it, and an error of ``fullgraph`` says why."""
    vars(function)["_torchdynamo_disable"] = True
    vars(function)["_torchdynamo_disable_msg"] = REASON
    return function


def keep_untraced(function: Callable[..., Any]) -> None:
    """Keeps ``torch.compile``, once torch is loaded, out of a function and of all that it calls."""
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "_C"):
        frames = torch._C._dynamo.eval_frame
        skip = frames._FrameAction.SKIP
        frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))


def transforms() -> bool | None:
    """Whether what torch does to calls at this moment goes by operators: traces, transforms, modes; None for nothing.

    Forward-mode derivatives do not.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "_C"):
        return False
    if torch._C._functorch.peek_interpreter_stack() is not None:
        stack = torch._C._functorch.get_interpreter_stack() or ()
        return all(level.key().name != "Jvp" for level in stack)
    return True if torch.jit.is_tracing() or torch._C._len_torch_dispatch_stack() else None


def differentiates() -> bool:
    """Whether torch.func differentiates what is called at this moment."""
    stack = sys.modules["torch"]._C._functorch.get_interpreter_stack() or ()
    return any(level.key().name == "Grad" for level in stack)


def functionalises() -> bool:
    """Whether torch.func functionalises what is called at this moment."""
    level = sys.modules["torch"]._C._functorch.peek_interpreter_stack()
    return level is not None and level.key().name == "Functionalize"


def may_need_operator() -> bool:
    """Whether torch, where it is loaded at all, may have to see an operator for a call."""
    return "torch" in sys.modules


def is_traced(tensor: Any) -> bool:
    """Whether a tensor stands for others that have its elements, and torch's operators know how."""
    torch = sys.modules["torch"]
    return has_own_dispatch(tensor) or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def traced_by() -> str | None:
    """What traces or transforms torch's calls at this moment, or None; modes that only watch calls do neither."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "_C"):
        return None
    if torch.jit.is_tracing():
        return "torch.jit.trace"
    if (transform := torch._C._functorch.peek_interpreter_stack()) is not None:
        if transforms() is False:
            return FORWARD
        return f"torch.func ({transform.key().name.lower()})"
    if not torch._C._len_torch_dispatch_stack():
        return None
    modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    names = {type(mode).__name__ for mode in modes if getattr(mode, "_mode_key", None) is not None}
    return next((said for name, said in _TRACERS.items() if name in names), None) or next(iter(names), None)


#: What puts the modes on torch's stack that trace.
_TRACERS = {
    "ProxyTorchDispatchMode": "make_fx or torch.export",
    "FakeTensorMode": "a FakeTensorMode",
    "FunctionalTensorMode": "functionalization",
}


def without_autocast() -> AbstractContextManager[Any]:
    """While it lasts, ``torch.autocast`` changes no dtypes: a kernel says those of what it computes on the host too."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "_C") or not torch._C._is_any_autocast_enabled():
        return nullcontext()
    return torch._C._DisableAutocast()


def has_own_dispatch(tensor: Any) -> bool:
    """Whether a tensor's class runs torch's operators in its own way: what its memory holds is not its elements."""
    torch = sys.modules["torch"]
    kind = type(tensor)
    plain = (torch.Tensor, torch.nn.Parameter)
    return kind not in plain and kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl
