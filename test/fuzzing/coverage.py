"""Which call sites of kopt call which functions: coverage that costs little, for guiding mutations.

Tracing lines would make kopt ten times slower; calls, with the line that they come from, tell nearly as much of where
a text went.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

_ROOT = str(Path(__file__).resolve().parents[2] / "kopt")


class CallSites:
    """The pairs of a line and the function called from it that were ever seen."""

    def __init__(self) -> None:
        self.seen: set[tuple[Any, int, Any]] = set()
        self._ours: dict[Any, bool] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notes the calls that are made inside."""
        seen, ours = self.seen, self._ours

        def called(frame: FrameType, event: str, _: Any) -> None:
            code, back = frame.f_code, frame.f_back
            mine = ours.get(code)
            if mine is None:
                mine = ours[code] = code.co_filename.startswith(_ROOT)
            if mine and back is not None:
                seen.add((back.f_code, back.f_lineno, code))

        before = sys.gettrace()
        sys.settrace(called)
        try:
            yield
        finally:
            sys.settrace(before)
