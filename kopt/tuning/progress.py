"""Live progress of a tuning on a terminal, by rich where that is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kopt.runtime.extras import is_installed


class Progress:
    """What is told of a tuning; here nothing comes of it."""

    def phase(self, text: str, total: int | None = None) -> None:
        """What is done now, in so many steps."""

    def done(self, number: int) -> None:
        """How many steps of the phase are done."""


class _Live(Progress):
    def __init__(self, bar: Any):
        self._bar, self._task = bar, bar.add_task("", total=None)

    def phase(self, text: str, total: int | None = None) -> None:
        self._bar.reset(self._task, description=text, total=total)

    def done(self, number: int) -> None:
        self._bar.update(self._task, completed=number)


@contextmanager
def progress(wanted: bool | None = None) -> Iterator[Progress]:
    """Live on a terminal unless told otherwise."""
    live = sys.stderr.isatty() if wanted is None else wanted
    if not live or not is_installed("rich"):
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Live(bar)
