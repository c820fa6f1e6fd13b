"""What takes the time of a launch: its items beside each other, as if each were alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kopt.explain.drawings import svg
from kopt.explain.drawings.amounts import seconds

_WIDTH, _LEFT, _ROW, _BAR = 460.0, 150.0, 24.0, 15.0


def parts(cost: Mapping[str, Any], bandwidth: float) -> str | None:
    """The picture; None where times are not known. The bottleneck is the longest bar; others run beside it."""
    if not cost["seconds"]:
        return None
    moved = (cost["bytes_in"] or 0) + (cost["bytes_out"] or 0)
    rows = [
        ("all of it", cost["seconds"], "shape"),
        ("memory, at its peak", moved / bandwidth, "dma"),
        ("matrix units", cost["mxu_seconds"], "mxu"),
        ("vector units", cost["vpu_seconds"], "vpu"),
        ("copies not hidden", cost["exposed_seconds"], "wait"),
        ("steps, launches", cost["overhead_seconds"], "spill"),
        ("around the kernel", cost["host_seconds"], "dma"),
    ]
    known = [(name, value, kind) for name, value, kind in rows if value]
    scale = (_WIDTH - _LEFT - 64) / max(value for _, value, _ in known)
    shapes = []
    for number, (name, value, kind) in enumerate(known):
        y = number * _ROW + 4
        shapes += [
            svg.text(_LEFT - 8, y + 12, name, "quiet", "end"),
            svg.box(_LEFT, y, value * scale, _BAR, kind),
            svg.text(_LEFT + value * scale + 6, y + 12, seconds(value)),
        ]
    return svg.picture(_WIDTH, len(known) * _ROW + 4, f"{seconds(cost['seconds'])} in all", *shapes)
