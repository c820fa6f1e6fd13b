"""A compiler with faults, as worker processes import it: the source says which."""

from __future__ import annotations

import os
import time
from typing import Any


def compile_module(source: str, *rest: Any) -> dict[str, Any]:
    """What a chip's compiler would say, or worse."""
    if source == "dies":
        os.abort()
    if source == "hangs":
        time.sleep(600)
    while source == "works":
        pass
    if source == "grows":
        held = [bytearray(64 << 20) for _ in range(12)]  # 768 MiB, all written to
        time.sleep(600 * bool(held))
    if source == "raises":
        raise ValueError("what is this")
    legal = source != "refuses"
    return {"legal": legal, "reason": None if legal else "too many registers", "compile_s": 0.0}
