"""Python values, specs, signatures and the forms of results as JSON, and back; `standalone` reads the plain ones.

Plain values stand for themselves; anything else is a dict of one key, which says what it is.

    (FromResult(0), {"scale": 0.5})     {"tuple": [{"result": 0}, {"dict": [["scale", {"float": "0x1.0p-1"}]]}]}
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from kopt import dtypes
from kopt.open_extents import OpenExtent
from kopt.runtime.compiled_kernel import CallForm
from kopt.runtime.results import Constant, FromArgument, FromResult
from kopt.runtime.run_time_scalars import RunTimeScalar, ScalarArgument
from kopt.runtime.seeds import RandomSeed
from kopt.specs import TensorSpec
from kopt.stored.standalone import decoded, decoded_signature


class NotStored(Exception):
    """A value that JSON does not hold."""


def encoded(value: Any) -> Any:
    """A value as JSON. Raises `NotStored`."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind in (tuple, list):
        return {kind.__name__: [encoded(item) for item in value]}
    if kind is dict:
        return {"dict": [[encoded(key), encoded(item)] for key, item in value.items()]}
    if kind is Constant:
        return encoded(value.value)
    if kind is FromResult or kind is FromArgument:
        return {"result" if kind is FromResult else "argument": value.number}
    if kind is RunTimeScalar:
        return {"number": value.kind}
    if kind.__module__ == "torch" and kind.__name__ == "dtype":
        return {"dtype": str(value).removeprefix("torch.")}
    raise NotStored(f"a value of {kind.__module__}.{kind.__qualname__}")


def decoded_tree(value: Any) -> Any:
    """The form of a result from its JSON, its plain values as `Constant`."""
    if not isinstance(value, dict):
        return Constant(value)
    ((kind, content),) = value.items()
    if kind in ("tuple", "list"):
        items = [decoded_tree(item) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {decoded(key): decoded_tree(item) for key, item in content}
    if kind in ("result", "argument"):
        return (FromResult if kind == "result" else FromArgument)(content)
    return Constant(decoded(value))


def encoded_spec(spec: TensorSpec) -> Any:
    """A spec as JSON; of a seed that calls draw, the device whose generator gives it."""
    if isinstance(spec, RandomSeed):
        return {"seed": spec.device}
    shape = [_encoded_extent(extent) for extent in spec.shape]
    return [spec.dtype.spec, shape, None if spec.strides is None else list(spec.strides)]


def _encoded_extent(extent: int) -> Any:
    """A number, or what is known of one that differs from call to call."""
    if not isinstance(extent, OpenExtent):
        return extent
    return {"extent": [extent.name, extent.number, extent.multiple, extent.now, extent.least]}


def decoded_spec(value: Any) -> TensorSpec:
    """The inverse of `encoded_spec`."""
    if isinstance(value, dict):
        return RandomSeed(device=value["seed"])
    dtype, shape, strides = value
    extents = [OpenExtent(*one["extent"]) if isinstance(one, dict) else one for one in shape]
    return TensorSpec(tuple(extents), dtypes.BY_SPEC[dtype], None if strides is None else tuple(strides))


def encoded_path(path: Any) -> Any:
    """Where a tensor is in the values of a call, as JSON; of one that is computed of numbers, how."""
    if isinstance(path, ScalarArgument):
        return {"scalar": encoded(path.expression), "dtype": path.dtype}
    return [encoded(key) for key in path]


def decoded_path(value: Any) -> Any:
    """The inverse of `encoded_path`."""
    if isinstance(value, dict):
        return ScalarArgument(decoded(value["scalar"]), value["dtype"])
    return tuple(decoded(key) for key in value)


def is_data(value: Any) -> bool:
    """Whether JSON holds a value: functions, process groups and objects of other classes it does not."""
    try:
        encoded(value)
    except NotStored:
        return False
    return True


def portable(form: CallForm) -> CallForm:
    """The form of calls without what is of this process alone: functions, annotations, values that were read."""
    signature = decoded_signature(encoded_signature(form.signature))
    return replace(form, signature=signature, reads=())


def encoded_signature(signature: inspect.Signature) -> Any:
    """The parameters of a Python function: their names, kinds, and defaults where JSON holds these."""
    return [[p.name, p.kind.name, *_default(p)] for p in signature.parameters.values()]


def _default(parameter: inspect.Parameter) -> list[Any]:
    try:
        return [] if parameter.default is inspect.Parameter.empty else [encoded(parameter.default)]
    except NotStored:
        return []
