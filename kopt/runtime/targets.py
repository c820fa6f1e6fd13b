"""Targets: what a kernel is compiled for, where it runs, and the hardware facts that passes need.

``parse_target("pallas:strict@v5e")`` is a family (``reference``, ``pallas``, ``triton``), a mode (``interpret``,
``strict``, ``chip``) and a chip. An interpreter has a chip too: it runs the identical module that the chip compiles.
"""

from __future__ import annotations

import glob
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from kopt.errors import ConfigError

MiB = 1024 * 1024
KiB = 1024


@dataclass(frozen=True)
class TpuChip:
    """One TPU core as the compiler sees it. ``scoped_vmem_bytes`` is what a kernel may use unless it asks for more."""

    name: str
    device_kind: str
    topology: str
    vmem_bytes: int
    scoped_vmem_bytes: int
    hbm_bytes_per_second: float
    clock_hz: float
    mxu_size: int
    cores: int = 1
    smem_bytes: int = MiB
    lanes: int = 128
    sublanes: int = 8


@dataclass(frozen=True)
class GpuChip:
    """One GPU architecture as Triton names it; ``shared_bytes`` is the most that one program may use.

    ``atomic_adds`` are the 16-bit floats that its memory adds to, each addition rounded.
    """

    name: str
    backend: str
    arch: int | str
    warp_size: int
    shared_bytes: int
    hbm_bytes_per_second: float
    atomic_adds: tuple[str, ...] = ("f16", "bf16")


# Bandwidth is a core's share. The clock is the published bf16 peak over 2 * MXUs * size² a core.
TPU_CHIPS = {
    #         name     device_kind    topology       VMEM       scoped    HBM B/s  clock  MXU cores
    "tpu7x": TpuChip("tpu7x", "TPU7x", "tpu7x:2x2x1", 64 * MiB, 32 * MiB, 3.70e12, 2.2e9, 256, 2),
    "v6e": TpuChip("v6e", "TPU v6 lite", "v6e:2x2", 128 * MiB, 32 * MiB, 1.64e12, 1.75e9, 256),
    "v5p": TpuChip("v5p", "TPU v5", "v5p:2x2x1", 64 * MiB, 16 * MiB, 1.23e12, 1.75e9, 128, 2),
    "v5e": TpuChip("v5e", "TPU v5 lite", "v5e:2x2", 128 * MiB, 16 * MiB, 8.20e11, 1.5e9, 128),
    "v4": TpuChip("v4", "TPU v4", "v4:2x2x1", 16 * MiB, 16 * MiB, 6.15e11, 1.05e9, 128, 2),
}

GPU_CHIPS = {
    "sm80": GpuChip("sm80", "cuda", 80, 32, 163 * KiB, 2.04e12, ("f16",)),
    "sm90": GpuChip("sm90", "cuda", 90, 32, 227 * KiB, 3.35e12),
    "sm100": GpuChip("sm100", "cuda", 100, 32, 227 * KiB, 8.0e12),
    "gfx942": GpuChip("gfx942", "hip", "gfx942", 64, 64 * KiB, 5.3e12),
}

Chip = TpuChip | GpuChip
_CHIPS: dict[str, dict[str, Chip]] = {"pallas": {**TPU_CHIPS}, "triton": {**GPU_CHIPS}}
_DEFAULT_CHIP = {"pallas": "tpu7x", "triton": "sm90"}
_INTERPRETERS = {"pallas": ("interpret", "strict"), "triton": ("interpret",)}

#: The package that each family needs in order to run.
PACKAGES = {"pallas": "jax", "triton": "triton", "reference": "numpy"}


