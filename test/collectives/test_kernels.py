"""Collectives as kernels give the right sums on virtual devices, without races, and compile for real topologies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kopt
from kopt.dtypes import BY_SPEC
from kopt.lowering import emit
from kopt.runtime.tolerance import allclose

from .programs import Program, programs

LIMIT_S = 400
#: Every device's callbacks want threads of their own: with fewer the devices wait for each other for ever.
INTERPRETED = {"JAX_PLATFORMS": "cpu", "NPROC": "16"}
COMPILED = {"JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}
TOPOLOGIES = {4: "v5e:2x2", 8: "tpu7x:2x2x1"}
#: How many terms an element sums, where they are not one a rank.
TERMS = {"gather_matmul": 70, "gather_matmul_bf16": 70}
#: What is run on eight devices, and compiled for them; the others differ by the number of ranks alone.
ON_EIGHT = ("ring_f32", "shot_bf16", "gather_ring", "scatter_ring", "gather_matmul", "all_to_all")


def write(folder: Path, program: Program, ranks: int, passes: bool = True) -> None:
    """The emitted module and the arguments of a program, the ranks' arrays one after the other."""
    module = kopt.parse(program.ir)
    if passes:
        kopt.run_pipeline(module, f"expand-collectives{{kind={program.kind} ranks={ranks}}},verify-barriers")
    (folder / f"{program.name}.py").write_text(emit(module, program.name, "jax"))
    given = np.concatenate(program.given(ranks))
    np.savez(folder / f"{program.name}.npz", given.view(np.uint16) if program.dtype == "bf16" else given)


def launch(script: str, environment: dict[str, str], *arguments: str) -> str:
    """What a script prints, run in a process of its own, which is ended when the time is up."""
    path = str(Path(__file__).with_name(script))
    command = [sys.executable, path, *arguments]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def check(folder: Path, program: Program, ranks: int) -> None:
    """Every rank's result against what it must be."""
    wanted = program.wanted(program.given(ranks).astype(np.float64))
    with np.load(folder / f"{program.name}_out.npz") as results:
        got = results["arr_0"].reshape(wanted.shape)
    assert allclose(got, wanted, BY_SPEC[program.dtype], TERMS.get(program.name, ranks)), program.name


def run(folder: Path, some: list[Program], ranks: int, passes: bool = True) -> str:
    """Runs programs on so many devices and checks their results; gives the names of those that race."""
    for program in some:
        write(folder, program, ranks, passes)
    devices = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={ranks}"}
    names = [program.name for program in some]
    races = launch("devices.py", {**INTERPRETED, **devices}, str(folder), str(ranks), *names)
    for program in some:
        check(folder, program, ranks)
    return races


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [4, 8])
def test_kernels_are_right(ranks: int, tmp_path: Path) -> None:
    """Strict interpreter, races on, copies done as soon as they may be; memory that nobody wrote is NaN."""
    some = [program for program in programs(ranks) if ranks == 4 or program.name in ON_EIGHT]
    assert run(tmp_path, some, ranks) == ""


@pytest.mark.slow
def test_lax_operations_are_right(tmp_path: Path) -> None:
    """The same programs, where XLA moves the data."""
    some = [program for program in programs(2) if program.kind == "ring"]
    assert run(tmp_path, some, 2, passes=False) == ""


@pytest.mark.slow
@pytest.mark.parametrize("ranks", TOPOLOGIES)
def test_kernels_compile(ranks: int, tmp_path: Path) -> None:
    """libtpu takes all of them, for all devices of a topology."""
    some = [program for program in programs(ranks) if ranks == 4 or program.name in ON_EIGHT]
    for program in some:
        write(tmp_path, program, ranks)
    names = [program.name for program in some]
    assert launch("topology.py", COMPILED, str(tmp_path), TOPOLOGIES[ranks], *names) == ""
