"""Lazy tables: names mapped to ``"module:attribute"``, imported only when first used.

The dialect, pass and target tables are such tables, so that the ``kopt`` command starts without importing
what a run does not touch.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from functools import cache
from typing import Any


@cache
def load(path: str) -> Any:
    """The object that ``"package.module:attribute"`` names; imports the module."""
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the known name closest to ``name``, or nothing where none is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
