"""Running snippets of IR in the reference interpreter."""

from __future__ import annotations

import numpy as np

from kopt.interpreter import run
from kopt.parsing import parse_module, verify


def run_text(text: str, *args: np.ndarray, **options) -> list[np.ndarray]:
    """Parse, verify and run the only function of a module."""
    module = parse_module(text)
    verify(module)
    (name,) = [op.sym_name.data for op in module.walk() if op.name == "func.func"]
    return run(module, name, list(args), **options)
