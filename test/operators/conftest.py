"""torch's compilers begin anew after each test."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def fresh_compiler():
    yield
    torch.compiler.reset()
