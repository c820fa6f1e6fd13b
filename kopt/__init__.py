"""kopt: a multi-dialect kernel compiler for TPUs and GPUs.

    import kopt, kopt.language as hl

    @kopt.kernel
    def softmax(x): ...

Every public name is here; importing this module loads neither torch, JAX, Triton nor Helion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kopt.api import Kernel, Lowered, kernel, load, lower_module, parse, run_pipeline
    from kopt.errors import (
        AccessError,
        ArgumentError,
        CompileError,
        ConfigError,
        KoptError,
        LoweringError,
        ParseError,
        RankError,
        UnsupportedError,
        VerifyError,
    )
    from kopt.language import multiple_of
    from kopt.programs import Program, program

__version__ = "0.1.0"

_HOME = {
    "Kernel": "kopt.api",
    "Lowered": "kopt.api",
    "Program": "kopt.programs",
    "multiple_of": "kopt.language",
    "kernel": "kopt.api",
    "program": "kopt.programs",
    "load": "kopt.api",
    "lower_module": "kopt.api",
    "parse": "kopt.api",
    "run_pipeline": "kopt.api",
    "AccessError": "kopt.errors",
    "ArgumentError": "kopt.errors",
    "CompileError": "kopt.errors",
    "ConfigError": "kopt.errors",
    "KoptError": "kopt.errors",
    "LoweringError": "kopt.errors",
    "ParseError": "kopt.errors",
    "RankError": "kopt.errors",
    "UnsupportedError": "kopt.errors",
    "VerifyError": "kopt.errors",
}

__all__ = [
    "AccessError",
    "ArgumentError",
    "CompileError",
    "ConfigError",
    "Kernel",
    "KoptError",
    "Lowered",
    "LoweringError",
    "ParseError",
    "Program",
    "RankError",
    "UnsupportedError",
    "VerifyError",
    "kernel",
    "load",
    "lower_module",
    "multiple_of",
    "parse",
    "program",
    "run_pipeline",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that the opt tool starts fast."""
    if name not in _HOME:
        raise AttributeError(f"module 'kopt' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
