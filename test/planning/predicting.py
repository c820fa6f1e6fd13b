"""What kopt predicts of lowered kernels, without a compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kopt.known_figures import SourceFigures
from kopt.lowered import Lowered
from kopt.passes.pipelines import before_models, pipeline
from kopt.predictions import Opens, Prediction, Predictor, recorded


def predicted(low: Lowered, lengths: Mapping[str, Any] | None = None) -> Prediction:
    assert low.target.chip is not None
    passes = pipeline(low.target, low.config)
    blocks = () if low.opened is None else low.opened.blocks[low.entry]
    opens = Opens.of(low.module, low.imported, blocks, low.config)
    source = SourceFigures(low.module, low.entry, before_models(low.config, low.target.chip), low.target.chip, {})
    known = lengths or {}
    predictor = Predictor(low.module, passes, low.config, low.target.chip, source.models, known, source.assumed)
    return predictor.predict(recorded(low.module, passes), opens)
