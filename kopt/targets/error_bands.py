"""How far a predicted time may be off: the band that reports print beside it.

    low, high = error_band(chip, "MXU")
    predicted_low_ms, predicted_high_ms = low * predicted_ms, high * predicted_ms

The mean errors are data, beside the constants (`kopt.targets.constant_files`): judged on measured kernels whose shapes
the constants were not fitted to (`docs/tuning.md`).
"""

from __future__ import annotations

from kopt.targets.chips import Chip, GpuChip
from kopt.targets.costs import constants_of

#: Mean errors where nothing was measured: of TPUs, and of GPUs, whose constants are vendors'.
_TPU, _GPU = 0.15, 0.4
#: Half of a band by the mean error: nine of ten errors are less than twice their mean.
_WIDTH = 2.0


def error_band(chip: Chip, bound: str | None = None) -> tuple[float, float]:
    """The factors of a predicted time between which the measured one is in nine of ten cases.

    Args: ``bound`` is what bounds the kernel (``HBM``, ``MXU``, ``VPU``); the widest band where nothing tells.
    """
    mine = constants_of(chip).errors
    others = _GPU if isinstance(chip, GpuChip) else _TPU
    width = _WIDTH * mine.get(bound or "", max(mine.values(), default=others))
    return 1 / (1 + width), 1 + width
