"""Compiles emitted programs for all devices of a topology that is not there, and writes why some do not compile.

topology.py FOLDER TOPOLOGY NAME…      FOLDER has NAME.py and NAME.npz; prints NAME and a reason for each that fails
"""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from kopt.runtime.emitted import load_module


def compile_for(mesh: Mesh, folder: Path, name: str) -> None:
    """Compiles one program; raises what the compiler raises."""
    module = load_module((folder / f"{name}.py").read_text(), name)
    sharding = NamedSharding(mesh, P("ranks"))
    with np.load(folder / f"{name}.npz") as given:
        types = [(given[key].shape, given[key].dtype) for key in given]
    shapes = [
        jax.ShapeDtypeStruct(shape, ml_dtypes.bfloat16 if dtype == np.uint16 else dtype, sharding=sharding)
        for shape, dtype in types
    ]
    with jax.set_mesh(mesh):
        jax.jit(lambda *arrays: getattr(module, name)(*arrays, mesh=mesh)).lower(*shapes).compile()


def main(folder: str, topology: str, *names: str) -> None:
    """Compiles all programs in turn, in one process."""
    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices
    mesh = Mesh(np.array(devices), ("ranks",))
    for name in names:
        try:
            compile_for(mesh, Path(folder), name)
        except Exception as error:  # whatever stops a program from compiling is what this is asked for
            print(name, str(error).splitlines()[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
