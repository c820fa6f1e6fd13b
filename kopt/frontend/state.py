"""The import that is under way in this thread, and how the frontend refuses."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from kopt.errors import UnsupportedError
from kopt.frontend.source import user_place

if TYPE_CHECKING:
    from kopt.frontend.tracer import Tracer


class _State(threading.local):
    tracer: Tracer | None = None


state = _State()


def current() -> Tracer:
    """The tracer of the import under way."""
    if state.tracer is None:
        raise UnsupportedError(
            "a value of a kernel is used outside of its import",
            notes=["call the kernel through kopt.kernel; functions of kopt.language work inside kernels only"],
            id="outside-device-loop",
        )
    return state.tracer


def unsupported(message: str, *notes: str, id: str = "") -> NoReturn:
    """Refuses what stands at the current place of the kernel, saying what to use instead; ``id`` is the mistake's."""
    raise UnsupportedError(message, user_place(), notes, id=id)


def mismatch(message: str, notes: Sequence[str] = ()) -> NoReturn:
    """Refuses operands that do not go together, at the current place."""
    unsupported(message, *notes, id="shapes")
