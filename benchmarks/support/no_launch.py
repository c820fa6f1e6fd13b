"""A GPU that is not there: Triton compiles for it and goes all the way to the launch, which does nothing.

What is left of a call is what the processor does for it. Tensors are on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from triton.runtime import driver

from kopt.runtime.gpu_worker import TargetOnly
from kopt.runtime.triton_interpret import TritonRunner
from kopt.targets.chips import GPU_CHIPS, GpuChip


class _Driver(TargetOnly):
    """Triton's view of a device whose launches do nothing."""

    def __init__(self, chip: GpuChip):
        super().__init__(chip)
        self.utils = SimpleNamespace(
            get_device_properties=lambda device: {"max_shared_mem": chip.shared_bytes},
            load_binary=lambda *_: (object(), None, 0, 0, 1024),
            unload_module=lambda module: None,
        )

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        return _nothing


def _nothing(*args: Any) -> None:
    """A launch."""


@contextmanager
def no_launch(chip: str = "sm90") -> Iterator[None]:
    """While it lasts, kernels for a chip run here, and their launches do nothing."""
    make = TritonRunner.__init__

    def on_cpu(runner: TritonRunner, *args: Any) -> None:
        make(runner, *args)
        runner.devices = ("cpu",)

    driver.set_active(_Driver(GPU_CHIPS[chip]))  # pyright: ignore[reportArgumentType]
    with patch("kopt.runtime.devices._is_here", lambda target: True), patch.object(TritonRunner, "__init__", on_cpu):
        yield
