"""A limit on the time that the main thread computes."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Hang(BaseException):
    """It takes too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `Hang`, once, where the main thread computed for so long; other threads count for nothing."""
    until: float | None = time.thread_time() + seconds

    def stop(*_: Any) -> None:
        nonlocal until
        if until is None:
            return
        if (left := until - time.thread_time()) > 0:
            signal.setitimer(signal.ITIMER_PROF, left)
            return
        until = None
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        until = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN if before == signal.SIG_DFL else before)
