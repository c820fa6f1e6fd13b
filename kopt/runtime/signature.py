"""What a compiled kernel takes, and the errors for arguments that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kopt.errors import ArgumentError
from kopt.open_extents import MOST, OpenExtent, fits
from kopt.runtime.exchange import check_grad
from kopt.specs import TensorSpec, framework_of, spec_of


@dataclass(frozen=True)
class TensorParameter:
    """A named tensor argument and what it must be."""

    name: str
    spec: TensorSpec


@dataclass(frozen=True)
class Signature:
    """A kernel's name and its tensor parameters in order."""

    kernel: str
    parameters: tuple[TensorParameter, ...]

    def __str__(self) -> str:
        return f"{self.kernel}({', '.join(f'{p.name}: {p.spec}' for p in self.parameters)})"

    @property
    def specs(self) -> tuple[TensorSpec, ...]:
        """The parameters' specs in order."""
        return tuple(parameter.spec for parameter in self.parameters)

    def check(self, args: Sequence[Any], devices: Sequence[str] = ()) -> str:
        """Check count, kind, rank, dtype, shape, device and gradients; returns the arguments' framework.

        ``devices`` are the device types that the target can read (``cpu``, ``cuda``, ``tpu``); empty: any.
        Raises `ArgumentError` that names the argument, what was expected and what came.
        """
        if len(args) != len(self.parameters):
            raise self._error(f"expected {_count(len(self.parameters))}, got {len(args)}")
        for parameter, value in zip(self.parameters, args, strict=True):
            self._check_one(parameter, value, devices)
        self.check_extents(args)
        return self._one_framework(args)

    def check_extents(self, args: Sequence[Any]) -> None:
        """Check that extents which may change are as each other, and multiples, as the kernel was compiled for."""
        known: dict[OpenExtent, tuple[str, int]] = {}
        for parameter, value in zip(self.parameters, args, strict=True):
            for dim, (extent, have) in enumerate(zip(parameter.spec.shape, value.shape, strict=True)):
                if not isinstance(extent, OpenExtent):
                    continue
                place = f"{parameter.name}.size({dim})"
                if not extent.least <= have <= MOST:
                    limits = f"at least {extent.least} and at most {MOST}"
                    raise self._error(f"{place} is {have}, and an extent that may change is {limits}")
                if have % extent.multiple:
                    raise self._error(f"{place} is {have}, and no multiple of {extent.multiple}, as the kernel states")
                first, length = known.setdefault(extent, (place, have))
                if length != have:
                    raise self._error(f"{place} is {have} and {first} is {length}: they have to be the same")

    def _check_one(self, parameter: TensorParameter, value: Any, devices: Sequence[str]) -> None:
        name, expected = parameter.name, parameter.spec
        if framework_of(value) is None:
            raise self._error(f"argument '{name}': expected a {expected} tensor, got {type(value).__name__}")
        got = spec_of(value)
        rank, got_rank = len(expected.shape), len(got.shape)
        if got_rank != rank:
            raise self._error(f"argument '{name}': expected rank {rank} ({expected}), got rank {got_rank} ({got})")
        if got.dtype != expected.dtype:
            raise self._error(
                f"argument '{name}': expected dtype {expected.dtype.spec} ({expected}), got {got.dtype.spec} ({got})"
            )
        if not fits(got.shape, expected.shape):
            raise self._error(f"argument '{name}': expected shape {_list(expected)}, got {_list(got)}")
        device = device_of(value)
        if devices and device not in devices:
            raise self._error(f"argument '{name}': expected a tensor on {' or '.join(devices)}, got one on {device}")
        check_grad(value, name)

    def _one_framework(self, args: Sequence[Any]) -> str:
        kinds = [framework_of(value) for value in args]
        for parameter, kind in zip(self.parameters, kinds, strict=True):
            if kind != kinds[0]:
                first = self.parameters[0].name
                raise self._error(f"argument '{parameter.name}' is a {kind} array, but '{first}' is a {kinds[0]} one")
        return kinds[0] or "numpy" if kinds else "numpy"

    def _error(self, message: str) -> ArgumentError:
        return ArgumentError(f"{self.kernel}: {message}", notes=[f"the kernel takes {self}"])


def device_of(value: Any) -> str:
    """The device type of an array: ``cpu``, ``cuda`` (also for ROCm), ``tpu``, ``meta``."""
    framework = framework_of(value)
    if framework == "torch":
        return value.device.type
    if framework == "jax":
        return _jax_device(value)
    return "cpu"


def _jax_device(value: Any) -> str:
    from jax import default_backend
    from jax.core import Tracer

    if isinstance(value, Tracer):
        return default_backend().replace("gpu", "cuda")
    return next(iter(value.devices())).platform.replace("gpu", "cuda")


def _count(number: int) -> str:
    return f"{number} argument" + ("" if number == 1 else "s")


def _list(spec: TensorSpec) -> str:
    return str(list(spec.shape))
