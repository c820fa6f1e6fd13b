"""The generator draws from all of the frontend's tables, and the judge finds what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from kopt import language
from kopt.frontend import registry
from kopt.frontend.registration import register_all
from test.property import language_calls
from test.property.composed import COMPOSED
from test.property.judge import judge, module_of
from test.property.operations import WITHOUT_CALLS, calls, tables

KERNEL = """
import torch
import kopt.language as hl


def inputs():
    return [torch.linspace(-2, 2, 15).reshape(5, 3)]


def kernel(x):
    out = torch.empty([5], dtype=torch.float32)
    for i in hl.tile(5, block_size=2):
        total = hl.zeros([i])
        for j in hl.tile(3, block_size=2):
            total = total + torch.exp(x[i, j]).sum(1)
        out[i] = total
    return (out,)
"""
#: A row's value that is no sum.
ONCE = KERNEL.replace("total + torch.exp(x[i, j]).sum(1)", "{}").replace("range(3", "range(1")


def test_every_name_of_the_tables_is_drawn() -> None:
    """A new entry whose arguments no pattern fits needs one."""
    silent = [name for name in tables() if name not in WITHOUT_CALLS and not calls()[name]]
    assert not silent, f"no pattern of test/property/operations.py fits {silent}"
    assert not set(WITHOUT_CALLS) - set(tables())


def test_every_function_of_torch_that_is_registered_has_a_family() -> None:
    """What kernels may call by torch's names, and what tables the generator draws from."""
    register_all()
    assert {*registry.OPERATIONS, *registry.CREATION} == {*tables()}


def test_every_function_of_the_language_is_drawn() -> None:
    """Or has a reason why not."""
    drawn = {*language_calls.CALLS, *language_calls.STATEMENTS}
    assert not drawn & {*language_calls.WITHOUT}
    assert {*language.__all__} == drawn | {*language_calls.WITHOUT}
    for name, module in language_calls.STATEMENTS.items():
        assert f"hl.{name}" in (Path(__file__).parent / f"{module}.py").read_text()


def test_the_judge_runs_kernels_block_by_block(tmp_path) -> None:
    """What a kernel of tiles means, in torch alone."""
    module = module_of(KERNEL, tmp_path)
    wanted, *_ = judge(module).wanted
    torch.testing.assert_close(wanted, module.inputs()[0].exp().sum(1))


def test_the_judge_finds_small_errors(tmp_path) -> None:
    """A result off by a few hundred ulps is wrong, one off by one is not."""
    verdict = judge(module_of(KERNEL, tmp_path))
    wanted, *arguments = verdict.wanted
    assert not verdict.problems([wanted * (1 + 2**-23), *arguments])
    assert verdict.problems([wanted * (1 + 2**-14), *arguments])
    assert verdict.problems([wanted.bfloat16(), *arguments])
    assert verdict.problems([wanted, *(argument + 1 for argument in arguments)])


@pytest.mark.parametrize("text", ["F.gelu(x[i, 0] - 2.5)", "F.gelu(x[i, 0] - 2, approximate='tanh')"])
def test_the_judge_knows_what_a_difference_inside_of_a_function_magnifies(text: str, tmp_path) -> None:
    """Computed in f64 it is right; what is off by much more than an ulp of the larger term is not."""
    once = ONCE.replace("import torch", "import torch\nimport torch.nn.functional as F", 1)
    verdict = judge(module_of(once.replace("{}", f"1 / {text}"), tmp_path))
    x = verdict.wanted[1]
    exact = (1 / eval(text, {"F": torch.nn.functional, "x": x.double(), "i": slice(None)})).float()
    assert float((verdict.wanted[0] / exact - 1).abs().max()) > 2**-16
    assert not verdict.problems([exact, x])
    assert verdict.problems([exact * 1.1, x])


@pytest.mark.parametrize("name", sorted(COMPOSED))
def test_functions_are_composed_as_torch_computes_them(name: str) -> None:
    """But for roundings, in f64: their formulas describe torch, and no other function."""
    numbers = torch.Generator().manual_seed(0)
    count = {"lerp": 3, "addcmul": 3, "addcdiv": 3, "logaddexp": 2}.get(name, 1)
    operands = [torch.rand(500, generator=numbers).double() + 0.01 for _ in range(count)]
    torches: Any = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    formula = COMPOSED[name](lambda step: step, *operands)
    torch.testing.assert_close(formula, torches(*operands), rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    [
        "((x[i, j] * 1e30).to(torch.int32)).float()",
        "torch.sum(x[i, j] * 1e30, 1, keepdim=True, dtype=torch.int32).float()",
        "((x[i, j] * 0 - 2**31).int() // -1).float()",
        "((x[i, j] < 9).int() << 40).float()",
        "torch.copysign(x[i, j], (x[i, j] - x[i, j]) / 0.0)",
    ],
)
def test_no_number_is_right_where_torch_defines_none(text: str, tmp_path) -> None:
    """Each run of torch with noise gives another."""
    verdict = judge(module_of(KERNEL.replace("torch.exp(x[i, j])", text), tmp_path))
    wanted, x = verdict.wanted
    assert not verdict.problems([wanted + 5, x])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bool])
def test_what_nothing_writes_is_no_result(dtype: torch.dtype, tmp_path) -> None:
    """Whatever a target leaves there is right; so no kernel is shrunk to one without stores."""
    text = ONCE.replace("out[i] =", "some[i] =").replace("    out =", "    some = torch.empty([5])\n    out =")
    verdict = judge(
        module_of(text.replace("{}", "x[i, 0]").replace("[5], dtype=torch.float32", f"[5], dtype={dtype}"), tmp_path)
    )
    wanted, x = verdict.wanted
    assert not verdict.problems([torch.zeros_like(wanted), x])


def test_signs_of_zeros_are_judged(tmp_path) -> None:
    """But for those of the larger of two zeros, and of sums, which may start from one."""
    texts = {
        "x[i, 0] * -0.0": True,
        "torch.maximum(x[i, 0] * -0.0, x[i, 0] * 0.0)": False,
        "hl.reduce(lambda a, b: a + b, x[i, :] * -0.0, 1)": False,
    }
    for text, defined in texts.items():
        verdict = judge(module_of(ONCE.replace("{}", text), tmp_path))
        wanted, x = verdict.wanted
        assert bool(verdict.problems([-wanted, x])) == defined
        assert not verdict.problems([-wanted, x], signs=False)
