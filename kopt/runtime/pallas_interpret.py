"""``pallas:interpret`` and Pallas on a real TPU: the emitted module under ``jax.jit``, in this process.

The text is never changed. To interpret, the loaded module's name for ``jax.experimental.pallas`` is bound to a copy
of that module whose entry points add ``interpret=``, so nothing outside the emitted module is patched; likewise its
name for the TPU's module, with memories that are all one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import ModuleType
from typing import Any

from kopt.runtime.emitted import load_module
from kopt.runtime.exchange import prepare_jax, wide
from kopt.runtime.reasons import essence, refusal
from kopt.runtime.targets import Target, TpuChip

#: The functions of ``jax.experimental.pallas`` that take ``interpret=``.
_ENTRY_POINTS = ("pallas_call", "kernel", "core_map")


@cache
def abstract_mesh(chip: TpuChip) -> Any:
    """A mesh of one core of a chip that is not there: ``emit_pipeline`` and padded bounds ask for it."""
    from jax.sharding import AbstractDevice, AbstractMesh, AxisType

    device = AbstractDevice(device_kind=chip.device_kind, num_cores=1, platform="tpu")
    return AbstractMesh((1,), ("x",), (AxisType.Auto,), abstract_device=device)


def interpreted_module(source: str, entry: str, choose: Callable[[tuple[Any, ...]], Any]) -> ModuleType:
    """Load an emitted module so that its Pallas calls are interpreted; ``choose(grid)`` gives ``interpret=``."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    module = load_module(source, entry)
    proxies = {id(pl): _interpreting(pl, choose), id(pltpu): _without_pinning(pltpu)}
    for name, value in list(vars(module).items()):
        if id(value) in proxies:
            setattr(module, name, proxies[id(value)])
    return module


def _without_pinning(pltpu: ModuleType) -> ModuleType:
    """The TPU's names, where pinning an array to a memory does nothing: interpreters do not mix memories."""
    proxy = ModuleType(pltpu.__name__)
    vars(proxy).update(vars(pltpu))
    vars(proxy)["with_memory_space_constraint"] = lambda array, space: array
    return proxy


def _interpreting(pl: ModuleType, choose: Callable[[tuple[Any, ...]], Any]) -> ModuleType:
    proxy = ModuleType(pl.__name__)
    vars(proxy).update(vars(pl))
    for name in _ENTRY_POINTS:
        if hasattr(pl, name):
            setattr(proxy, name, _with_interpret(getattr(pl, name), choose))
    return proxy


def _with_interpret(function: Callable[..., Any], choose: Callable[[tuple[Any, ...]], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        grid = getattr(kwargs.get("grid_spec"), "grid", None) or kwargs.get("grid", ())
        return function(*args, interpret=choose(grid if isinstance(grid, tuple) else (grid,)), **kwargs)

    return call


def on_abstract_tpu(function: Callable[..., Any], chip: TpuChip) -> Callable[..., Any]:
    """The function, traced where Pallas sees ``chip``."""

    from jax.sharding import use_abstract_mesh

    def traced(*args: Any) -> Any:
        with use_abstract_mesh(abstract_mesh(chip)):
            return function(*args)

    traced.__name__ = function.__name__
    return traced


@cache
def exact_options() -> dict[str, str] | None:
    """What keeps XLA's CPU compiler to the semantics: its fused library reductions lose NaN in maxima and minima."""
    import jax

    options = {"xla_cpu_experimental_ynn_fusion_type": ""}
    try:
        jax.jit(lambda: 0, compiler_options=options).lower().compile()
    except Exception:  # a JAX that has no such option has no such library
        return None
    return options


def as_list(results: Any) -> list[Any]:
    """An emitted function's return as a list: None → [], a value → [value], a tuple → its items."""
    if results is None:
        return []
    return list(results) if isinstance(results, (tuple, list)) else [results]


class PallasRunner:
    """Runs an emitted Pallas module on JAX arrays: interpreted on the CPU, or compiled on the TPU of this machine."""

    framework = "jax"

    def __init__(self, source: str, entry: str, target: Target, use_wide: bool):
        prepare_jax()
        import jax

        self.devices = ("cpu",) if target.interpreted else ("cpu", "tpu")
        self._wide = use_wide
        self._source, self._entry, self._target = source, entry, target
        self._home = jax.devices("cpu")[0] if target.interpreted and jax.default_backend() != "cpu" else None
        self.function = _function(source, entry, target)
        self._jitted = jax.jit(self.function, compiler_options=exact_options() if target.interpreted else None)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Call the kernel and wait for it, so that a caller may write to the arguments' memory afterwards.

        Raises `CompileError` for what JAX raises.
        """
        try:
            return self._run(arrays)
        except Exception as error:
            raise refusal(error, essence(error), self._source, self._entry, self._target) from error

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        from jax import block_until_ready
        from jax.core import Tracer

        traced = any(isinstance(array, Tracer) for array in arrays)
        call = self.function if traced else self._jitted  # compiler options are for the outermost jit alone
        with wide(self._wide), self._device():
            results = as_list(call(*arrays))
        if not traced:
            block_until_ready(results)
        return results

    def _device(self) -> AbstractContextManager[Any]:
        if self._home is None:
            return nullcontext()
        import jax

        return jax.default_device(self._home)


def _function(source: str, entry: str, target: Target) -> Callable[..., Any]:
    if target.mode == "chip":
        return getattr(load_module(source, entry), entry)
    module = interpreted_module(source, entry, lambda grid: True)
    return on_abstract_tpu(getattr(module, entry), target.tpu)
