"""Methods of Helion's kernels that go to kopt while it is enabled.

They are replaced in the class: kernels that were decorated before, and names that were imported before, are the same
objects. They stay replaced, and ask whether it is enabled; `kopt.eager.helion_names` adds to them as it likes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import helion
from torch._dynamo.variables.builder import VariableBuilder

from kopt.helion.graphs import SESSIONS, traced
from kopt.helion.kernel_runs import KernelRuns, runs_of
from kopt.helion.session import HelionSession
from kopt.helion.without_gpu import without_gpu
from kopt.language.running import RUNNING
from kopt.runtime.torch_tracing import breaks_graphs, keep_untraced

_lock = threading.Lock()


@contextmanager
def installed(session: HelionSession) -> Iterator[None]:
    """Helion's kernels run through kopt while it lasts."""
    _replace_methods()
    SESSIONS.append(session)
    try:
        with _in_graphs(), without_gpu(session):
            yield
    finally:
        SESSIONS.remove(session)


@contextmanager
def _in_graphs() -> Iterator[None]:
    """Kernels are operators of kopt's for ``torch.compile``; Helion would otherwise compile them in its own way."""
    table = VariableBuilder._type_dispatch()
    theirs = table.pop(helion.Kernel, None)
    try:
        yield
    finally:
        if theirs is not None:
            table[helion.Kernel] = theirs


def _call(runs: KernelRuns, session: HelionSession, *args: Any, **kwargs: Any) -> Any:
    return runs.call(session, args, kwargs)


def _autotune(runs: KernelRuns, session: HelionSession, args: Any, **options: Any) -> Any:
    return runs.autotune(session, args)


def _autotune_multi(runs: KernelRuns, session: HelionSession, arg_sets: Any, **options: Any) -> Any:
    return runs.autotune_multi(session, arg_sets)


#: What methods of ``helion.Kernel`` do instead.
METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _call,
    "bind": KernelRuns.bind,
    "autotune": _autotune,
    "autotune_multi": _autotune_multi,
}


def _replace_methods() -> None:
    with _lock:
        kind: Any = helion.Kernel
        if getattr(kind.reset, "_is_kopts", False):
            return
        for name, ours in METHODS.items():
            setattr(kind, name, _switched(getattr(kind, name), ours))
        kind.reset = _resetting(kind.reset)


def _switched(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is Helion's, and kopt's while that is enabled; kernels inside of a run are that run's."""

    @wraps(theirs)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not SESSIONS or RUNNING.get() is not None:
            return theirs(self, *args, **kwargs)
        return ours(runs_of(self), SESSIONS[-1], *args, **kwargs)

    keep_untraced(method)
    if theirs.__name__ != "__call__":
        return breaks_graphs(method)
    vars(method)["_torchdynamo_inline"] = traced
    return method


def _resetting(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(theirs)
    def reset(self: Any) -> None:
        if "_kopt_runs" in vars(self):
            runs_of(self).reset()
        theirs(self)

    vars(reset)["_is_kopts"] = True
    return reset
