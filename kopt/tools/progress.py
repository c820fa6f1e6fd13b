"""Progress of what may take longer than two seconds: on stderr, where that is a terminal, and where rich is installed.

with progress("reports", 3) as step:
    for target in targets:
        step(target)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kopt.runtime.extras import is_installed


@contextmanager
def progress(what: str, count: int) -> Iterator[Callable[[str], None]]:
    """Gives a function that says what is done next, the number of which is ``count``. Nothing stays on the screen.

    What is printed meanwhile stands above it, and a file that stdout goes to has it alone.
    """
    if not (sys.stderr.isatty() and is_installed("rich")):
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console, shared = Console(stderr=True), sys.stdout.isatty()
    with Progress(*columns, console=console, transient=True, redirect_stdout=shared) as bar:
        task, started = bar.add_task(what, total=count), False

        def step(name: str) -> None:
            nonlocal started
            bar.update(task, description=f"{what}: {name}", advance=int(started))
            started = True

        yield step
