"""The backward of a kernel as JAX asks for it: a traced call of a kernel that has one is a ``jax.custom_vjp``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kopt.operators.gradients import Gradients
from kopt.operators.operands import leaves, mapped, taken_apart
from kopt.runtime.exchange import wide
from kopt.specs import framework_of, spec_of

if TYPE_CHECKING:
    from kopt.runtime.compiled_kernel import CompiledKernel


def call(kernel: Any, values: Mapping[str, Any], compiled: CompiledKernel) -> Any:
    """What a compiled kernel gives for the values of all parameters, some of which JAX traces, with its backward.

    JAX differentiates what the emitted function computes: its results, then the final values of what it writes. What
    the kernel returns is built of these after.
    """
    import jax

    form, operands = taken_apart({name: mapped(value, _spec) for name, value in values.items()})
    places = [operand.number for operand in form.operands if operand.is_tensor]
    floats = [place for place in places if operands[place].dtype.is_float]
    gradients = Gradients(kernel, form)
    names = [
        *(each.name for each in compiled.executable.params.parameters),
        *("a closure's array" for _ in compiled.executable.hidden),
    ]
    written = [names[number] for number in compiled.form.mutated]

    def filled(arrays: Sequence[Any]) -> list[Any]:
        given = {place: _as_array(array, operands[place]) for place, array in zip(places, arrays, strict=True)}
        return [given.get(number, operand) for number, operand in enumerate(operands)]

    @jax.custom_vjp
    def forward(*arrays: Any) -> Any:
        return compiled.outputs(compiled.form.tensors(form.values(filled(arrays))))

    def keeping(*arrays: Any) -> Any:
        outputs = forward(*arrays)
        gradients.check_finals(written, len(outputs))
        wanted, numbers = gradients.wanted(len(outputs))
        kept = [array if place in wanted else None for place, array in zip(places, arrays, strict=True)]
        return outputs, (kept, {number: outputs[number] for number in numbers})

    def backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
        arrays, results = kept
        context = SimpleNamespace(
            kopt=(filled(arrays), (), list(results)), saved_tensors=list(results.values()), kopt_floats=floats
        )
        found = gradients.backward(context, cotangents, [True] * len(operands))
        return tuple(gradients.like(found[place], form.operands[place].name, operands[place]) for place in places)

    forward.defvjp(keeping, backward)
    arrays = [leaf for value in values.values() for leaf in leaves(value) if _is_array(leaf)]
    outputs = forward(*_varying_alike(arrays))
    return compiled.form.rebuild(list(outputs), [*compiled.form.tensors(dict(values)), *compiled.executable.hidden])


def _is_array(value: Any) -> bool:
    return framework_of(value) in ("jax", "numpy")


def _as_array(value: Any, spec: Any) -> Any:
    """An array of JAX; traces hand on numbers and arrays of NumPy as they are."""
    import jax
    import jax.numpy as jnp

    if value is None or isinstance(value, jax.Array):
        return value
    with wide(spec.dtype.bits == 64):
        return jnp.asarray(value, spec.dtype.jax)


def _spec(value: Any) -> Any:
    return spec_of(value) if _is_array(value) else value


def _varying_alike(arrays: Sequence[Any]) -> list[Any]:
    """In ``shard_map``, arrays that differ between the same devices: gradients of what is shared are then summed."""
    import jax

    axes = [getattr(jax.typeof(array), "manual_axis_type", None) for array in arrays]
    sets = [frozenset() if kind is None else kind.varying for kind in axes]
    every = frozenset[str]().union(*sets)
    missing = [tuple(sorted(every - one)) for one in sets]
    return [
        jax.lax.pcast(array, names, to="varying") if names else array
        for array, names in zip(arrays, missing, strict=True)
    ]
