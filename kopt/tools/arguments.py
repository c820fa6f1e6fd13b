"""The arguments of ``kopt run``: specs, of which some are made up, ``.npy`` files, or Python literals."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from kopt.errors import ArgumentError
from kopt.specs import parse_spec


def specs_or_literals(texts: Sequence[str]) -> list[Any]:
    """Arguments as ``lower`` takes them: specs for tensors, values for scalars, arrays for files."""
    return [_parse(text) for text in texts]


def _parse(text: str) -> Any:
    if text.endswith(".npy"):
        return _load(text)
    if "[" in text and text[0] != "[":
        return parse_spec(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        notes = ["write tensors as f32[4096,2560] or FILE.npy, scalars as Python literals"]
        raise ArgumentError(
            f"'{text}' is neither a tensor spec, a .npy file nor a Python literal",
            notes=notes,
            id="spec",
        ) from None


def _load(path: str) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise ArgumentError(f"cannot read '{path}': {error.strerror or error}", id="file") from error
    except ValueError as error:
        raise ArgumentError(f"'{path}' is no .npy file: {error}", id="file") from error
