"""Every example through the compilers of real chips: no such chip is needed."""

import importlib.util

import pytest

from examples.registry import BY_NAME, DTYPES

#: The size to compile at: a model's on the newest chip of each kind, ragged on the others, whose compilers are slower.
SIZES = {
    "pallas:tpu7x": "real",
    "pallas:v6e": "ragged",
    "pallas:v5e": "ragged",
    "triton:sm90": "real",
    "triton:gfx942": "ragged",
}


@pytest.mark.slow
@pytest.mark.parametrize("target", list(SIZES))
@pytest.mark.parametrize("name", list(BY_NAME))
def test_example_compiles(name, target):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    example = BY_NAME[name]
    args = example.make_args(SIZES[target], DTYPES["bf16"])
    report = example.kernel.lower(*args, target=target).report()
    assert report["legal"], report["reason"]
