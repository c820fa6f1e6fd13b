"""What ``torch.compile`` sees of a kernel of Helion's while kopt runs it: the operator that kopt's kernel is."""

from __future__ import annotations

from typing import Any

import torch

from kopt.helion.kernel_runs import runs_of
from kopt.helion.session import HelionSession
from kopt.operators.graphs import CALLS
from kopt.runtime.torch_tracing import breaks_graphs

#: What is enabled, the innermost last.
SESSIONS: list[HelionSession] = []


def traced(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a kernel, as Dynamo traces it. As in Helion, torch records no gradient of it."""
    name = seen_kernel(kernel)
    if not name:
        return outside(kernel, *args, **kwargs)
    with torch.no_grad():
        return getattr(CALLS, name)(*args, **kwargs)


@breaks_graphs
def outside(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """A call that breaks the graph: its configuration depends on the arguments."""
    return kernel(*args, **kwargs)


def seen_kernel(kernel: Any) -> str:
    """The name of kopt's kernel for all calls, which Dynamo takes as a constant; empty where there is no such one."""
    found = runs_of(kernel).in_graphs(SESSIONS[-1]) if SESSIONS else None
    if found is None:
        return ""
    name = f"helion_{id(found)}"
    setattr(CALLS, name, found)
    return name


seen_kernel._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]
