"""Modules in the state in which block sizes are chosen, for tests of launches' models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.launch_models import launch_models
from kopt.context import make_context
from kopt.ir.launch_model import LaunchModel
from kopt.parsing import parse_module
from kopt.passes import PASSES
from kopt.registry import load
from test.frontend.support import imported

#: What every pipeline begins with.
FRONT = (
    "return-mutated-arguments name-accesses fold-block-sizes cse mask-rmw-scatter resolve-validity "
    "int-range-optimizations canonicalize cse "
    "drop-empty mask-rmw-scatter forward-stores drop-dead-initialization drop-dead-arrays dce "
    "raise-jagged dce schedule-jagged lower-jagged canonicalize cse"
).split()


def prepared(module: ModuleOp, passes: Sequence[str] = FRONT) -> ModuleOp:
    """A module after the first passes of the pipelines."""
    for name in passes:
        load(PASSES[name])().apply(make_context(), module)
    return module


def front(fn: Any, *args: Any, **options: Any) -> ModuleOp:
    """A kernel as the choice of block sizes finds it."""
    return prepared(imported(fn, *args, **options).module)


def model(fn: Any, *args: Any, **options: Any) -> LaunchModel:
    """The model of a kernel's only launch."""
    (found,) = launch_models(front(fn, *args, **options))
    return found


def parsed(text: str, open_tags: Collection[str] = ()) -> LaunchModel:
    """The model of the only launch of a text."""
    (found,) = launch_models(parse_module(text), open_tags)
    return found
