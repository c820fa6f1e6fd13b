"""What this machine shows of accelerators, and how JAX is kept from searching for others."""

from __future__ import annotations

import glob
import os
import sys


def has_tpu() -> bool:
    """Whether this machine shows a TPU's device nodes."""
    return bool(glob.glob("/dev/accel*") or glob.glob("/dev/vfio/[0-9]*"))


def has_gpu() -> bool:
    """Whether this machine shows a GPU's device nodes."""
    return any(map(glob.glob, ("/dev/nvidia[0-9]*", "/dev/kfd", "/dev/dxg")))


def prepare_jax() -> None:
    """Before JAX is first imported: on a machine with no accelerator, keep it from searching for a TPU's network."""
    if "jax" not in sys.modules and not (has_tpu() or has_gpu()):
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
