"""Programs that ask for a GPU, where torch has none: their tensors are made on the CPU, and what they time runs once.

`WithoutGpu` is what torch's functions go through; `REPLACED` what else of torch, Triton and Helion needs a GPU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import local
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kopt.helion.session import HelionSession
from kopt.targets.chips import GpuChip
from kopt.targets.target import parse_target

#: The devices of programs for accelerators, by the types that torch and Helion give them.
_ACCELERATORS = ("cuda", "xpu", "tpu", "mtia")
_CPU = torch.device("cpu")
#: How many calls of kopt's are under way in this thread: they see torch as it is.
_under_way = local()


@contextmanager
def as_it_is() -> Iterator[None]:
    """torch's own devices while it lasts: for what kopt does itself."""
    calls = getattr(_under_way, "calls", 0)
    _under_way.calls = calls + 1
    try:
        yield
    finally:
        _under_way.calls = calls


class WithoutGpu(TorchFunctionMode):
    """Puts the CPU in the place of accelerators in calls of torch's functions.

    What moves a tensor copies it: a program may count on the two being apart.
    """

    def __init__(self, session: HelionSession):
        super().__init__()
        self._session = session

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The call, on the CPU."""
        kwargs = dict(kwargs or {})
        if getattr(_under_way, "calls", 0):
            return func(*args, **kwargs)
        if func in _MOVING:
            return self._moved(func, args, kwargs)
        if is_accelerator(kwargs.get("device")):
            kwargs["device"] = self._cpu()
        return func(
            *(self._cpu() if isinstance(arg, torch.device) and is_accelerator(arg) else arg for arg in args), **kwargs
        )

    def _moved(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        tensor, *rest = args
        if func is not torch.Tensor.to:  # cuda(), cpu() and the like name their device
            return tensor.to(self._cpu() if func is not torch.Tensor.cpu else _CPU, copy=True)
        if is_accelerator(kwargs.get("device")):
            kwargs["device"] = self._cpu()
        elif rest and is_accelerator(rest[0]):
            rest[0] = self._cpu()
        elif not any(map(_is_cpu, (*rest[:1], kwargs.get("device")))):
            return func(tensor, *rest, **kwargs)
        if len(rest) < 4:  # the fourth says whether to copy
            kwargs["copy"] = True
        return func(tensor, *rest, **kwargs)

    def _cpu(self) -> torch.device:
        _say_cpu(self._session)
        return _CPU


def _say_cpu(session: HelionSession) -> None:
    session.remark("torch has no GPU here: tensors that the program makes on one are on the CPU")


_say_cpu._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


_MOVING = (torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu, torch.Tensor.xpu)


def is_accelerator(device: Any) -> bool:
    """Whether it names a device that is no CPU, as torch's functions take devices."""
    if isinstance(device, int) and not isinstance(device, bool):
        return True
    kind = device.type if isinstance(device, torch.device) else device
    return isinstance(kind, str) and kind.partition(":")[0] in _ACCELERATORS


def _is_cpu(device: Any) -> bool:
    return device == "cpu" or device == _CPU


def _once(fn: Callable[[], Any]) -> float:
    """The milliseconds that one call takes: an interpreter's, which is no more than a sign of life."""
    begin = time.perf_counter()
    fn()
    return 1e3 * (time.perf_counter() - begin)


def _bench(fn: Callable[[], Any], *args: Any, quantiles: Sequence[float] | None = None, **options: Any) -> Any:
    """In the place of ``do_bench``: the milliseconds of one call."""
    taken = _once(fn)
    return [taken] * len(quantiles) if quantiles else taken


def _bench_all(fns: Sequence[Callable[[], Any]], **options: Any) -> list[float]:
    """In the place of ``interleaved_bench``: the milliseconds of one call of each."""
    return [_once(fn) for fn in fns]


def _set_default_device(device: Any) -> None:
    _DEFAULT_DEVICE(_CPU if is_accelerator(device) else device)


_DEFAULT_DEVICE = torch.set_default_device
_GENERATOR = torch.Generator


class _Generators(type(_GENERATOR)):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _GENERATOR)


class _Generator(_GENERATOR, metaclass=_Generators):
    """In the place of ``torch.Generator``: the one of an accelerator is the CPU's."""

    def __new__(cls, device: Any = None) -> Any:
        return _GENERATOR(_CPU if device is None or is_accelerator(device) else device)


def _questions(chip: GpuChip) -> dict[str, Callable[..., Any]]:
    """What ``torch.cuda`` says of a chip, as it says it of a device."""
    digits = str(chip.arch).removeprefix("gfx")
    after = 1 if chip.backend == "cuda" else 2  # AMD's end in a stepping
    major, minor = int(digits[:-after]), int(digits[-after])
    properties = SimpleNamespace(
        name=chip.name,
        major=major,
        minor=minor,
        multi_processor_count=PROCESSORS,
        warp_size=chip.warp_size,
        shared_memory_per_block_optin=chip.shared_bytes,
    )
    return {
        "get_device_capability": lambda *_, **__: (major, minor),
        "get_device_name": lambda *_, **__: chip.name,
        "get_device_properties": lambda *_, **__: properties,
    }


#: How many processors a program is told that there are: the programs of a kernel run one after another anyway.
PROCESSORS = 8
_HELIONS = {"compute_repeat": lambda *_, **__: 1, "do_bench": _bench, "interleaved_bench": _bench_all}
#: What is in the place of names that modules define, those that can be imported.
REPLACED: Mapping[str, Mapping[str, Any]] = {
    "helion._testing": _HELIONS,
    "helion.autotuner.benchmarking": _HELIONS,
    "triton.testing": {"do_bench": _bench, "do_bench_cudagraph": _bench},
    "torch.cuda": {"synchronize": lambda *_, **__: None},
    "torch": {"set_default_device": _set_default_device, "Generator": _Generator},
}


@contextmanager
def without_gpu(session: HelionSession) -> Iterator[None]:
    """A program for a GPU runs on the CPU while it lasts; nothing changes where torch has one."""
    if torch.cuda.is_available() or torch.xpu.is_available():
        yield
        return
    saved: list[tuple[Any, str, Any]] = []
    try:
        for name, values in (*REPLACED.items(), ("torch.cuda", _questions(_chip(session)))):
            module = _module(name)
            for key, value in values.items() if module is not None else ():
                if hasattr(module, key):
                    saved.append((module, key, getattr(module, key)))
                    setattr(module, key, value)
        with WithoutGpu(session):
            yield
    finally:
        for module, key, value in reversed(saved):
            setattr(module, key, value)


def _chip(session: HelionSession) -> GpuChip:
    """The GPU that kernels of Triton are emitted for."""
    for target in (session.target("triton"), parse_target("triton:interpret")):
        if isinstance(target.chip, GpuChip):
            return target.chip
    raise AssertionError("Triton's interpreter is that of a GPU")


def _module(name: str) -> Any:
    """A module that can be imported, else None: what Helion's own tests need may not be installed."""
    try:
        return sys.modules.get(name) or import_module(name)
    except ImportError:
        return None
