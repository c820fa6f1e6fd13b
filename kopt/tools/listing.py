"""What ``--show-passes``, ``--show-dialects`` and ``--version`` print."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from kopt.dialects import DIALECTS
from kopt.passes import PASSES
from kopt.registry import load


def version() -> str:
    """``kopt 0.1 (xdsl 0.74.0)``, from the installed distributions."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    def of(distribution: str) -> str:
        try:
            return installed(distribution)
        except PackageNotFoundError:
            return "not installed"

    return f"kopt {of('kopt-compiler')} (xdsl {of('xdsl')})"


def passes() -> str:
    """One line a pass, its summary, and its options with their defaults."""
    return "\n".join(_pass_lines(name, load(path)) for name, path in sorted(PASSES.items()))


def _pass_lines(name: str, pass_type: Any) -> str:
    lines = [f"{name:28} {_summary(pass_type)}".rstrip()]
    for field in dataclasses.fields(pass_type):
        default = "" if field.default is dataclasses.MISSING else f" (default {field.default})"
        lines.append(f"    {field.name.replace('_', '-')}: {_type_name(field.type)}{default}")
    return "\n".join(lines)


def dialects() -> str:
    """One line a dialect and its summary."""
    return "\n".join(f"{name:28} {_module_summary(path)}".rstrip() for name, path in sorted(DIALECTS.items()))


def _module_summary(path: str) -> str:
    module = inspect.getmodule(load(path)) or __import__("importlib").import_module(path.partition(":")[0])
    return (module.__doc__ or "").strip().partition("\n")[0]


def _summary(thing: Any) -> str:
    return (inspect.cleandoc(thing.__doc__ or "")).partition("\n")[0]


def _type_name(type_: Any) -> str:
    return type_ if isinstance(type_, str) else getattr(type_, "__name__", str(type_))
