"""`kopt.program` on JAX arrays: inside ``jax.shard_map``, by XLA's collectives and by kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kopt

from .traced_on_mesh import HIDDEN, ROWS, WIDTH, feed_forward

LIMIT_S = 240
SPECS = (f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{HIDDEN}]", f"f32[{HIDDEN},{WIDTH}]")


@pytest.mark.slow
def test_a_program_over_a_mesh() -> None:
    """Four virtual devices, strict interpretation of the kernels of collectives."""
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "NPROC": "16", "JAX_PLATFORMS": "cpu"}
    root = Path(__file__).parents[2]
    found = {**os.environ, **devices, "PYTHONPATH": str(root)}
    script = str(Path(__file__).with_name("traced_on_mesh.py"))
    done = subprocess.run([sys.executable, script], env=found, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-4000:]
    off = json.loads(done.stdout.splitlines()[-1])
    assert "number of ranks of group 'tp' is not known" in off.pop("outside")
    assert set(off) == {"library", "ring", "one_shot"} and max(off.values()) < 1e-4, off


def test_the_emitted_program() -> None:
    low = kopt.program(feed_forward).lower(*SPECS, "tp", target="pallas:tpu7x")
    assert "jax.lax.psum(" in low.source and "def feed_forward(x, up, down, *, mesh" in low.source
    with pytest.raises(kopt.UnsupportedError, match="is for the ranks of 'tp'"):
        low.report()


def test_kernels_of_collectives_need_the_number_of_ranks() -> None:
    program = kopt.program(feed_forward, all_reduce="ring", ranks={"tp": 8})
    source = program.lower(*SPECS, "tp", target="pallas:tpu7x").source
    assert "make_async_remote_copy" in source and "psum" not in source
    with pytest.raises(kopt.ConfigError, match="is one of library, one_shot, ring"):
        kopt.program(feed_forward, all_reduce="multimem").lower(*SPECS, "tp", target="pallas:tpu7x")
    with pytest.raises(kopt.ConfigError, match="is one of library, one_shot, two_shot, multimem"):
        program.lower(*SPECS, "tp", target="triton:sm90")
