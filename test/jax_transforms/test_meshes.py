"""Kernels in ``jax.shard_map`` over four CPU devices, which a process has from its start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def on_four_devices(script: str) -> dict[str, float]:
    """How far each result of a script beside this file is off."""
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    ours = {"KOPT_TARGET": "pallas:interpret", "PYTHONPATH": str(Path(__file__).parents[2])}
    environment = {**os.environ, **devices, **ours}
    command = [sys.executable, str(Path(__file__).with_name(script))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_kernels_on_four_devices():
    off = on_four_devices("on_a_mesh.py")
    assert max(off.values()) < 1e-5, off


@pytest.mark.slow
def test_training_on_four_devices():
    """Sums of at most 48 terms of f32 differ by some 1e-6 of their size; twenty steps carry that on."""
    off = on_four_devices("training_on_a_mesh.py")
    assert max(off.values()) < 1e-4, off
