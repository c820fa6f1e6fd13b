"""The largest block sizes that fit, where those of a configuration do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kopt.analysis.vmem import vmem_bytes
from kopt.config import Config
from kopt.context import make_context
from kopt.dialects.pallas import CallOp
from kopt.errors import KoptError, VmemError
from kopt.lowered import Lowered
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.walk import walk

Sizes = tuple[int, ...]

#: Sizes that are tried at most: each is lowered.
_TRIES = 24


def with_sizes_that_fit(error: VmemError, config: Config, lower: Callable[[Config], Lowered]) -> VmemError:
    """The error with a note that says which block sizes fit instead of those of the config."""

    def lowered(sizes: Sizes) -> Sizes | None:
        try:
            low = lower(replace(config, block_sizes=sizes))
        except KoptError:
            return None
        return low.config.block_sizes if _fits(low) else None

    fitting = largest_fitting(config.block_sizes, lowered) if config.block_sizes else None
    note = f"block_sizes {[*fitting]} fit" if fitting else "loops that bring smaller blocks may fit: see 'loop_type'"
    return VmemError(error.message, error.location, notes=[*error.notes, note])


def largest_fitting(sizes: Sizes, lowered: Callable[[Sizes], Sizes | None]) -> Sizes | None:
    """Sizes of which none can be doubled, as they are ``lowered``; None where a few tries find none.

    The largest size is halved until they fit, then each is doubled while they still do.
    """
    asked: dict[Sizes, Sizes | None] = {}

    def ask(tried: Sizes) -> Sizes | None:
        if tried not in asked:
            asked[tried] = lowered(tried) if len(asked) < _TRIES else None
        return asked[tried]

    now = sizes
    while (found := ask(now)) is None:
        largest = max(range(len(now)), key=now.__getitem__)
        if now[largest] < 2:
            return None
        now = _with(now, largest, now[largest] // 2)
    for number, most in enumerate(sizes):
        while 2 * now[number] <= most and (more := ask(_with(now, number, 2 * now[number]))) is not None:
            now, found = _with(now, number, 2 * now[number]), more
    return found


def _fits(low: Lowered) -> bool:
    """Whether the calls of a kernel fit, with what registers do not hold."""
    run(module := low.module.clone(), make_context(), pipeline(low.target, low.config))
    return all(vmem_bytes(call, low.target.tpu) <= low.target.tpu.vmem_bytes for call in walk(module, CallOp))


def _with(sizes: Sizes, number: int, size: int) -> Sizes:
    return (*sizes[:number], size, *sizes[number + 1 :])
