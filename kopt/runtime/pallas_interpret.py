"""``pallas:interpret`` and Pallas on a real TPU: the emitted module under ``jax.jit``, in this process.

The text is never changed. To interpret, the loaded module's names for ``jax.experimental.pallas`` and the TPU's part of
it are bound to copies of those modules, some of whose functions are others: `kopt.runtime.interpreted_grid` runs the
cells, and memories are all one. Nothing outside of the emitted module is patched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache, cached_property, lru_cache, partial
from types import ModuleType
from typing import Any

from kopt.errors import ConfigError, KoptError, Location
from kopt.runtime.devices import require
from kopt.runtime.emitted import load_module
from kopt.runtime.machine import prepare_jax
from kopt.runtime.reasons import essence, refusal
from kopt.targets.chips import TpuChip
from kopt.targets.target import Target


@cache
def abstract_mesh(chip: TpuChip) -> Any:
    """A mesh of one core of a chip that is not there: ``emit_pipeline`` and padded bounds ask for it."""
    from jax.sharding import AbstractDevice, AbstractMesh, AxisType

    device = AbstractDevice(device_kind=chip.device_kind, num_cores=1, platform="tpu")
    return AbstractMesh((1,), ("x",), (AxisType.Auto,), abstract_device=device)


def interpreted_module(source: str, entry: str, interpret: Any = True) -> ModuleType:
    """Load an emitted module so that its Pallas calls are interpreted.

    ``interpret`` is JAX's, or a function that gives it for a grid; True stands for loops over cells by
    `kopt.runtime.interpreted_grid`.
    """
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    from kopt.runtime.interpreted_grid import each_in_turn, substitutes

    names = substitutes(each_in_turn) if interpret is True else {pl.__name__: _with_interpret(pl, interpret)}
    # Pinning an array to a memory does nothing: interpreters do not mix memories.
    names.setdefault(pltpu.__name__, {})["with_memory_space_constraint"] = lambda array, space: array
    module = load_module(source, entry)
    proxies = {id(real): _proxy(real, names[real.__name__]) for real in (pl, pltpu)}
    for name, value in list(vars(module).items()):
        if id(value) in proxies:
            setattr(module, name, proxies[id(value)])
    return module


def _proxy(module: ModuleType, names: dict[str, Callable[..., Any]]) -> ModuleType:
    """A module's names, some of them others."""
    proxy = ModuleType(module.__name__)
    vars(proxy).update(vars(module))
    vars(proxy).update(names)
    return proxy


def _with_interpret(pl: ModuleType, interpret: Any) -> dict[str, Callable[..., Any]]:
    """``pallas_call`` by one of JAX's interpreters."""

    def call(*args: Any, **kwargs: Any) -> Any:
        grid = getattr(kwargs.get("grid_spec"), "grid", None) or kwargs.get("grid", ())
        chosen = interpret(grid if isinstance(grid, tuple) else (grid,)) if callable(interpret) else interpret
        return pl.pallas_call(*args, interpret=chosen, **kwargs)

    return {"pallas_call": call}


def on_abstract_tpu(function: Callable[..., Any], chip: TpuChip) -> Callable[..., Any]:
    """The function, traced where Pallas sees ``chip``: alone, or as each device of the mesh that the caller has set."""

    from jax.sharding import AbstractMesh, get_abstract_mesh, use_abstract_mesh

    def traced(*args: Any) -> Any:
        mesh, outer = abstract_mesh(chip), get_abstract_mesh()
        if not outer.empty:
            device = mesh.abstract_device
            mesh = AbstractMesh(outer.axis_sizes, outer.axis_names, outer.axis_types, abstract_device=device)
        with use_abstract_mesh(mesh):
            return function(*args)

    traced.__name__ = function.__name__
    return traced


#: What keeps XLA's CPU compiler to the semantics. Its fused library reductions lose NaN in maxima and minima. Its
#: algebraic simplifications are those of real numbers: ``(x + c) - c`` becomes ``x``, ``log(exp(x))`` too. Without
#: these, nothing removes the transposes that the pass ``reshape-mover`` adds whenever it runs: `PILED_TRANSPOSES`.
_EXACT = {"xla_cpu_experimental_ynn_fusion_type": "", "xla_disable_hlo_passes": "algsimp,reshape-mover"}


@cache
def exact_options() -> dict[str, str]:
    """Compiler options with which interpreted kernels round as their operations say; those that this JAX has."""
    if _are_known(_EXACT):
        return _EXACT
    return {name: value for name, value in _EXACT.items() if _are_known({name: value})}


def _are_known(options: dict[str, str]) -> bool:
    import jax

    try:
        jax.jit(lambda: 0, compiler_options=options).lower().compile()
    except Exception:  # a JAX that has no such option
        return False
    return True


def as_list(results: Any) -> list[Any]:
    """An emitted function's return as a list: None → [], a value → [value], a tuple → its items."""
    if results is None:
        return []
    return list(results) if isinstance(results, (tuple, list)) else [results]


@cache
def _is_tracing() -> Callable[[], bool]:
    """Says whether a trace of JAX is under way."""
    from jax.core import eval_context
    from jax.extend.core import get_opaque_trace_state

    with eval_context():
        outermost = get_opaque_trace_state()
    return lambda: get_opaque_trace_state() != outermost


