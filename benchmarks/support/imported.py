"""Examples as they are imported for a target, with nothing lowered: passes have not run yet."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from examples.registry import DTYPES, Example
from kopt.config import Config
from kopt.importing import import_for_target
from kopt.targets.target import Target, parse_target


class ImportedExample(NamedTuple):
    """A module with the chosen block sizes, and what its pipeline is told."""

    module: ModuleOp
    entry: str
    target: Target
    config: Config


def imported(example: Example, size: str, target: str) -> ImportedExample:
    """An example in bf16. Raises `kopt.KoptError` where the import refuses it."""
    kernel, found = example.kernel, parse_target(target)
    values = kernel._bind(example.unfilled(size, DTYPES["bf16"]), {})
    module, config = import_for_target(kernel.fn, values, found, kernel.config)
    return ImportedExample(module.module, module.entry, found, config)
