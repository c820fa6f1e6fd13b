"""What becomes of an IR text: parsed, verified, printed, rewritten by passes alone and by every pipeline, emitted, run.

Each step ends in a result or in an error of kopt's with a place; anything else is a failure.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import io
import random
import traceback
import typing
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal
from unittest.mock import patch

import kopt
from kopt.context import make_context
from kopt.open_extents import is_open
from kopt.pass_manager import parse_pipeline
from kopt.pass_manager import run as run_passes
from kopt.passes import ALL_PASSES, PASSES
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS
from test.fuzzing.time_limits import Hang, time_limit
from test.security.mutations import ROOT

#: No mutant takes longer: texts are short.
SECONDS = 20
#: One of each kind.
TARGETS = ("reference", "pallas:v6e", "triton:sm90")
#: Passes that a mutant goes through, each alone: they take a sixth of the time, lowering half of it.
_PASSES = 8
#: What the reference runs of a mutant: a few seconds of operations.
_OPERATIONS = 1 << 17
#: And of how many elements: what cells have done to each element takes 40 bytes beside it.
_ELEMENTS = 1 << 24
#: What an extent that differs from call to call is in the one that is run.
_EXTENT = 64
_PLACED = (kopt.ParseError, kopt.VerifyError, kopt.LoweringError, kopt.UnsupportedError, kopt.AccessError)
#: Passes of xDSL's that know nothing of plans: what they leave of one is refused at its place.
_FOREIGN = {f"pass {name}" for name, path in PASSES.items() if path.startswith("xdsl.")}


class Failure(Exception):
    """Neither a result nor an error of kopt's with a place."""


@dataclasses.dataclass
class Journey:
    """The steps of texts, and how many took each."""

    random: random.Random
    counts: Counter[str] = dataclasses.field(default_factory=Counter)

    def failure(
        self, text: str, seconds: float = SECONDS, passes: Sequence[str] = (), targets: Sequence[str] = ()
    ) -> str | None:
        """Where a text ends in anything but a result or an error of kopt's: the exception and the innermost frame.

        Some passes and one target are drawn where none are given.
        """
        try:
            with time_limit(seconds):
                self._go(text, passes, targets)
        except Hang as hang:
            return f"hang at {_frame(hang)}"
        except Failure as failure:
            return str(failure)
        except (Exception, RecursionError) as error:
            return f"{type(error).__name__}: {str(error)[:100]!r} at {_frame(error)}"
        return None

    def _go(self, text: str, passes: Sequence[str], targets: Sequence[str]) -> None:
        """All steps. Raises what is no answer."""
        module = self._answered("parse", lambda: kopt.parse(text))
        if module is None:
            return
        self._answered("print", lambda: _print(module))
        for name in passes or self.random.sample([*PASSES], _PASSES):
            self._answered(f"pass {name}", functools.partial(_rewrite, module, name, self.random))
        for op in module.ops:
            if op.name == "func.func" and op.body.blocks:
                for target in targets or (_target(self.random),):
                    family = target.partition(":")[0]
                    self._answered(f"lower {family}", functools.partial(_lower, module, op.sym_name.data, target))

    def _answered(self, step: str, take: Callable[[], Any]) -> Any:
        try:
            result = take()
        except kopt.KoptError as error:
            self.counts[f"refused {step}"] += 1
            _check_error(step, error)
            return None
        self.counts[f"passed {step}"] += 1
        return result


def _check_error(step: str, error: kopt.KoptError) -> None:
    """An error says something, briefly, in one piece, and where."""
    if not str(error) or "Traceback" in str(error):
        raise Failure(f"{step}: an error that says nothing, or too much: {error.message[:100]!r}")
    if isinstance(error, _PLACED) and error.location is None:
        raise Failure(f"{step}: no place: {type(error).__name__}: {error.message[:100]} at {_frame(error)}")
    if any("found after pass" in note for note in error.notes) and step not in _FOREIGN:
        raise Failure(f"{step}: {error.notes[-1]}: {error.message[:100]}")


def _print(module: Any) -> None:
    """The text and its generic form; the text means the same module."""
    from xdsl.printer import Printer

    text = str(module)
    Printer(stream=io.StringIO(), print_generic_format=True).print_op(module)
    try:
        again = kopt.parse(text)
    except kopt.KoptError as error:
        raise Failure(f"print: the printed text is refused: {error.message[:100]}") from error
    if not again.is_structurally_equivalent(module):
        raise Failure("print: the printed text is another module")


def _rewrite(module: Any, name: str, random: random.Random) -> None:
    """One pass alone, with options that it may have, on a copy."""
    fields = dataclasses.fields(ALL_PASSES[name])
    hints = typing.get_type_hints(ALL_PASSES[name])
    options = [option for field in fields if (option := _option(field, hints[field.name], random))]
    passes = parse_pipeline(f"{name}{{{' '.join(options)}}}" if options else name)
    run_passes(module.clone(), make_context(), passes, verify_each=True)


def _option(field: dataclasses.Field[Any], hint: Any, random: random.Random) -> str:
    """An option of a pass with one of the values that its type has, or nothing where it has a default."""
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    if not required and random.random() < 0.7:
        return ""
    union = typing.get_origin(hint) in (typing.Union, type(int | None))
    kinds = typing.get_args(hint) if union else (hint,)
    values = [*field.metadata.get("one of", ())] or [v for kind in kinds for v in _VALUES.get(kind, _literal(kind))]
    return f"{field.name}={random.choice(values)}" if values else ""


_VALUES: dict[Any, tuple[str, ...]] = {
    bool: ("true", "false"),
    int: ("0", "1", "2", "3", "16", "1048576", "-1"),
    str: ('"b0=16"', '"b1=1"', '"b0=7,b1=8"', "x"),
    tuple[str, ...]: ("loads", "grid", '"i"', '"x=window"', '"k#1=resident"', '""'),
}


def _literal(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def _target(random: random.Random) -> str:
    """A chip of either family, or the reference."""
    chips = (f"pallas:{random.choice([*TPU_CHIPS])}", f"triton:{random.choice([*GPU_CHIPS])}")
    return random.choice(("reference", *chips))


def _lower(module: Any, entry: str, target: str) -> None:
    lowered = kopt.lower_module(module, entry, target, allow_inline=True)
    if target != "reference":
        ast.parse(lowered.source)
        return
    arrays = small_arrays(module, entry)
    if arrays is not None:
        from kopt.interpreter import machine, run

        with patch.multiple(machine, OPERATIONS=_OPERATIONS, ELEMENTS=_ELEMENTS):
            run(lowered.module, entry, arrays)


def small_arrays(module: Any, entry: str) -> list[Any] | None:
    """Arrays for a function's arguments, or None where they are many elements or none that kopt makes."""
    import numpy as np
    from xdsl.dialects.builtin import MemRefType

    from kopt.analysis.entry import entry_function
    from kopt.interpreter.rounding import numpy_type

    arrays = []
    for type in entry_function(module, entry).function_type.inputs:
        if not isinstance(type, MemRefType):
            return None
        shape = [_EXTENT if is_open(extent) else extent for extent in type.get_shape()]
        if not 0 <= np.prod(shape, dtype=float) <= 1 << 16:
            return None
        arrays.append(np.ones(shape, numpy_type(type.element_type)))
    return arrays


def _frame(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f"{ROOT}/kopt/" in f.filename]
    if not frames:
        return "no frame of kopt"
    return f"{frames[-1].filename.removeprefix(str(ROOT) + '/')}:{frames[-1].lineno} {frames[-1].name}"
