"""Every example beside torch, on every target that needs no accelerator."""

import pytest
import torch

import kopt
from examples.check import TARGETS, configured, mismatches, run
from examples.registry import BY_NAME, DTYPES, EXAMPLES

NAMES = list(BY_NAME)
#: Each dtype and each size of a target, a size for each dtype; light rows are in no f16. On Pallas bf16 is below,
#: where the same code runs in strict mode.
SIZE_OF = {"f32": "ragged", "bf16": "tiny", "f16": "ragged"}
FULL = [name for name in NAMES if not BY_NAME[name].light]
ON_CPU = [
    (name, target, dtype, size)
    for name in NAMES
    for target, dtypes in TARGETS.items()
    for dtype, size in SIZE_OF.items()
    if dtype in dtypes
    and not (dtype == "f16" and BY_NAME[name].light)
    and (target, dtype) != ("pallas:interpret", "bf16")
]
FAMILIES = [("pallas:interpret", "pallas:strict", "pallas:tpu7x"), ("triton:interpret", "triton:sm90")]


@pytest.mark.parametrize(("name", "target", "dtype", "size"), ON_CPU)
def test_example_is_right(name, target, dtype, size):
    assert run(BY_NAME[name], size, DTYPES[dtype], target) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_example_is_right_in_strict_mode(name):
    """In one dtype: races are those of schedules, and values of f32 are compared above."""
    assert run(BY_NAME[name], "tiny", DTYPES["bf16"], "pallas:strict") == []


@pytest.mark.parametrize("name", ["softmax", "matmul", "embedding"])
def test_example_takes_strided_arguments(name):
    example = BY_NAME[name]
    args = [_strided(arg) if isinstance(arg, torch.Tensor) else arg for arg in example.make_args("tiny", torch.float32)]
    for target in TARGETS:
        got = configured(example, "tiny").on(target)(*args)
        assert mismatches(example, "tiny", got, example.reference(*args)) == []


def _strided(tensor):
    """The same elements with gaps between them in memory."""
    wide = torch.zeros([*tensor.shape[:-1], 2 * tensor.shape[-1]], dtype=tensor.dtype)
    wide[..., ::2] = tensor
    return wide[..., ::2]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", FULL)
def test_interpreters_run_what_chips_compile(name, family):
    example = BY_NAME[name]
    args = example.make_args("ragged", torch.float32)
    sources = {configured(example, "ragged").lower(*args, target=target).source for target in family}
    assert len(sources) == 1


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret", "reference"])
def test_jax_in_jax_out(target):
    jnp = pytest.importorskip("jax.numpy")
    example = BY_NAME["softmax"]
    (x,) = example.make_args("tiny", torch.float32)
    got = configured(example, "tiny").on(target)(jnp.asarray(x.numpy()))
    assert type(got).__module__.startswith("jax")
    assert mismatches(example, "tiny", torch.from_numpy(got.__array__().copy()), example.reference(x)) == []


def test_every_kernel_of_the_files_is_in_the_table():
    from importlib import import_module

    for file in {example.file for example in EXAMPLES}:
        module = import_module(f"examples.{file}")
        kernels = {name for name, value in vars(module).items() if isinstance(value, kopt.Kernel)}
        assert kernels == {example.path.split(":")[1] for example in EXAMPLES if example.file == file}
