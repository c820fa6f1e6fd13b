"""The backward of a kernel as JAX asks for it: a traced call of a kernel that has one is a ``jax.custom_vjp``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kopt.operators.gradients import Gradients
from kopt.operators.operands import leaves, mapped, taken_apart
from kopt.specs import framework_of, spec_of


def call(kernel: Any, values: Mapping[str, Any], run: Callable[[dict[str, Any]], Any]) -> Any:
    """What ``run`` gives for the values of all parameters, some of which JAX traces, with the kernel's backward."""
    import jax

    form, operands = taken_apart({name: mapped(value, _spec) for name, value in values.items()})
    places = [operand.number for operand in form.operands if operand.is_tensor]
    floats = [place for place in places if operands[place].dtype.is_float]
    gradients = Gradients(kernel, form)

    def filled(arrays: Sequence[Any]) -> list[Any]:
        given = dict(zip(places, arrays, strict=True))
        return [given.get(number, operand) for number, operand in enumerate(operands)]

    @jax.custom_vjp
    def forward(*arrays: Any) -> Any:
        return run(form.values(filled(arrays)))

    def keeping(*arrays: Any) -> Any:
        result = forward(*arrays)
        results = jax.tree.leaves(result)
        wanted, numbers = gradients.wanted(len(results))
        kept = [array if place in wanted else None for place, array in zip(places, arrays, strict=True)]
        return result, (kept, {number: results[number] for number in numbers})

    def backward(kept: Any, cotangent: Any) -> tuple[Any, ...]:
        arrays, results = kept
        context = SimpleNamespace(
            kopt=(filled(arrays), (), list(results)), saved_tensors=list(results.values()), kopt_floats=floats
        )
        found = gradients.backward(context, jax.tree.leaves(cotangent), [True] * len(operands))
        return tuple(found[place] for place in places)

    forward.defvjp(keeping, backward)
    arrays = [leaf for value in values.values() for leaf in leaves(value) if _is_array(leaf)]
    return forward(*_varying_alike(arrays))


def _is_array(value: Any) -> bool:
    return framework_of(value) in ("jax", "numpy")


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
