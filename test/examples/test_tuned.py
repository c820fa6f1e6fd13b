"""What `benchmarks/tuned.py` prints: a default beside the best of a search, by the model and by libtpu's bundles."""

from __future__ import annotations

from argparse import Namespace

import pytest
import tuned
from bundles import bundles_of

from kopt.targets.chips import TPU_CHIPS

CHOSEN = {"example": "f", "chip": "pallas:v6e", "default": {"block_sizes": [8]}, "default_ms": 0.5, "best_ms": 0.4}


def row(name: str, **options) -> tuned.Row:
    kernel, arguments = tuned.calls(Namespace(rows=False, size="tiny", names=[name]))[name]
    return tuned.row(name, kernel, arguments, "pallas:v6e", "quick", **options)


def test_a_row_has_the_default_and_the_best() -> None:
    found = row("softmax_two_pass")
    assert found["default_ms"] >= found["best_ms"] > 0 and found["searched"] > 1
    assert found["loss"] == found["default_ms"] / found["best_ms"] - 1 and "cycles_loss" not in found


def test_tables_have_bundles_where_a_row_does() -> None:
    plain = {**CHOSEN, "best": {"block_sizes": [16]}, "loss": 0.25}
    assert tuned.losses(plain) == ["25.0 %"]
    assert tuned.losses({**plain, "cycles_loss": None}) == ["25.0 %", "not known"]
    refused = {"example": "g", "chip": "pallas:v6e", "refusal": "no such block"}
    lines = tuned.table([{**plain, "cycles_loss": -0.5}, plain, refused]).splitlines()
    assert lines[0].endswith("by bundles") and lines[1].endswith("25.0 %  -50.0 %") and lines[2].endswith("25.0 %")
    assert "no such block" in lines[3]
    assert "by bundles" not in tuned.table([plain, refused])


@pytest.mark.slow
def test_libtpu_tells_what_configurations_take() -> None:
    """Those that are the same code lose nothing; the cycles of others are those of their reports."""
    kernel, arguments = tuned.calls(Namespace(rows=False, size="real", names=["softmax_two_pass"]))["softmax_two_pass"]
    small, large = {"block_sizes": [8, 128]}, {"block_sizes": [512, 1280]}
    assert tuned.by_bundles(kernel, arguments, "pallas:v6e", small, small) == {"cycles_loss": 0.0}
    found = tuned.by_bundles(kernel, arguments, "pallas:v6e", small, large)
    assert found["default_cycles"] > 2 * found["best_cycles"] and found["cycles_loss"] > 1
    low = kernel.lower(*arguments, target="pallas:v6e", config=large)
    ((_, bundles, _),) = bundles_of(low, TPU_CHIPS["v6e"])
    assert bundles is not None and found["best_cycles"] >= bundles
