"""pallas:strict finds what plain interpretation hides, and survives kernels that hang."""

import pytest

pytest.importorskip("jax")
torch = pytest.importorskip("torch")

from kopt.errors import CompileError  # noqa: E402

from .support import executable  # noqa: E402

TARGET = "pallas:strict"


@pytest.mark.parametrize("target", [TARGET, "pallas:strict@v5e"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_softmax_against_torch(target, dtype):
    x = torch.randn(70, 130).to(dtype)
    got = executable("softmax_pallas", "softmax", target, x)(x)
    assert got.dtype == dtype
    assert torch.allclose(got.float(), torch.softmax(x.float(), 1), rtol=1e-2, atol=1e-6)


def test_a_correct_accumulator_has_no_race():
    x, y = torch.randn(256, 512), torch.randn(512, 512)
    got = executable("matmul_pallas", "matmul", TARGET, x, y)(x, y)
    assert torch.allclose(got, x @ y, rtol=1e-4, atol=1e-3)


def test_pipelines_and_integers():
    x = torch.arange(64 * 128, dtype=torch.int32).reshape(64, 128)
    assert torch.equal(executable("misc_pallas", "pipelined", TARGET, x)(x), x * 2)


def test_int64_keeps_its_width():
    x = torch.full((8, 128), 2**40)
    assert torch.equal(executable("misc_pallas", "add_one", TARGET, x)(x), x + 1)


def test_bool():
    x = torch.arange(1024).reshape(8, 128) % 3 == 0
    assert torch.equal(executable("misc_pallas", "invert", TARGET, x)(x), ~x)


def test_a_race_is_an_error():
    x = torch.randn(64, 128)
    with pytest.raises(CompileError, match="data race in kernel 'racing'") as caught:
        executable("misc_pallas", "racing", TARGET, x)(x)
    assert "RACE DETECTED" in str(caught.value)
    assert executable("misc_pallas", "racing", TARGET, x, race_cells=0)(x).shape == (8, 128)


def test_memory_that_nothing_wrote_is_nan():
    x = torch.ones(8, 128)
    assert executable("misc_pallas", "stale", TARGET, x)(x).isnan().all()


def test_out_of_bounds_is_an_error():
    x = torch.ones(64, 128)
    with pytest.raises(CompileError, match="kernel 'outside'.*(?i:out.of.bounds)"):
        executable("misc_pallas", "outside", TARGET, x)(x)


def test_a_hanging_kernel_is_stopped_and_the_next_one_runs():
    x = torch.ones(8, 128)
    with pytest.raises(CompileError, match=r"kernel 'hanging' did not end within 4 s"):
        executable("misc_pallas", "hanging", TARGET, x, time_limit=4.0)(x)
    assert torch.equal(executable("misc_pallas", "add_one", TARGET, x)(x), x + 1)
