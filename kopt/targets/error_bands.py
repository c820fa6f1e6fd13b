"""How far a predicted time may be off: the band that reports print beside it.

    low, high = error_band(chip, "MXU")
    predicted_low_ms, predicted_high_ms = low * predicted_ms, high * predicted_ms

The bands are judged on measured kernels whose shapes the constants were not fitted to (`docs/tuning.md`).
"""

from __future__ import annotations

from collections.abc import Mapping

from kopt.targets.chips import Chip, GpuChip

#: Mean errors of `docs/tuning.md`, by chip and by what bounds a kernel: those of fitted constants.
_FITTED: Mapping[tuple[str, str], float] = {
    ("tpu7x", "HBM"): 0.06,
    ("tpu7x", "MXU"): 0.06,
    ("tpu7x", "VPU"): 0.09,
    ("v6e", "HBM"): 0.12,
    ("v6e", "MXU"): 0.12,
    ("v6e", "VPU"): 0.09,
    ("v5p", "HBM"): 0.05,
    ("v5p", "MXU"): 0.05,
    ("v5p", "VPU"): 0.13,
    ("v5e", "HBM"): 0.03,
    ("v5e", "MXU"): 0.03,
}
#: With constants of another chip, of TPUs; of GPUs, whose constants are vendors'.
_TPU, _GPU = 0.12, 0.4
#: Half of a band by the mean error: nine of ten errors are less than twice their mean.
_WIDTH = 2.0


def error_band(chip: Chip, bound: str | None = None) -> tuple[float, float]:
    """The factors of a predicted time between which the measured one is in nine of ten cases.

    Args: ``bound`` is what bounds the kernel (``HBM``, ``MXU``, ``VPU``); the widest band where nothing tells.
    """
    mine = {side: error for (name, side), error in _FITTED.items() if name == chip.name}
    others = _GPU if isinstance(chip, GpuChip) else _TPU
    width = _WIDTH * mine.get(bound or "", max(mine.values(), default=others))
    return 1 / (1 + width), 1 + width
