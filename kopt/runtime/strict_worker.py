"""The strict interpreter's process: loads JAX once, keeps jitted kernels, reports races as errors."""

# ruff: noqa: TID253 - only worker processes import this module

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from kopt.errors import CompileError
from kopt.runtime.pallas_interpret import abstract_mesh, as_list, exact_options, interpreted_module, on_abstract_tpu
from kopt.runtime.reasons import essence, refusal
from kopt.runtime.strict_aliases import padding_aliased
from kopt.runtime.strict_ends import install as look_at_ends
from kopt.runtime.strict_ends import left_behind
from kopt.runtime.strict_threads import install
from kopt.runtime.wire import Packed, pack, unpack
from kopt.targets.chips import TpuChip
from kopt.targets.target import parse_target

try:
    from jax._src import config as _config
    from jax._src.pallas.mosaic.interpret import interpret_pallas_call as _state
except ImportError:  # private modules: without them races are printed, not raised, and bounds are logical
    _config = _state = None

install()
look_at_ends(_state)


def run(source: str, entry: str, target: str, use_wide: bool, race_cells: int, arrays: list[Packed]) -> list[Packed]:
    """Interpret one call; raises `CompileError` naming each race found, with the emitted line."""
    # For every thread, not in a context: the interpreter's callbacks run in threads of their own.
    jax.config.update("jax_enable_x64", use_wide)
    padded = not use_wide and _show_chip(parse_target(target).tpu)
    function = _kernel(source, entry, target, race_cells, padded)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            results = jax.block_until_ready(as_list(function(*[unpack(array, "jax") for array in arrays])))
            found = _races_found()
    except Exception as error:
        _reset()
        left_behind()
        raise refusal(error, essence(error), source, entry, "pallas:strict") from error
    if found:
        _reset()
        left_behind()
        notes = _first_race(printed.getvalue())
        raise CompileError(f"pallas:strict found a data race in kernel '{entry}'", notes=notes, id="race")
    if left := left_behind():
        raise CompileError(f"pallas:strict: kernel '{entry}' ends too early", notes=left, id="race")
    return [pack(result) for result in results]


@lru_cache(maxsize=256)
def _kernel(source: str, entry: str, target: str, race_cells: int, padded: bool) -> Callable[..., Any]:
    module = interpreted_module(source, entry, lambda grid: _params(grid, race_cells, padded))
    for value in list(vars(module).values()):
        if isinstance(value, ModuleType) and value.__name__ == pl.__name__:
            vars(value)["pallas_call"] = padding_aliased(value.pallas_call)
    function = on_abstract_tpu(getattr(module, entry), parse_target(target).tpu)
    return jax.jit(function, compiler_options=exact_options())


def _show_chip(chip: TpuChip) -> bool:
    """Make every thread of this process see the chip: padded bounds are worked out in the callbacks' threads.

    False where this JAX has no such setting. (64-bit elements have no padded shape at all.)
    """
    setting = getattr(_config, "abstract_mesh_context_manager", None)
    if setting is None:
        return False
    setting.set_global(abstract_mesh(chip))
    return True


def _params(grid: tuple[Any, ...], race_cells: int, padded: bool) -> Any:
    known = all(isinstance(extent, int) for extent in grid)
    return pltpu.InterpretParams(
        dma_execution_mode="on_wait",
        detect_races=not known or math.prod(grid) <= race_cells,
        num_cores_or_threads=2,
        random_seed=0,
        uninitialized_memory="nan",
        buffer_bounds="padded" if padded else "logical",
    )


def _races_found() -> bool:
    races = getattr(_state, "races", None)
    return bool(races is not None and races.races_found)


def _reset() -> None:
    pltpu.reset_tpu_interpret_mode_state()


def _first_race(printed: str) -> list[str]:
    """The first of the printed races, as one note a line."""
    start = printed.find("RACE DETECTED")
    lines = printed[start:].split("\n\n")[0].splitlines() if start >= 0 else []
    return [line.strip() for line in lines if "clock" not in line]
