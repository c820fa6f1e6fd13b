"""Every pass leaves IR that verifies, on the way of all examples to a TPU and to a GPU."""

from __future__ import annotations

import pytest

from examples.registry import BY_NAME, DTYPES
from kopt.context import make_context
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
@pytest.mark.parametrize("name", BY_NAME)
def test_passes_leave_verified_ir(name: str, target: str) -> None:
    example = BY_NAME[name]
    low = example.kernel.lower(*example.make_args("ragged", DTYPES["bf16"]), target=target)
    run(low.module.clone(), make_context(), pipeline(low.target, low.config), verify_each=True)
