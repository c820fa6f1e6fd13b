"""A kernel as one primitive of JAX: what ``jit``, ``vmap``, ``scan``, ``shard_map`` and ``jax.export`` see of a call.

The emitted function is traced once for types of arguments, in a thread of its own, where none of the caller's meshes
and transformations are set; lowering puts what was found into the program. So a kernel is traced alike everywhere, and
JAX transforms calls, never a kernel's body, which may pass memory on from one cell to the next.
"""

# ruff: noqa: TID253 - only `kopt.runtime.pallas_interpret` imports this module, for a module that runs

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from kopt.errors import ConfigError, KoptError, Location, UnsupportedError
from kopt.runtime.explicit_axes import of_whole_arrays

kernel_p = Primitive("kopt_kernel")
kernel_p.multiple_results = True


@dataclass(eq=False)
class TracedKernel:
    """An emitted function that traces call.

    ``settings`` are JAX's while it is traced and lowered. ``refuse`` makes the error of what JAX raises; ``only_on``
    the platform that the text is for, None for all, and ``absent`` the error where a program is lowered for another.
    """

    function: Callable[..., Any]
    name: str
    location: Location | None
    settings: Sequence[Callable[[], Any]]
    refuse: Callable[[Exception], KoptError]
    only_on: str | None = None
    absent: ConfigError | None = None
    _jaxprs: dict[Any, ClosedJaxpr] = field(default_factory=dict)

    def __call__(self, *arrays: Any) -> list[Any]:
        """The results, of arrays some of which JAX may be tracing."""
        try:
            return self._of_whole_arrays(*arrays)
        except KoptError as error:
            error.location = error.location or self.location
            raise

    @cached_property
    def _of_whole_arrays(self) -> Callable[..., list[Any]]:
        return of_whole_arrays(partial(kernel_p.bind, kernel=self), self.name)

    @cached_property
    def compiled(self) -> Callable[..., list[Any]]:
        """The kernel by itself, for transformations of calls that nothing else is compiled with."""
        return jax.jit(self)

    def jaxpr(self, avals: Sequence[Any]) -> ClosedJaxpr:
        """What the function computes of arguments of some types."""
        key = tuple((aval.shape, aval.dtype) for aval in avals)
        if (found := self._jaxprs.get(key)) is None:
            # A mesh and the transformations under way belong to threads.
            with ThreadPoolExecutor(1) as fresh:
                found = self._jaxprs[key] = fresh.submit(self._trace, key).result()
        return found

    def _trace(self, key: Any) -> ClosedJaxpr:
        with self.set():
            try:
                return jax.make_jaxpr(self.function)(*[jax.ShapeDtypeStruct(*each) for each in key])
            except KoptError:
                raise
            except Exception as error:
                raise self.refuse(error) from error

    def set(self) -> ExitStack:
        """JAX's settings for it."""
        with ExitStack() as stack:
            for setting in self.settings:
                stack.enter_context(setting())
            return stack.pop_all()


def _types(*avals: Any, kernel: TracedKernel) -> list[Any]:
    """The types of results; in ``shard_map`` they differ between devices where one of the arguments does."""
    results = [ShapedArray(aval.shape, aval.dtype) for aval in kernel.jaxpr(avals).out_avals]
    varying = [aval for aval in avals if aval.manual_axis_type.varying]
    if not varying:
        return results
    mesh = varying[0].sharding.mesh
    axes = frozenset[str]().union(*(aval.manual_axis_type.varying for aval in varying))
    kind = type(varying[0].manual_axis_type)(varying=axes)
    whole = [NamedSharding(mesh, PartitionSpec(*[None] * aval.ndim)) for aval in results]
    return [aval.update(sharding=each).update_manual_axis_type(kind) for aval, each in zip(results, whole, strict=True)]


@kernel_p.def_impl
def _run(*arrays: Any, kernel: TracedKernel) -> list[Any]:
    with jax.disable_jit(False):  # by itself, the primitive is this again
        return kernel.compiled(*arrays)


def _batched(arrays: Sequence[Any], dims: Sequence[Any], *, kernel: TracedKernel) -> tuple[list[Any], list[int]]:
    """A loop over the batch: a call for each of its elements."""
    moved = [a if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(arrays, dims, strict=True)]
    mapped = [a for a, d in zip(moved, dims, strict=True) if d is not None]

    def each(items: list[Any]) -> list[Any]:
        left = iter(items)
        return kernel_p.bind(*[a if d is None else next(left) for a, d in zip(moved, dims, strict=True)], kernel=kernel)

    results = jax.lax.map(each, mapped)
    return results, [0] * len(results)


def _not_differentiated(primals: Any, tangents: Any, *, kernel: TracedKernel) -> Any:
    """Kernels with a backward are called by a ``jax.custom_vjp`` (`kopt.operators.jax_gradients`)."""
    raise UnsupportedError(
        f"kernel '{kernel.name}' has no backward, and JAX asks for a derivative",
        kernel.location,
        notes=[
            f"write it: @{kernel.name}.backward on a kernel of grad, result and the kernel's arguments by name, which "
            "gives the gradients of its arrays; or pass jax.lax.stop_gradient(x) where none is wanted"
        ],
        id="gradient",
    )


def _lowered(context: Any, *values: Any, kernel: TracedKernel) -> Any:
    if kernel.only_on is not None and any(p != kernel.only_on for p in context.module_context.platforms):
        raise kernel.absent or ConfigError(
            f"kernel '{kernel.name}' is compiled for a TPU", kernel.location, id="target-not-here"
        )
    with kernel.set():
        jaxpr = kernel.jaxpr(context.avals_in)
        return mlir.core_call_lowering(context, *values, name=kernel.name, call_jaxpr=jaxpr)


kernel_p.def_abstract_eval(_types)
batching.primitive_batchers[kernel_p] = _batched
ad.primitive_jvps[kernel_p] = _not_differentiated
mlir.register_lowering(kernel_p, _lowered)
