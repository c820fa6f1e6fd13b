"""What ``--show-passes``, ``--show-dialects`` and ``--version`` print."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from typing import Any

from kopt.dialects import ALL_DIALECTS
from kopt.errors import ConfigError
from kopt.passes import ALL_PASSES
from kopt.plugins import PluginTable
from kopt.targets.chips import PLUGINS as CHIPS


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
    return "\n".join(_pass_lines(name, found) for name, found in _loaded(ALL_PASSES))


def pipelines() -> str:
    """One line a pipeline that has a name, and how many passes it has."""
    from kopt.passes.named_pipelines import NAMED_PIPELINES

    return "\n".join(f"{name:28} {len(passes)} passes" for name, passes in sorted(NAMED_PIPELINES.items()))


def _pass_lines(name: str, pass_type: Any) -> str:
    lines = [f"{name:28} {_summary(pass_type)}".rstrip()]
    for field in dataclasses.fields(pass_type):
        default = "" if field.default is dataclasses.MISSING else f" (default {field.default})"
        lines.append(f"    {field.name.replace('_', '-')}: {_type_name(field.type)}{default}")
    return "\n".join(lines)


def dialects() -> str:
    """One line a dialect and its summary."""
    return "\n".join(f"{name:28} {_module_summary(name)}".rstrip() for name, _ in _loaded(ALL_DIALECTS))


def plugins() -> str:
    """One line an entry point of another package: its group, name and package, and what is wrong with it."""
    lines = []
    for group in (ALL_DIALECTS.plugins, ALL_PASSES.plugins, CHIPS):
        for name, package, error in group.states():
            lines.append(f"{group.group:28} {name} ({package}){'' if error is None else f': {error.message}'}")
    return "\n".join(lines)


def _loaded(table: PluginTable) -> Iterator[tuple[str, Any]]:
    """Names and what they name; what does not load is listed by `plugins` alone."""
    for name in sorted(table):
        try:
            yield name, table[name]
        except ConfigError:
            continue


def _module_summary(dialect: str) -> str:
    return (sys.modules[ALL_DIALECTS.module(dialect)].__doc__ or "").strip().partition("\n")[0]


def _summary(thing: Any) -> str:
    return (inspect.cleandoc(thing.__doc__ or "")).partition("\n")[0]


def _type_name(type_: Any) -> str:
    return type_ if isinstance(type_, str) else getattr(type_, "__name__", str(type_))
