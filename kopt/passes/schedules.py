"""Schedules that a configuration asks for: grid by grid, where they can be had."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from kopt.diagnostics import location_of, remark
from kopt.dialects.tile import GridOp
from kopt.errors import ConfigError
from kopt.passes.launches import is_bound
from kopt.walk import walk


def reschedule(module: ModuleOp, each: Callable[[GridOp], str | None], refusal: str, note: str) -> None:
    """Reschedules the grids of a module; ``each`` gives the reason where one has to stay as it is.

    One whose blocks are bound to memory stays as it is. A grid that stays has a remark that begins with ``note``. Where
    all stay, the configuration cannot be followed: raises `ConfigError` with ``refusal`` and the first grid's reason.
    """
    grids = walk(module, GridOp)
    reasons = [_bound(grid) or each(grid) for grid in grids]
    if grids and all(reasons):
        raise ConfigError(f"{refusal}: {reasons[0]}", location_of(grids[0]))
    for grid, reason in zip(grids, reasons, strict=True):
        if reason:
            remark(grid, f"{note}: {reason}")


def _bound(grid: GridOp) -> str | None:
    return "its blocks are bound to memory already" if is_bound(grid) else None
