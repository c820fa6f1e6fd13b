"""Chips that the table does not have: which of its chips is nearest, whose facts then serve."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS, GpuChip, TpuChip


def nearest_cuda(arch: int, chips: Mapping[str, GpuChip] = GPU_CHIPS) -> GpuChip:
    """The newest chip that is not newer, of the same generation where there is one; below the oldest, that one.

    ``arch`` is the compute capability as Triton writes it: 89 is 8.9, 120 is 12.0.
    """
    known = sorted((int(chip.arch), name) for name, chip in chips.items() if chip.backend == "cuda")
    older = [name for number, name in known if number <= arch]
    return chips[older[-1] if older else known[0][1]]


def nearest_hip(arch: str, chips: Mapping[str, GpuChip] = GPU_CHIPS) -> GpuChip:
    """The newest chip of the same generation that is not newer, else its oldest; of another one, as many lanes.

    A name that tells no version is taken for the oldest.
    """
    known = sorted((_gfx(str(chip.arch)), name) for name, chip in chips.items() if chip.backend == "hip")
    wanted = _gfx(arch)
    wide = wanted[0] < _RDNA
    alike = [(version, name) for version, name in known if (version[0] < _RDNA) == wide]
    same = [pair for pair in alike if pair[0][0] == wanted[0]] or alike
    older = [name for version, name in same if version <= wanted]
    return chips[older[-1] if older else same[0][1]]


#: From which version on AMD's programs have 32 lanes.
_RDNA = 10


def _gfx(arch: str) -> tuple[int, int, int]:
    """``gfx90a`` → (9, 0, 10): a version, then two hexadecimal digits.

    ``gfx11-generic`` tells a version alone, and other names tell none.
    """
    match = re.fullmatch(r"gfx(\d+)(?:([0-9a-f])([0-9a-f])|-.*)", arch)
    return (0, 0, 0) if match is None else (int(match[1]), int(match[2] or "0", 16), int(match[3] or "0", 16))


def nearest_tpu(kind: str, chips: Mapping[str, TpuChip] = TPU_CHIPS) -> TpuChip:
    """The chip of the same generation, light ones apart, else of the closest older one, else the oldest.

    ``kind`` is what JAX calls the device, such as ``TPU v6 lite``; one without a generation is taken for the oldest.
    """
    wanted = _generation(kind)
    known = sorted((_generation(chip.device_kind), chip.name) for chip in chips.values())
    same = [pair for pair in known if pair[0][0] == wanted[0]]
    older = [pair for pair in known if pair[0][0] < wanted[0]]
    alike = [pair for pair in same if pair[0][1] == wanted[1]]
    return chips[(alike or same[:1] or older[-1:] or known[:1])[0][1]]


def _generation(kind: str) -> tuple[int, bool]:
    """The generation of a TPU, 0 if it has none, and whether it is a light one: ``TPU v5e`` → (5, True)."""
    match = re.search(r"TPU\s*v?(\d+)\s*(lite|e\b)?", kind, re.IGNORECASE)
    return (0, False) if match is None else (int(match[1]), match[2] is not None)
