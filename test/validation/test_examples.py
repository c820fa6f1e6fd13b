"""Examples on the way to a TPU and a GPU, before and after each pass; all of them: ``benchmarks/validation.py``."""

from __future__ import annotations

import pytest
import torch

from examples.check import configured
from examples.registry import BY_NAME

#: Scratch memory and masks, rows that are gathered, updates that meet, items of several lengths.
NAMES = ("split_matmul", "embedding", "scatter_add", "grouped_matmul")


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
@pytest.mark.parametrize("name", NAMES)
def test_no_pass_changes_an_example(name: str, target: str) -> None:
    """Every pass is run, on the example's arguments, and on others with infinities and NaN."""
    example = BY_NAME[name]
    args = example.make_args("tiny", torch.float32)
    low = configured(example, "tiny").lower(*args, target=target)
    result = low.verify(args=args)
    assert not result.not_run
    assert len(result.inputs) == 2


def test_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is lowered is validated then."""
    from kopt.errors import MeaningError
    from kopt.passes.cse import CsePass

    from . import wrong_passes as wrong

    example = BY_NAME["softmax"]
    args = example.make_args("tiny", torch.float32)
    monkeypatch.setenv("KOPT_VERIFY_SEMANTICS", "1")
    configured(example, "tiny").lower(*args, target="triton:sm90")
    monkeypatch.setattr(CsePass, "apply", wrong.DroppedStore.apply)
    with pytest.raises(MeaningError, match="pass 'cse' changed what 'softmax' computes"):
        configured(example, "tiny").lower(*args, target="triton:sm90")