@dataclass(frozen=True)
class Target:
    """``family`` is ``reference``, ``pallas`` or ``triton``; ``mode`` ``interpret``, ``strict`` or ``chip``."""

    family: str
    mode: str
    chip: Chip | None = None

    def __str__(self) -> str:
        if self.chip is None:
            return self.family
        if self.mode == "chip":
            return f"{self.family}:{self.chip.name}"
        suffix = "" if self.chip.name == _DEFAULT_CHIP[self.family] else f"@{self.chip.name}"
        return f"{self.family}:{self.mode}{suffix}"

    @property
    def interpreted(self) -> bool:
        """Whether it runs on any machine, with no accelerator."""
        return self.mode != "chip"

    @property
    def compile_target(self) -> Target:
        """The chip whose code this target runs: itself for a chip, the interpreted chip for an interpreter."""
        return self if self.chip is None else Target(self.family, "chip", self.chip)

    @property
    def tpu(self) -> TpuChip:
        """The TPU of a ``pallas`` target."""
        if not isinstance(self.chip, TpuChip):
            raise ConfigError(f"target '{self}' is not a TPU target")
        return self.chip

    @property
    def gpu(self) -> GpuChip:
        """The GPU of a ``triton`` target."""
        if not isinstance(self.chip, GpuChip):
            raise ConfigError(f"target '{self}' is not a GPU target")
        return self.chip


def target_names() -> list[str]:
    """Every target, as `parse_target` takes it; ``@chip`` may follow an interpreter."""
    names = ["reference"]
    for family, chips in _CHIPS.items():
        names += [f"{family}:{mode}" for mode in _INTERPRETERS[family]]
        names += [f"{family}:{chip}" for chip in chips]
    return names


def parse_target(text: str | Target) -> Target:
    """``"pallas:strict@v5e"`` → ``Target("pallas", "strict", v5e)``.

    Raises `ConfigError` with the list of targets for anything else. A `Target` is returned as it is.
    """
    if isinstance(text, Target):
        return text
    name = text.strip()
    if name == "reference":
        return Target("reference", "interpret")
    family, _, rest = name.partition(":")
    mode, at, chip = rest.partition("@")
    chips = _CHIPS.get(family, {})
    if not at and mode in chips:
        return Target(family, "chip", chips[mode])
    if mode in _INTERPRETERS.get(family, ()) and (not at or chip in chips):
        return Target(family, mode, chips[chip or _DEFAULT_CHIP[family]])
    raise _unknown_target(text)


def _unknown_target(text: str) -> ConfigError:
    return ConfigError(
        f"unknown target '{text}'",
        notes=[f"targets: {', '.join(target_names())}", "an interpreter takes a chip, as in 'pallas:strict@v5e'"],
    )


def has_tpu() -> bool:
    """Whether this machine shows a TPU's device nodes."""
    return bool(glob.glob("/dev/accel*") or glob.glob("/dev/vfio/[0-9]*"))


def has_gpu() -> bool:
    """Whether this machine shows a GPU's device nodes."""
    return bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/dev/kfd"))


@cache
def _installed(package: str) -> bool:
    return package in sys.modules or find_spec(package) is not None


def default_target() -> Target:
    """The target when none is named.

    ``KOPT_TARGET`` wins; then the accelerator that is there; then the first installed of ``pallas:interpret``,
    ``triton:interpret`` and ``reference``.
    """
    if named := os.environ.get("KOPT_TARGET"):
        return parse_target(named)
    if (chip := _accelerator()) is not None:
        return chip
    for name in ("pallas:interpret", "triton:interpret"):
        target = parse_target(name)
        if _installed(PACKAGES[target.family]):
            return target
    return parse_target("reference")


@cache
def _accelerator() -> Target | None:
    if has_tpu() and _installed("jax"):
        return _tpu_target()
    if has_gpu() and _installed("triton") and _installed("torch"):
        return _gpu_target()
    return None


def _tpu_target() -> Target | None:
    import jax

    device = jax.devices()[0]
    for chip in TPU_CHIPS.values():
        if device.platform == "tpu" and device.device_kind == chip.device_kind:
            return Target("pallas", "chip", chip)
    return None


def _gpu_target() -> Target | None:
    import torch

    if not torch.cuda.is_available():
        return None
    if torch.version.hip:
        arch = torch.cuda.get_device_properties(0).gcnArchName.split(":")[0]
        return Target("triton", "chip", GPU_CHIPS[arch]) if arch in GPU_CHIPS else None
    major, minor = torch.cuda.get_device_capability()
    chip = GPU_CHIPS.get(f"sm{major}{minor}")
    return Target("triton", "chip", chip) if chip else None
