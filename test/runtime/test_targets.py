"""Targets, specs and what is read from the environment."""

import subprocess
import sys

import numpy as np
import pytest

from kopt.errors import ArgumentError, ConfigError
from kopt.runtime import targets
from kopt.runtime.limits import time_limit
from kopt.runtime.specs import TensorSpec, parse_spec, spec_of
from kopt.runtime.targets import default_target, parse_target, target_names


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


def test_default_target(monkeypatch):
    monkeypatch.setenv("KOPT_TARGET", "triton:sm100")
    assert str(default_target()) == "triton:sm100"
    monkeypatch.delenv("KOPT_TARGET")
    monkeypatch.setattr(targets, "_accelerator", lambda: None)
    monkeypatch.setattr(targets, "_installed", lambda package: package == "triton")
    assert str(default_target()) == "triton:interpret"
    monkeypatch.setattr(targets, "_installed", lambda package: False)
    assert str(default_target()) == "reference"


def test_time_limit(monkeypatch):
    monkeypatch.setenv("KOPT_TIME_LIMIT", "2.5")
    assert time_limit(9) == 2.5
    monkeypatch.setenv("KOPT_TIME_LIMIT", "soon")
    with pytest.raises(ConfigError, match="expected seconds"):
        time_limit(9)


def test_parse_spec():
    assert str(parse_spec(" f32[4096, 2560] ")) == "f32[4096,2560]"
    assert parse_spec("bool[]").shape == ()
    spec = parse_spec("bf16[3,4]")
    assert (spec.nbytes, spec.size, spec.contiguous) == (24, 12, True)


@pytest.mark.parametrize("text", ["f32", "f33[2]", "f32[2,,3]", "f32[-1]", "f32[2", "[2]"])
def test_bad_specs(text):
    with pytest.raises(ArgumentError):
        parse_spec(text)


def test_specs_of_arrays():
    spec = spec_of(np.zeros((3, 4), np.float32).T)
    assert (spec.shape, spec.strides, spec.contiguous) == ((4, 3), (1, 4), False)
    assert spec_of(TensorSpec((1,), spec.dtype)).shape == (1,)
    with pytest.raises(ArgumentError, match="complex64 is not supported"):
        spec_of(np.zeros(2, np.complex64))
    with pytest.raises(ArgumentError, match="got int"):
        spec_of(3)


def test_importing_the_runtime_loads_no_framework():
    code = (
        "import sys, kopt.runtime.executable, kopt.runtime.report, kopt.runtime.cache, kopt.runtime.tolerance;"
        "print([m for m in ('torch', 'jax', 'triton', 'helion') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
