"""The names of targets, and the chips that stand for others."""

import pytest

from kopt.errors import ConfigError
from kopt.targets.nearest_chip import nearest_cuda, nearest_hip, nearest_tpu
from kopt.targets.target import parse_target, target_names


@pytest.mark.parametrize(
    "name", [*target_names(), "pallas:strict@v5e", "pallas:interpret@v6e", "triton:interpret@sm80"]
)
def test_names_round_trip(name):
    assert str(parse_target(name)) == name


def test_default_chips_and_compile_targets():
    assert parse_target("pallas:strict").tpu.name == "tpu7x"
    assert parse_target("triton:interpret").gpu.name == "sm90"
    assert str(parse_target("pallas:strict@v5e").compile_target) == "pallas:v5e"
    assert parse_target("reference").chip is None


@pytest.mark.parametrize(
    "name", ["cuda", "pallas", "pallas:v9", "pallas:interpret@sm90", "pallas:v5e@v5e", "triton:strict", ""]
)
def test_unknown_targets_list_the_known(name):
    with pytest.raises(ConfigError, match="unknown target") as caught:
        parse_target(name)
    assert "pallas:tpu7x" in str(caught.value)


CUDA = {75: "sm75", 80: "sm80", 86: "sm86", 87: "sm86", 89: "sm89", 90: "sm90", 100: "sm100", 101: "sm100",
        103: "sm103", 110: "sm103", 120: "sm120", 121: "sm120", 130: "sm120", 70: "sm75"}  # fmt: skip
HIP = {"gfx90a": "gfx90a", "gfx908": "gfx90a", "gfx942": "gfx942", "gfx950": "gfx950", "gfx940": "gfx90a",
       "gfx1100": "gfx1100", "gfx1151": "gfx1100", "gfx1030": "gfx1100", "gfx1201": "gfx1100",
       "gfx11-generic": "gfx1100", "radeon": "gfx90a"}  # fmt: skip
TPUS = {"TPU v4": "v4", "TPU v5 lite": "v5e", "TPU v5e": "v5e", "TPU v5": "v5p", "TPU v5p": "v5p", "TPU v6 lite": "v6e",
        "TPU v6e": "v6e", "TPU7x": "tpu7x", "TPU v7x lite": "tpu7x", "TPU v9": "tpu7x", "TPU v3": "v4",
        "NPU": "v4"}  # fmt: skip


@pytest.mark.parametrize(("arch", "name"), CUDA.items())
def test_the_nearest_nvidia_chip(arch, name):
    assert nearest_cuda(arch).name == name


@pytest.mark.parametrize(("arch", "name"), HIP.items())
def test_the_nearest_amd_chip_has_as_many_lanes(arch, name):
    assert nearest_hip(arch).name == name


@pytest.mark.parametrize(("kind", "name"), TPUS.items())
def test_the_nearest_tpu(kind, name):
    assert nearest_tpu(kind).name == name
