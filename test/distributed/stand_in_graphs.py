"""CUDA graphs without a GPU: what torch does during a capture is recorded, and done again on the same arrays."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Graph:
    """The operators of one capture, with their arguments and results."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = []
        self.replays = 0

    def replay(self) -> None:
        """Does the same on the same memory; what was allocated during the capture is written where it was."""
        self.replays += 1
        for function, args, kwargs, result in self.calls:
            again = function(*args, **kwargs)
            if isinstance(result, torch.Tensor) and again.data_ptr() != result.data_ptr():
                result.copy_(again)


class _Recorder(TorchDispatchMode):
    def __init__(self, graph: Graph):
        super().__init__()
        self.graph = graph

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.graph.calls.append((func, args, kwargs or {}, result))
        return result


class _Stream:
    def wait_stream(self, other: Any) -> None:
        """Nothing runs beside anything here."""


@contextmanager
def _capture(graph: Graph):
    with _Recorder(graph):
        yield


def install(monkeypatch) -> list[Graph]:
    """Replaces what ``torch.cuda`` has of graphs, and lets tensors say that they are there; gives the graphs made."""
    monkeypatch.setattr(torch.Tensor, "is_cuda", True, raising=False)
    made: list[Graph] = []

    def new() -> Graph:
        made.append(Graph())
        return made[-1]

    stream = _Stream()
    for name, value in {
        "CUDAGraph": new,
        "graph": _capture,
        "Stream": lambda: stream,
        "stream": lambda stream: nullcontext(),
        "current_stream": lambda: stream,
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    return made
