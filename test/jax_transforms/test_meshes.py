"""Kernels in ``jax.shard_map`` over four CPU devices, which a process has from its start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def test_kernels_on_four_devices():
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    found = {**os.environ, **devices, "PYTHONPATH": str(Path(__file__).parents[2])}
    script = str(Path(__file__).with_name("on_a_mesh.py"))
    done = subprocess.run([sys.executable, script], env=found, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    off = json.loads(done.stdout.splitlines()[-1])
    assert max(off.values()) < 1e-5, off
