"""Runs emitted programs on virtual devices, in the strict interpreter with races on, and writes what came.

devices.py FOLDER RANKS NAME…      FOLDER has NAME.py and NAME.npz; writes NAME_out.npz, prints NAME where it has a race
"""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
from jax._src.pallas.mosaic.interpret import interpret_pallas_call as state
from jax.experimental.pallas import tpu as pltpu

from kopt.runtime.pallas_interpret import exact_options, interpreted_module

# What waits for a copy is only seen to be missing where copies are done when they start.
PARAMS = pltpu.InterpretParams(dma_execution_mode="eager", detect_races=True, uninitialized_memory="nan")


def run(folder: Path, name: str, mesh: jax.sharding.Mesh) -> None:
    """One program: its results into a file, its name on stdout where ranks race."""
    module = interpreted_module((folder / f"{name}.py").read_text(), name, PARAMS)
    function = jax.jit(lambda *arrays: getattr(module, name)(*arrays, mesh=mesh), compiler_options=exact_options())
    with np.load(folder / f"{name}.npz") as given:
        arrays = [given[key].view(ml_dtypes.bfloat16) if given[key].dtype == np.uint16 else given[key] for key in given]
    results = jax.block_until_ready(function(*arrays))
    results = results if isinstance(results, tuple) else (results,)
    np.savez(folder / f"{name}_out.npz", *[np.asarray(result, np.float64) for result in results])
    if state.races is not None and state.races.races_found:
        print(name)
    pltpu.reset_tpu_interpret_mode_state()


def main(folder: str, ranks: str, *names: str) -> None:
    """Runs all programs in turn, in one process."""
    mesh = jax.make_mesh((int(ranks),), ("ranks",), axis_types=(jax.sharding.AxisType.Auto,))
    for name in names:
        run(Path(folder), name, mesh)


if __name__ == "__main__":
    main(*sys.argv[1:])
