"""The Triton interpreter's process, started with ``TRITON_INTERPRET=1``."""

# ruff: noqa: TID253 - only worker processes import this module

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from kopt.errors import CompileError
from kopt.runtime.emitted import source_location
from kopt.runtime.pallas_interpret import as_list
from kopt.runtime.reasons import emitted_line
from kopt.runtime.specs import TensorSpec
from kopt.runtime.triton_interpret import load_function, relayout
from kopt.runtime.wire import Packed, pack, unpack

torch.set_num_threads(1)


def run(source: str, entry: str, specs: tuple[TensorSpec, ...], arrays: list[Packed]) -> list[Packed]:
    """Interpret one call; raises `CompileError` with the kernel's line where the interpreter refuses it."""
    function = _function(source, entry)
    tensors = [relayout(unpack(array, "torch"), spec) for array, spec in zip(arrays, specs, strict=True)]
    try:
        with torch.no_grad():
            return [pack(result) for result in as_list(function(*tensors))]
    except Exception as error:
        raise _located(error, source, entry) from error


@lru_cache(maxsize=256)
def _function(source: str, entry: str) -> Callable[..., Any]:
    return load_function(source, entry)


def _located(error: Exception, source: str, entry: str) -> CompileError:
    line = emitted_line(error, source, entry)
    cause = error.__cause__ or error
    text = next((part.strip() for part in str(cause).splitlines() if part.strip()), "")
    notes = [f"emitted line {line}: {source.splitlines()[line - 1].strip()}"] if line else []
    location = source_location(source, line) if line else None
    return CompileError(f"triton:interpret: kernel '{entry}': {type(cause).__name__}: {text}", location, notes)
