"""How kernels stand to what traces or transforms torch programs: they are no custom operators yet.

``torch.compile`` breaks its graph at a kernel, which then runs as it is. Everything else that traces is refused: it
would see the kernel's own reads of memory, or none of it, and bake the result in as a constant.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

REASON = "kopt kernels are not custom operators yet"
ADVICE = (
    "call the kernel outside of what is traced, on tensors that have elements; torch.compile breaks its graph there"
)


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


def traced_by() -> str | None:
    """What traces or transforms torch's calls at this moment, or None; modes that only watch calls do neither."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "_C"):
        return None
    if torch.jit.is_tracing():
        return "torch.jit.trace"
    if (transform := torch._C._functorch.peek_interpreter_stack()) is not None:
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


def has_own_dispatch(tensor: Any) -> bool:
    """Whether a tensor's class runs torch's operators in its own way: what its memory holds is not its elements."""
    torch = sys.modules["torch"]
    kind = type(tensor)
    plain = (torch.Tensor, torch.nn.Parameter)
    return kind not in plain and kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl
