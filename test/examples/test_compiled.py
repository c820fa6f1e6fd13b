"""Every example, at the sizes of a model, through the compilers of real chips: no such chip is needed."""

import importlib.util

import pytest

from examples.registry import BY_NAME, DTYPES

CHIPS = ["pallas:tpu7x", "pallas:v6e", "pallas:v5e", "triton:sm90", "triton:gfx942"]


@pytest.mark.slow
@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("name", list(BY_NAME))
def test_example_compiles(name, target):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    example = BY_NAME[name]
    args = example.make_args("real", DTYPES["bf16"])
    report = example.kernel.lower(*args, target=target).report()
    assert report["legal"], report["reason"]
