"""When Python looks for garbage: not in the middle of a compilation, whose objects nearly all live until its end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collected_later() -> Iterator[None]:
    """No search for cycles of objects until the end, unless the caller has stopped it already."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
