"""The process that loads libtpu and compiles Pallas modules for chips that are not there."""

# ruff: noqa: TID253 - only worker processes import this module

from __future__ import annotations

import time
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from kopt.runtime import hlo
from kopt.runtime.emitted import load_module, needs_wide
from kopt.runtime.exchange import wide
from kopt.runtime.reasons import reason_of
from kopt.specs import TensorSpec
from kopt.targets.chips import TPU_CHIPS


def compile_module(
    source: str, entry: str, specs: tuple[TensorSpec, ...], chip: str, donate: tuple[int, ...], dump: str
) -> dict[str, Any]:
    """Compile for a chip; the report's facts, with ``legal`` and ``reason``, and a list of the kernels' own facts."""
    start = time.perf_counter()
    try:
        compiled = _compile(source, entry, specs, chip, donate)
    except Exception as error:  # whatever stops a module from compiling is this function's result
        return {"legal": False, "reason": reason_of(error, source, entry), "compile_s": _since(start)}
    seconds = _since(start)
    text = compiled.as_text()
    return {
        "legal": True,
        "compile_s": seconds,
        "hlo_ops": hlo.extra_ops(text),
        "hlo_cycles": hlo.extra_cycles(text),
        "hlo_uncounted": hlo.uncounted_ops(text),
        "kernels": [_kernel_facts(call, Path(dump)) for call in hlo.kernel_calls(text)],
        **_memory(compiled),
    }


def _compile(source: str, entry: str, specs: tuple[TensorSpec, ...], chip: str, donate: tuple[int, ...]) -> Any:
    mesh = _mesh(chip)
    everywhere = NamedSharding(mesh, PartitionSpec())
    function = getattr(load_module(source, entry), entry)
    with jax.set_mesh(mesh), wide(needs_wide(source, specs)):
        arguments = [jax.ShapeDtypeStruct(spec.shape, spec.dtype.jax) for spec in specs]
        jitted = jax.jit(function, in_shardings=everywhere, out_shardings=everywhere, donate_argnums=donate)
        return jitted.lower(*arguments).compile()


@cache
def _mesh(chip: str) -> Mesh:
    topology = topologies.get_topology_desc(platform="tpu", topology_name=TPU_CHIPS[chip].topology)
    return Mesh(np.array([topology.devices[0]]), ("x",))


def _memory(compiled: Any) -> dict[str, int | None]:
    stats = compiled.memory_analysis()
    names = {"arg_bytes": "argument", "out_bytes": "output", "temp_bytes": "temp", "alias_bytes": "alias"}
    return {key: getattr(stats, f"{name}_size_in_bytes", None) for key, name in names.items()}


def _kernel_facts(call: hlo.KernelCall, dump: Path) -> dict[str, Any]:
    loops = hlo.loops_of(dump, call.name) or ()
    return {
        "kernel": call.name,
        "vmem_bytes": call.vmem_bytes,
        "bundles": sum(loop.bundles for loop in loops) or None,
        "loops": [asdict(loop) for loop in loops],
    }


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 3)