class PallasRunner:
    """Runs an emitted Pallas module on JAX arrays: interpreted on the CPU, or compiled on the TPU of this machine."""

    framework = "jax"
    #: ``jax.jit`` takes NumPy arrays for a fraction of what DLPack costs, and brings them to where it computes.
    taken_as = {"torch": "numpy"}

    def __init__(self, source: str, entry: str, target: Target, use_wide: bool, location: Location | None = None):
        prepare_jax()
        import jax
        from jax.core import eval_context

        self.devices = ("cpu",) if target.interpreted else ("cpu", "tpu")
        self._source, self._entry, self._target, self._location = source, entry, target, location
        away = target.interpreted and jax.default_backend() != "cpu"
        self._home = (partial(jax.default_device, jax.devices("cpu")[0]),) if away else ()
        self._width, self._is_wide = partial(jax.enable_x64, use_wide), use_wide
        self._config, self._eval_context = jax.config, eval_context
        self._is_tracing = _is_tracing()
        self._mesh = jax.sharding.get_abstract_mesh if target.interpreted else None
        self.function, self._jitted = _functions(source, entry, target)
        self._traced = self._make_traced()

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Call the kernel and wait for it, so that a caller may write to the arguments' memory afterwards.

        Raises `CompileError` for what JAX raises.
        """
        from jax.core import Tracer

        if any(isinstance(array, Tracer) for array in arrays):
            return self._call(self._traced, arrays, ())
        require(self._target)
        return as_list(self._call(self._jitted.waited_for, arrays, (*self._settings(), self._eval_context)))

    def _settings(self) -> tuple[Callable[[], Any], ...]:
        """What JAX's settings for a call have that the caller's lack, whose numbers may be of either width."""
        as_set = bool(self._config.jax_enable_x64) == self._is_wide  # pyright: ignore[reportAttributeAccessIssue]
        return self._home if as_set else (self._width, *self._home)

    def launcher(self, arrays: Sequence[Any], waits: bool = False) -> Callable[..., Any]:
        """The kernel as a function of arrays that have elements; JAX may return before it has ended, or ``waits``."""
        jitted = self._jitted

        def launch(*arrays: Any) -> Any:
            function = jitted.waited_for if waits else jitted.started
            settings = self._settings()
            return self._call(function, arrays, (*settings, self._eval_context) if self._is_tracing() else settings)

        return launch

    def _make_traced(self) -> Any:
        """The kernel as traces call it; a chip that is not there serves where programs for it are exported."""
        from kopt.runtime.jax_primitive import TracedKernel

        function, is_chip, absent = self.function, self._target.mode == "chip", None
        if is_chip:
            try:
                require(self._target)
            except ConfigError as error:
                error.location = self._location
                function, absent = on_abstract_tpu(function, self._target.tpu), error
        return TracedKernel(
            function=function,
            name=self._entry,
            location=self._location,
            settings=(self._width, *self._home),
            refuse=lambda error: refusal(error, essence(error), self._source, self._entry, self._target),
            only_on="tpu" if is_chip else None,
            absent=absent,
        )

    def _call(self, function: Callable[..., Any], arrays: Sequence[Any], settings: Sequence[Callable[[], Any]]) -> Any:
        """Calls under JAX's settings; arrays that have elements outside of a trace that is under way.

        Such a trace is not the outermost jit, which compiler options are for.
        """
        try:
            if self._mesh is not None and self._mesh().manual_axes:
                return self._traced(*arrays)
            if not settings:
                return function(*arrays)
            with ExitStack() as stack:
                for setting in settings:
                    stack.enter_context(setting())
                return function(*arrays)
        except KoptError as error:
            error.location = error.location or self._location
            raise
        except Exception as error:
            raise refusal(error, essence(error), self._source, self._entry, self._target) from error


class Jitted:
    """An emitted function as JAX compiles it."""

    def __init__(self, function: Callable[..., Any]):
        import jax

        self._jitted, self._wait = jax.jit(function), jax.block_until_ready

    @property
    def started(self) -> Callable[..., Any]:
        """Called with arrays; JAX may return before it has ended."""
        return self._jitted

    def waited_for(self, *arrays: Any) -> Any:
        """The results when they are there."""
        return self._wait(self.started(*arrays))


class Interpreted(Jitted):
    """An emitted function whose cells are interpreted, which does not go on where waiting for it was interrupted."""

    def __init__(self, function: Callable[..., Any]):
        import jax

        from kopt.runtime.interpreted_grid import Stop, stoppable

        self._jitted, self._wait = jax.jit(stoppable(function), compiler_options=exact_options()), jax.block_until_ready
        self._stops: list[Stop] = []
        self._make = Stop

    @cached_property
    def started(self) -> Callable[..., Any]:
        """Nothing stops these. Made at the first call."""
        return partial(self._jitted, self._make().array)

    def waited_for(self, *arrays: Any) -> Any:
        # Calls of several threads have a stop each; taking one from a list, and putting it there, is atomic.
        try:
            stop = self._stops.pop()
        except IndexError:
            stop = self._make()
        try:
            results = self._wait(self._jitted(stop.array, *arrays))
        except BaseException:
            stop.stop()
            raise
        self._stops.append(stop)
        return results


@lru_cache(maxsize=256)
def _functions(source: str, entry: str, target: Target) -> tuple[Callable[..., Any], Jitted]:
    """An emitted function, and what JAX compiles of it: one for all kernels whose text is the same."""
    from kopt.runtime.explicit_axes import of_whole_arrays

    function = _function(source, entry, target)
    return function, (Interpreted if target.interpreted else Jitted)(of_whole_arrays(function, entry))


def _function(source: str, entry: str, target: Target) -> Callable[..., Any]:
    if target.mode == "chip":
        return getattr(load_module(source, entry), entry)
    module = interpreted_module(source, entry)
    return on_abstract_tpu(getattr(module, entry), target.tpu)
