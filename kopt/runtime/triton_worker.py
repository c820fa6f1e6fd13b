"""The Triton interpreter's process, started with ``TRITON_INTERPRET=1``."""

# ruff: noqa: TID253 - only worker processes import this module

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from kopt.runtime.pallas_interpret import as_list
from kopt.runtime.reasons import refusal
from kopt.runtime.triton_interpret import load_function, relayout
from kopt.runtime.wire import Packed, pack, unpack
from kopt.specs import TensorSpec

torch.set_num_threads(1)


def run(source: str, entry: str, specs: tuple[TensorSpec, ...], arrays: list[Packed]) -> list[Packed]:
    """Interpret one call; raises `CompileError` with the kernel's line where the interpreter refuses it."""
    function = _function(source, entry)
    tensors = [relayout(unpack(array, "torch"), spec) for array, spec in zip(arrays, specs, strict=True)]
    try:
        with torch.no_grad():
            return [pack(result) for result in as_list(function(*tensors))]
    except Exception as error:
        raise refusal(error, _says(error), source, entry, "triton:interpret") from error


@lru_cache(maxsize=256)
def _function(source: str, entry: str) -> Callable[..., Any]:
    return load_function(source, entry)


def _says(error: Exception) -> str:
    """What Triton's interpreter met, on one line."""
    cause = error.__cause__ or error
    text = next((part.strip() for part in str(cause).splitlines() if part.strip()), "")
    return f"{type(cause).__name__}: {text}"
