"""Host programs of JAX code: what one rank does, called inside ``jax.shard_map``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kopt.errors import ConfigError
from kopt.runtime.emitted import load_module
from kopt.runtime.machine import prepare_jax
from kopt.runtime.pallas_interpret import as_list, interpreted_module
from kopt.targets.target import Target


class MeshProgramRunner:
    """Runs one rank's part of an emitted program where JAX traces it for all devices of a mesh.

    A group of the program is an axis of that mesh. Raises `ConfigError` where the arrays are not being traced, or the
    mesh has no such axis.
    """

    framework = "jax"

    def __init__(self, source: str, entry: str, target: Target, groups: Mapping[str, str], use_wide: bool):
        prepare_jax()
        self.devices = ("cpu",) if target.interpreted else ("cpu", "tpu")
        self._entry, self._groups, self._wide = entry, groups, use_wide
        self.function = _function(source, f"{entry}_of_rank", target)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Call the program for one rank's arrays."""
        import jax

        for group in self._groups:
            if axis_size(group) is None:
                raise ConfigError(
                    f"program '{self._entry}' has the group '{group}', which is no axis of a mesh here",
                    notes=[f'call it inside jax.shard_map, over a mesh with the axis "{group}"'],
                )
        with jax.enable_x64(self._wide):
            return as_list(self.function(*arrays))


def axis_size(name: str) -> int | None:
    """The number of devices along an axis of the mesh that is being traced; None where there is no such axis."""
    import jax

    try:
        return int(jax.lax.axis_size(name))
    except NameError:
        return None


def _function(source: str, entry: str, target: Target) -> Callable[..., Any]:
    if target.mode == "chip":
        return getattr(load_module(source, entry), entry)
    return getattr(interpreted_module(source, entry, _interpreter(target)), entry)


def _interpreter(target: Target) -> Any:
    if target.mode != "strict":
        return True
    from jax.experimental.pallas import tpu as pltpu

    return pltpu.InterpretParams(dma_execution_mode="eager", detect_races=True, uninitialized_memory="nan")
