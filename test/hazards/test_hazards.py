"""Hazards of the compilers below: a probe each, of what kopt does about it or of whether it is still there."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.explain.compiled import compiled
from kopt.runtime import strict_ends
from kopt.runtime.pallas_interpret import exact_options
from kopt.targets.compiler_hazards import HAZARDS, JUMP_THREADING, installed
from test.special_values.values import keeps_signs_of_zeros

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = sorted((ROOT / "test" / "golden").glob("real/*-v6e.py"))
#: Where each hazard is probed.
PROBES = {
    "unread-operand": "test/hazards/test_hazards.py::test_calls_are_given_what_their_kernels_use",
    "bf16-codes": "test/hazards/test_hazards.py::test_bf16_in_the_interpreter",
    "jump-threading": "test/hazards/test_hazards.py::test_llvm_is_told_no_chip",
    "signs-of-zeros": "test/hazards/test_hazards.py::test_signs_of_zeros",
    "folded-division": "test/pallas_values/test_division.py::test_constants_by_zero",
    "unordered-threads": "test/hazards/test_hazards.py::test_loops_load_nothing_ahead_of_what_they_store",
    "hidden-copies": "test/hazards/test_hazards.py::test_what_a_kernel_leaves_behind",
    "piled-transposes": "test/hazards/test_hazards.py::test_transposes_of_interpreted_kernels",
    "angles-of-subnormals": "test/hazards/test_hazards.py::test_angles_of_subnormal_numbers",
}


def test_each_hazard_has_a_probe() -> None:
    assert sorted(PROBES) == sorted(hazard.name for hazard in HAZARDS)
    for probe in PROBES.values():
        file, _, name = probe.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text()


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.name)
def test_a_remark_names_the_version(hazard) -> None:
    assert hazard.remark.startswith(f"{hazard.package} {installed(hazard.package)}: ") and hazard.what in hazard.remark
    assert hazard.versions in hazard.remark and hazard.workaround


def unused(x, y):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] * 2
    return out


def dead(x, y):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        unread = y[tile, :]  # noqa: F841
        out[tile, :] = x[tile, :] * 2
    return out


def never(x, y):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        acc = x[tile, :]
        for column in hl.tile(0, 0, block_size=8):
            acc = acc + y[tile, column].sum(-1)[:, None]
        out[tile, :] = acc
    return out


def unread(source: str) -> Iterator[str]:
    """The operands of calls that their kernels do not use, of an emitted module."""
    tree = ast.parse(source)
    kernels = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Call)):
            continue
        made = call.func
        if not (isinstance(made.func, ast.Attribute) and made.func.attr == "pallas_call"):
            continue
        aliases = [k.value for k in made.keywords if k.arg == "input_output_aliases"]
        aliased = {key.value for each in aliases if isinstance(each, ast.Dict) for key in each.keys}  # type: ignore
        (name,) = [arg.id for arg in made.args if isinstance(arg, ast.Name)]
        kernel = kernels[name]
        used = {node.id for node in ast.walk(kernel) if isinstance(node, ast.Name)}
        prefetch = any(k.arg == "grid_spec" for k in made.keywords)
        for number, arg in enumerate(kernel.args.args[: len(call.args)]):
            if arg.arg not in used and number not in aliased and not prefetch:
                yield f"{name}: {arg.arg}"


@pytest.mark.parametrize("kernel", [unused, dead, never])
def test_calls_are_given_what_their_kernels_use(kernel) -> None:
    x = torch.ones(64, 128)
    source = kopt.kernel(kernel).lower(x, x + 1, target="pallas:v6e").source
    assert source.count("pl.pallas_call(") == 1 and "y_ref" not in source and ")(x)" in source
    assert list(unread(source)) == []


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_emitted_modules_give_nothing_unread(file: Path) -> None:
    assert list(unread(file.read_text())) == []


def test_an_unread_operand_is_found() -> None:
    source = (ROOT / "test" / "golden" / "real" / "softmax-v6e.py").read_text()
    wrong = source.replace("(x_ref, out_ref)", "(x_ref, more_ref, out_ref)").replace(")(x)", ")(x, x)")
    assert wrong != source and len(list(unread(wrong))) == 1


def sums(x, y):
    out, total = torch.empty([x.size(0), y.size(1)], dtype=x.dtype), torch.empty([x.size(0)], dtype=x.dtype)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.matmul(x[tile, :], y[:, :])
        total[tile] = torch.where(x[tile, :] > 1, x[tile, :], -x[tile, :]).amax(-1) + x[tile, :].sum(-1)
    return out, total


def test_bf16_in_the_interpreter() -> None:
    x, y = (torch.randint(-4, 5, (16, 16)).to(torch.bfloat16) / 4 for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out, total = kopt.kernel(sums, target="triton:interpret")(x, y)
    assert torch.equal(out, x @ y)
    wide = x.float()
    top, added = torch.where(wide > 1, wide, -wide).amax(-1), wide.sum(-1)
    assert torch.equal(total, (top.bfloat16().float() + added.bfloat16().float()).bfloat16())


def negative_zeros(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = torch.where(x[tile] > 0, x[tile], -0.0)
    return out


def powers(state, weights):
    for rows in hl.tile(state.size(0)):
        for step in hl.tile(weights.size(0), block_size=1):
            state[rows, :] = hl.dot(state[rows, :], weights[step.id, :, :]).to(state.dtype)
    return state


def test_loops_load_nothing_ahead_of_what_they_store() -> None:
    low = kopt.kernel(powers).lower("bf16[256,64]", "bf16[32,64,64]", target="triton:sm80")
    wrong = low.source.replace("tl.debug_barrier()", "pass")
    assert low.source.count("tl.debug_barrier()") == 2, "one before the load, and one before the store"
    ahead = [str(compiled(text, low.function, low.signature.specs, low.target)) for text in (low.source, wrong)]
    assert ["LDGSTS" in text for text in ahead] == [False, True]


def test_signs_of_zeros() -> None:
    found = kopt.kernel(negative_zeros, target="triton:interpret")(torch.zeros(8))
    assert found.signbit().all() == keeps_signs_of_zeros()


def test_llvm_is_told_no_chip() -> None:
    """A version that tells it is one without the hazard: its row then says so."""
    compiler = pytest.importorskip("triton.backends.nvidia.compiler")
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(compiler))) if isinstance(node, ast.Call)]
    optimising = [ast.unparse(call) for call in calls if ast.unparse(call.func) == "llvm.optimize_module"]
    assert optimising and not any("triple" in call or "proc" in call for call in optimising), JUMP_THREADING.remark


def semaphore(tasks: int, count: int) -> SimpleNamespace:
    return SimpleNamespace(tasks=[[None] * tasks, []], count_by_core=np.array([0, count]))


@pytest.mark.parametrize(
    ("semaphores", "said"),
    [
        ([], []),
        ([semaphore(0, 0), semaphore(0, 0)], []),
        ([semaphore(2, 0), semaphore(1, 0)], ["3 copies were started that nothing waits for"]),
        ([semaphore(0, 4), semaphore(0, 0)], ["1 semaphores are not back at zero"]),
    ],
)
def test_what_a_kernel_leaves_behind(semaphores, said) -> None:
    memory = SimpleNamespace(sem=dict(enumerate(semaphores)), fixed_id_sem={})
    interpreter = SimpleNamespace(_validate=lambda token, device: None, _get_shared_memory=lambda: memory)
    strict_ends.install(interpreter)
    assert interpreter._validate("token", 0) == "token"
    assert strict_ends.left_behind() == said and strict_ends.left_behind() == []


def test_transposes_of_interpreted_kernels() -> None:
    """Each run of the pass adds transposes of its own; interpreted kernels keep those that they have."""
    jax = pytest.importorskip("jax")

    def transposes(options) -> int:
        lowered = jax.jit(lambda x: (x.T * 2).T).lower(jax.ShapeDtypeStruct((128, 64), "float32"))
        return lowered.compile(compiler_options=options).as_text().count("transpose(")

    assert transposes(exact_options()) <= 2
    assert transposes({"xla_disable_hlo_passes": "algsimp"}) > 100, "this XLA has no fault: reshape-mover may run again"


def test_angles_of_subnormal_numbers() -> None:
    jax = pytest.importorskip("jax")
    small = np.float32(1e-45)
    angle = jax.jit(jax.numpy.arctan2)(small, small)
    assert np.isnan(angle), "this XLA has no fault: the judge of random kernels may compare these angles"
