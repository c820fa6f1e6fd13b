"""Compilers of tests: no chip's compiler starts unless a test says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import pytest

from kopt.tuning import shapes
from test.tuning import kernels


class InProcess(Executor):
    """Runs nothing: each candidate is what `kernels.compile_module` says in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        (job,) = args
        future.set_result(kernels.compile_module(job.source, job.entry, job.specs, job.chip))
        return future


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are compiled by a function of this process."""

    @contextmanager
    def executor(*_: Any) -> Iterator[Executor]:
        yield InProcess()

    monkeypatch.setattr(shapes, "executor", executor)


@pytest.fixture(autouse=True)
def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds another's configurations."""
    monkeypatch.setenv("KOPT_CONFIGS", "")
