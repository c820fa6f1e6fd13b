"""Shared by the runtime's tests: hand-written emitted modules and executables of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kopt.runtime.executable import Executable
from kopt.runtime.signature import Signature, TensorParameter
from kopt.specs import spec_of

EMITTED = Path(__file__).parent / "emitted"
NAMES = "xyzwuv"


def source(name: str) -> str:
    """The text of a hand-written emitted module."""
    return (EMITTED / f"{name}.py").read_text()


def signature(entry: str, *args: Any) -> Signature:
    """The signature that fits arguments (tensors or specs), named x, y, z, …"""
    return Signature(entry, tuple(TensorParameter(n, spec_of(a)) for n, a in zip(NAMES, args, strict=False)))


def executable(module: str, entry: str, target: str, *args: Any, **options: Any) -> Executable:
    """An executable of a hand-written module for arguments like these."""
    return Executable(source(module), entry, signature(entry, *args), target, **options)
