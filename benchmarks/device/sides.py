"""Who computes an example on a GPU: kopt, torch's libraries, torch.compile, Triton by hand, and Helion.

A side makes of fresh arguments a call of none: what it prepares on the way is not timed. Sides that do not apply to an
example are not there.
"""

from __future__ import annotations

import builtins
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any
from unittest.mock import patch

import hand.triton as hand
import torch
from support import helion_function
from support.shapes import base_name

from device.library import JUDGES, LIBRARY, PREPARED
from examples.check import configured, mismatches
from examples.registry import Example

Args = tuple[Any, ...]
Call = Callable[[], Any]


@dataclass(frozen=True)
class Subject:
    """An example at a size on a device."""

    example: Example
    size: str
    dtype: torch.dtype
    device: str
    compile_mode: str = "default"

    @property
    def base(self) -> str:
        """The example's name in the registry, also of a wider one."""
        return base_name(self.example.name)

    def args(self) -> Args:
        """Fresh arguments, the same numbers each time: kernels write theirs."""
        return self.example.make_args(self.size, self.dtype, self.device)

    def truth(self) -> Any:
        """What the reference makes of them, most of it in f32 or f64."""
        with torch.device(self.device):
            return self.example.reference(*self.args())


def _kopt(subject: Subject, args: Args) -> Call:
    return partial(configured(subject.example, subject.size), *args)


def _library(subject: Subject, args: Args, change: Callable[[Any], Any] = lambda call: call) -> Call:
    call = LIBRARY.get(subject.base, subject.example.reference)
    return partial(change(call), *PREPARED.get(subject.base, lambda *same: same)(*args))


def _compiled(subject: Subject, args: Args) -> Call:
    return _library(subject, args, lambda call: torch.compile(call, dynamic=False, mode=subject.compile_mode))


def _by_hand(name: str, subject: Subject, args: Args) -> Call:
    function = getattr(importlib.import_module(f"hand.triton.{name}"), name)
    return partial(function, *args)


def _helion_kernel(subject: Subject, config: Any = None) -> Any:
    import helion

    os.environ.setdefault("HELION_AUTOTUNE_EFFORT", "none")
    blocks = subject.example.sizes[subject.size].config
    if config is None and blocks:
        config = helion.Config(**blocks)
    return helion.kernel(helion_function(subject.example.kernel.fn), config=config, static_shapes=True)


def _helion(subject: Subject, args: Args) -> Call:
    """What Helion chooses without a search."""
    return _on_device(_helion_kernel(subject), subject, args)


def _helion_seeds(subject: Subject, args: Args) -> Call:
    """The fastest of the configurations that Helion's search would begin with, of those that run."""
    bound = _helion_kernel(subject).bind(args)
    seeds = getattr(bound.config_spec, "compiler_seed_configs", ())
    timed = [(seconds, config) for config in seeds if (seconds := _seconds(subject, config)) is not None]
    if not timed:
        raise LookupError(f"of {len(seeds)} configurations that come with Helion for this kernel none runs")
    return _on_device(_helion_kernel(subject, min(timed, key=lambda pair: pair[0])[1]), subject, args)


def _on_device(kernel: Any, subject: Subject, args: Args) -> Call:
    """A call of Helion's kernel; where that makes tensors of no named device, this one is the default meanwhile."""
    try:
        with _named(subject.example.kernel.fn.__defaults__ or ()):
            kernel(*subject.args())
    except Exception:  # its host code has made a tensor on the CPU, or it fails again
        return partial(_with_default, subject.device, kernel, *args)
    return partial(kernel, *args)


@contextmanager
def _named(defaults: Args) -> Iterator[None]:
    """Names for functions among a signature's defaults: Helion's module repeats these, and does not import them."""
    names = {value.__name__: value for value in defaults if callable(value)}
    with patch.dict(vars(builtins), names):
        yield


def _with_default(device: str, kernel: Any, *args: Any) -> Any:
    with torch.device(device):
        return kernel(*args)


def _seconds(subject: Subject, config: Any) -> float | None:
    """What a few calls take on this device; None where the configuration is refused."""
    kernel = _helion_kernel(subject, config)
    try:
        call = _on_device(kernel, subject, subject.args())
        call()
        torch.cuda.synchronize()
        start = perf_counter()
        for _ in range(3):
            call()
        torch.cuda.synchronize()
    except Exception:  # whatever Helion's compiler says
        return None
    return perf_counter() - start


def sides(subject: Subject) -> Mapping[str, Callable[[Subject, Args], Call]]:
    """The sides of an example by name, kopt's first."""
    written = {f"hand {name}": partial(_by_hand, name) for name in hand.HAND.get(subject.base, ())}
    torchs = {"torch": _library, "torch.compile": _compiled}
    return {"kopt": _kopt, **torchs, **written, "helion": _helion, "helion seeds": _helion_seeds}


def wrong(subject: Subject, side: str, args: Args, found: Any, truth: Any) -> list[str]:
    """What differs between a side's results and the truth, beyond what dtypes allow.

    Where the reference has f32 and a library the dtype of the arguments, that dtype says how far it may be off.
    """
    judge = JUDGES.get(subject.base)
    if judge is not None and side.startswith("torch"):
        problem = judge(args, found, truth)
        return [problem] if problem else []
    if side != "kopt":
        truth = _as_narrow(found, truth, subject.dtype)
    return mismatches(subject.example, subject.size, found, truth)


def _as_narrow(found: Any, truth: Any, dtype: torch.dtype) -> Any:
    if isinstance(truth, tuple):
        return tuple(_as_narrow(*pair, dtype) for pair in zip(found, truth, strict=True))
    narrow = found.dtype == dtype and truth.dtype == torch.float32
    return truth.to(dtype) if narrow else truth
