"""``hl.make_async_remote_copy`` and ``hl.remote_barrier`` in Python kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import kopt

from .kernels import pass_on, turn, unguarded, used
from .test_kernels import COMPILED, INTERPRETED, TOPOLOGIES, launch

RANKS = 4
PEERS = torch.zeros(1, 2, dtype=torch.int32)
ROWS, TARGET = torch.zeros(3, 8, 128), torch.zeros(3, 8, 128)
#: What a caller writes around an emitted kernel.
WRAPPER = """
def program({arrays}, *, mesh):
    parts = jax.P("ranks")
    return jax.shard_map({name}, mesh=mesh, in_specs=parts, out_specs=parts, check_vma=False)({arrays})
"""


def _peers() -> np.ndarray:
    """The ranks after and before each."""
    return np.array([[(rank + 1) % RANKS, (rank - 1) % RANKS] for rank in range(RANKS)], np.int32)


def _write(folder: Path, kernel: kopt.Kernel, arguments: list[torch.Tensor], given: list[np.ndarray]) -> None:
    names = ", ".join(f"a{number}" for number in range(len(given)))
    source = kernel.lower(*arguments, target="pallas:tpu7x").source
    (folder / "program.py").write_text(source + WRAPPER.format(arrays=names, name=kernel.fn.__name__))
    np.savez(folder / "program.npz", *given)


def _run(folder: Path) -> list[np.ndarray]:
    devices = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={RANKS}"}
    assert launch("devices.py", {**INTERPRETED, **devices}, str(folder), str(RANKS), "program") == ""
    assert launch("topology.py", COMPILED, str(folder), TOPOLOGIES[RANKS], "program") == ""
    with np.load(folder / "program_out.npz") as results:
        return [results[name] for name in results]


@pytest.mark.slow
def test_rows_travel(tmp_path: Path) -> None:
    """Each rank gets the rows of the one before it; the interpreter finds no race, and libtpu takes the kernel."""
    source = np.random.default_rng(0).standard_normal((RANKS, *ROWS.shape)).astype(np.float32)
    given = [np.concatenate(source), np.zeros((3 * RANKS, 8, 128), np.float32), _peers()]
    _write(tmp_path, pass_on, [ROWS, TARGET, PEERS], given)
    for result in _run(tmp_path):
        np.testing.assert_array_equal(result.reshape(source.shape), np.roll(source, 1, axis=0))


@pytest.mark.slow
def test_an_array_may_be_source_and_target(tmp_path: Path) -> None:
    """What a kernel writes in place comes back, and what follows it sees that."""
    x = np.random.default_rng(1).standard_normal((RANKS, *ROWS.shape)).astype(np.float32)
    _write(tmp_path, turn, [ROWS, PEERS], [np.concatenate(x), _peers()])
    wanted = x.copy()
    wanted[:, 1] = np.roll(x, 1, axis=0)[:, 0]
    doubled, changed = _run(tmp_path)
    np.testing.assert_array_equal(changed.reshape(x.shape), wanted)
    np.testing.assert_array_equal(doubled.reshape(x.shape), 2 * wanted)


def test_what_is_refused() -> None:
    """Kernels that go wrong on some days, and targets that have no other ranks."""
    with pytest.raises(kopt.LoweringError, match="no barrier before"):
        unguarded.lower(ROWS, TARGET, target="pallas:tpu7x")
    with pytest.raises(kopt.LoweringError, match="'src' is copied between ranks here"):
        used.lower(ROWS, TARGET, PEERS, target="pallas:tpu7x")
    with pytest.raises(kopt.LoweringError, match="no Triton form"):
        pass_on.lower(ROWS, TARGET, PEERS, target="triton:sm90")
    for target in ("reference", "pallas:interpret"):
        with pytest.raises(kopt.UnsupportedError, match="for the ranks of 'ranks': it cannot run by itself"):
            pass_on.on(target)(ROWS, TARGET, PEERS)
    with pytest.raises(kopt.UnsupportedError, match="regions of one shape"):
        pass_on.lower(ROWS, torch.zeros(3, 8, 256), PEERS, target="pallas:tpu7x")


def test_orders_that_memory_decides_are_a_warning() -> None:
    """Ranks come from an array: the barrier and the waits are there, but nobody can say of whom."""
    remarks = [str(remark) for remark in pass_on.lower(ROWS, TARGET, PEERS, target="pallas:tpu7x").remarks]
    assert any("warning: the order of 'pass_on' between ranks is not checked" in remark for remark in remarks)
