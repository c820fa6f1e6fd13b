"""Every pass leaves IR that verifies, on the way of all examples to a TPU and to a GPU."""

from __future__ import annotations

import pytest
from support.imported import imported

from examples.registry import BY_NAME
from kopt.context import make_context
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
@pytest.mark.parametrize("name", BY_NAME)
def test_passes_leave_verified_ir(name: str, target: str) -> None:
    module, _, named, config = imported(BY_NAME[name], "ragged", target)
    run(module, make_context(), pipeline(named, config), verify_each=True)
