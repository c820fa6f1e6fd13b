"""How long kopt waits for another process before it kills it."""

from __future__ import annotations

import os

from kopt.errors import ConfigError

#: Seconds for one interpreted call, and for one compilation.
CALL_SECONDS = 300.0
COMPILE_SECONDS = 180.0
#: Seconds that the ranks of a program wait for each other before they first run it.
MEETING_SECONDS = 120.0


def time_limit(default: float) -> float:
    """``KOPT_TIME_LIMIT`` in seconds where it is set, else ``default``."""
    text = os.environ.get("KOPT_TIME_LIMIT")
    if not text:
        return default
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"KOPT_TIME_LIMIT is '{text}', expected seconds") from None
