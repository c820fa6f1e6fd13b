"""The accelerators of this machine, and what is read from the environment."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from kopt.diagnostics import collect
from kopt.errors import ConfigError
from kopt.runtime import devices
from kopt.runtime.devices import default_target
from kopt.runtime.time_limits import time_limit
from kopt.specs import parse_spec
from kopt.targets.chips import GPU_CHIPS


def test_default_target(monkeypatch):
    monkeypatch.setenv("KOPT_TARGET", "triton:sm100")
    assert str(default_target()) == "triton:sm100"
    monkeypatch.delenv("KOPT_TARGET")
    monkeypatch.setattr(devices, "_accelerator", lambda: None)
    monkeypatch.setattr(devices, "_installed", lambda package: package == "triton")
    assert str(default_target()) == "triton:interpret"
    monkeypatch.setattr(devices, "_installed", lambda package: False)
    assert str(default_target()) == "reference"


def test_time_limit(monkeypatch):
    monkeypatch.setenv("KOPT_TIME_LIMIT", "2.5")
    assert time_limit(9) == 2.5
    monkeypatch.setenv("KOPT_TIME_LIMIT", "soon")
    with pytest.raises(ConfigError, match="expected seconds"):
        time_limit(9)


def test_importing_the_runtime_loads_no_framework():
    code = (
        "import sys, kopt.runtime.executable, kopt.runtime.report, kopt.runtime.cache, kopt.runtime.tolerance;"
        "print([m for m in ('torch', 'jax', 'triton', 'helion') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.fixture
def machine(monkeypatch):
    """A machine with a GPU or TPU whose properties a test gives."""
    import torch

    def has(*, cuda=None, hip=None, tpu=None, without=(), usable=True):
        monkeypatch.delenv("KOPT_TARGET", raising=False)
        monkeypatch.setattr(devices, "has_tpu", lambda: tpu is not None)
        monkeypatch.setattr(devices, "has_gpu", lambda: tpu is None)
        monkeypatch.setattr(devices, "_installed", lambda package: package not in without)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: usable)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: cuda)
        monkeypatch.setattr(torch.version, "hip", hip)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(gcnArchName=f"{hip}:xnack-"))
        monkeypatch.setattr("jax.devices", lambda: [SimpleNamespace(platform="tpu", device_kind=tpu)])
        devices._accelerator.cache_clear()
        with collect() as remarks:
            return str(default_target()), [str(remark) for remark in remarks]

    yield has
    devices._accelerator.cache_clear()


@pytest.mark.parametrize(
    ("properties", "target"),
    [
        ({"cuda": (8, 6)}, "triton:sm86"),
        ({"cuda": (12, 0)}, "triton:sm120"),
        ({"cuda": (10, 3)}, "triton:sm103"),
        ({"hip": "gfx950"}, "triton:gfx950"),
        ({"tpu": "TPU v6 lite"}, "pallas:v6e"),
    ],
)
def test_chips_of_the_table_are_taken_without_a_word(machine, properties, target):
    assert machine(**properties) == (target, [])


@pytest.mark.parametrize(
    ("properties", "target", "said"),
    [
        ({"cuda": (12, 1)}, "triton:sm120", "sm121 is not in kopt's table: .* facts of triton:sm120"),
        ({"cuda": (14, 2)}, "triton:sm120", "sm142 is not in kopt's table"),
        ({"hip": "gfx1201"}, "triton:gfx1100", "gfx1201 is not in kopt's table"),
        ({"tpu": "TPU v7x lite"}, "pallas:tpu7x", "TPU v7x lite is not in kopt's table"),
        ({"cuda": (7, 0)}, "triton:sm75", "sm70 is not in kopt's table: .* facts of triton:sm75"),
        ({"hip": "radeon"}, "triton:gfx90a", "radeon is not in kopt's table"),
        ({"tpu": "TPU"}, "pallas:v4", "TPU is not in kopt's table"),
        ({"cuda": (9, 0), "without": ("triton",)}, "pallas:interpret", r"GPU is not used.*kopt-compiler\[triton\]"),
    ],
)
def test_other_chips_are_taken_for_the_nearest_with_a_remark(machine, properties, target, said):
    found, remarks = machine(**properties)
    assert found == target and len(remarks) == 1 and re.search(f"remark: .*{said}", remarks[0])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AssertionError("Torch not compiled with CUDA enabled"), "Torch not compiled with CUDA enabled"),
        (RuntimeError("The NVIDIA driver is too old\nUpdate it"), "The NVIDIA driver is too old'$"),
        (None, "no GPU is available"),
    ],
)
def test_a_gpu_that_torch_cannot_use_is_told(machine, monkeypatch, error, said):
    import torch

    def init():
        if error is not None:
            raise error

    monkeypatch.setattr(torch.cuda, "init", init)
    found, remarks = machine(cuda=(9, 0), usable=False)
    assert found == "pallas:interpret" and len(remarks) == 1
    assert re.search(f"remark: this machine's GPU is not used: torch .* says '{said}", remarks[0])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert machine(cuda=(9, 0), usable=False) == ("pallas:interpret", [])


def test_a_kernel_lowered_for_the_nearest_chip_says_so(machine):
    import torch

    import kopt
    import kopt.language as hl

    @kopt.kernel
    def negated(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = -x[i]
        return out

    machine(cuda=(12, 1))
    low = negated.lower("f32[64]")
    assert str(low.target) == "triton:sm120" and any("sm121" in str(remark) for remark in low.remarks)


@pytest.mark.slow
@pytest.mark.parametrize("chip", sorted(GPU_CHIPS))
def test_triton_compiles_for_every_chip(chip):
    from kopt.runtime.report import report

    from .support import source

    for entry, specs in (("softmax", ["f32[100,70]"]), ("matmul", ["bf16[100,70]", "bf16[70,50]"])):
        facts = report(source("softmax_triton"), entry, [parse_spec(spec) for spec in specs], f"triton:{chip}")
        assert facts["legal"] is True and 0 < facts["shared_bytes"] <= GPU_CHIPS[chip].shared_bytes
