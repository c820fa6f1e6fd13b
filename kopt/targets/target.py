"""Targets: what a kernel is compiled for, where it runs, and the chip whose facts passes need.

``parse_target("pallas:strict@v5e")`` is a family (``reference``, ``eager``, ``pallas``, ``triton``), a mode
(``interpret``, ``strict``, ``chip``) and a chip. An interpreter has a chip too: it runs the identical module that the
chip compiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kopt.errors import ConfigError
from kopt.registry import did_you_mean
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS, Chip, GpuChip, TpuChip

_CHIPS: Mapping[str, Mapping[str, Chip]] = {"pallas": TPU_CHIPS, "triton": GPU_CHIPS}
_DEFAULT_CHIP = {"pallas": "tpu7x", "triton": "sm90"}
_INTERPRETERS = {"pallas": ("interpret", "strict"), "triton": ("interpret",)}

#: The package that each family is for.
PACKAGES = {"pallas": "jax", "triton": "triton", "reference": "numpy", "eager": "torch"}
#: Families without a chip: the NumPy interpreter of the IR, and the kernel's own Python, which is never lowered.
_WITHOUT_CHIP = ("reference", "eager")


@dataclass(frozen=True)
class Target:
    """A family (`PACKAGES` has them), a mode (``interpret``, ``strict`` or ``chip``) and a chip.

    ``remark`` says what a default target was chosen for, where that is not what is here.
    """

    family: str
    mode: str
    chip: Chip | None = None
    remark: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        if self.chip is None:
            return self.family
        if self.mode == "chip":
            return f"{self.family}:{self.chip.name}"
        suffix = "" if self.chip.name == _DEFAULT_CHIP[self.family] else f"@{self.chip.name}"
        return f"{self.family}:{self.mode}{suffix}"

    @property
    def lowers(self) -> bool:
        """Whether kernels are imported and lowered for it; ``eager`` runs their Python."""
        return self.family != "eager"

    def refuse_lowering(self) -> None:
        """Raises `ConfigError` where there is nothing to lower."""
        if not self.lowers:
            raise ConfigError(
                f"the target '{self}' runs the kernel's Python; there is nothing to lower",
                notes=["call the kernel: kernel.on('eager')(…), or name another target"],
                id="target-not-here",
            )

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
            raise ConfigError(f"target '{self}' is not a TPU target", id="target-not-here")
        return self.chip

    @property
    def gpu(self) -> GpuChip:
        """The GPU of a ``triton`` target."""
        if not isinstance(self.chip, GpuChip):
            raise ConfigError(f"target '{self}' is not a GPU target", id="target-not-here")
        return self.chip


def target_names() -> list[str]:
    """Every target, as `parse_target` takes it; ``@chip`` may follow an interpreter."""
    names = [*_WITHOUT_CHIP]
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
    if not isinstance(text, str):
        raise _unknown_target(text)
    name = text.strip()
    if name in _WITHOUT_CHIP:
        return Target(name, "interpret")
    family, _, rest = name.partition(":")
    mode, at, chip = rest.partition("@")
    chips = _CHIPS.get(family, {})
    if mode in _INTERPRETERS.get(family, ()) and (not at or chip in chips):
        return Target(family, mode, chips[chip or _DEFAULT_CHIP[family]])
    if not at and mode in chips:
        return Target(family, "chip", chips[mode])
    raise _unknown_target(text)


def _spellings() -> list[str]:
    """Every target, and every interpreter of every chip."""
    interpreters = [(family, mode) for family, modes in _INTERPRETERS.items() for mode in modes]
    return [*target_names(), *(f"{family}:{mode}@{chip}" for family, mode in interpreters for chip in _CHIPS[family])]


def _unknown_target(text: Any) -> ConfigError:
    return ConfigError(
        f"unknown target '{text}'{did_you_mean(str(text), _spellings())}",
        notes=[f"targets: {', '.join(target_names())}", "an interpreter takes a chip, as in 'pallas:strict@v5e'"],
        id="unknown-target",
    )
