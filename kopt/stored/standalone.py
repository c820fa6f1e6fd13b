"""Calls the kernels of this folder: which one, the arguments say. It needs torch and triton, or jax, and nothing else.

``kernels.json`` has what each was compiled for: its parameters, the specs of its tensors, what it returns.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import operator
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

#: The file beside this one that says what kernels there are.
MANIFEST = "kernels.json"
#: Extents that differ from call to call are no larger.
_MOST = 1 << 30


class Mismatch(Exception):
    """Arguments that a kernel was not compiled for; the message says which is another."""


class SavedKernel:
    """A kernel under one name, compiled for one or more signatures.

    Called with torch tensors (Triton) or JAX arrays (Pallas) as the Python function was, without the parameters that
    were compiled in. Triton kernels change the tensors that they write; of JAX arrays the final values follow the
    results. Raises `TypeError` that lists the signatures.
    """

    #: Whether arrays of any framework and strides are taken, since whoever runs the kernel converts them.
    converts = False

    def __init__(self, folder: Path, name: str):
        self.__name__ = name
        self.folder = folder
        self.manifest = json.loads((folder / MANIFEST).read_text())
        self.records = [record for record in self.manifest["kernels"] if record["entry"] == name]
        self._functions: dict[int, Any] = {}

    def __repr__(self) -> str:
        return f"<kernel {self.__name__} of {self.folder}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        number, values, tensors = self.find(args, kwargs)
        return self.run(number, values, tensors)

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, dict[str, Any], list[Any]]:
        """Which of the signatures a call has, its values by name, and its tensors in order."""
        reasons = []
        for number, record in enumerate(self.records):
            try:
                values = bound(record["signature"], args, kwargs)
                return number, values, self.tensors(record, values)
            except Mismatch as reason:
                reasons.append(f"  {_described(record)}: {reason}")
        raise TypeError("\n".join([f"{self.__name__} was not compiled for these arguments", *reasons]))

    def tensors(self, record: dict[str, Any], values: dict[str, Any]) -> list[Any]:
        """The tensors of a call in the order of the kernel. Raises `Mismatch`."""
        found: list[Any] = [None] * len(record["parameters"])
        for name, value in values.items():
            self._match(record, name, record["arguments"][name], value, found)
        _check_extents(record["parameters"], found)
        for place, path in enumerate(record["paths"]):
            if isinstance(path, dict):
                found[place] = _scalar(_computed(decoded(path["scalar"]), values), path["dtype"], record, found)
        return found

    def _match(self, record: dict[str, Any], name: str, wanted: Any, value: Any, found: list[Any]) -> None:
        content: Any
        kind, content = next(iter(wanted.items())) if isinstance(wanted, dict) else ("", ())
        if kind == "argument":
            self._check(record, name, record["parameters"][content][1], value)
            found[content] = value
        elif kind in ("tuple", "list"):
            if not isinstance(value, (tuple, list)) or len(value) != len(content):
                raise Mismatch(f"'{name}' is a {kind} of {len(content)}")
            for number, item in enumerate(content):
                self._match(record, f"{name}[{number}]", item, value[number], found)
        elif kind == "dict":
            for key, item in content:
                if not isinstance(value, dict) or decoded(key) not in value:
                    raise Mismatch(f"'{name}' has a key {decoded(key)!r}")
                self._match(record, f"{name}[{decoded(key)!r}]", item, value[decoded(key)], found)
        elif kind == "number":
            if type(value).__name__ != content:
                raise Mismatch(f"'{name}' is a number of type {content}, found {_short(value)}")
        elif type(value) is not type(decoded(wanted)) or value != decoded(wanted):
            raise Mismatch(f"'{name}' is {decoded(wanted)!r}, found {_short(value)}")

    def _check(self, record: dict[str, Any], name: str, spec: Any, value: Any) -> None:
        """That an array is as the kernel was compiled for."""
        dtype, shape, strides = spec
        text = _spec(dtype, shape)
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            raise Mismatch(f"'{name}' is {text}, found {_short(value)}")
        if not self.converts and hasattr(value, "stride") != (record["framework"] == "torch"):
            raise Mismatch(f"'{name}' is an array of {record['framework']}, found {_short(value)}")
        own = self.manifest["dtypes"].get(str(value.dtype).removeprefix("torch."), str(value.dtype))
        extents = list(value.shape)
        known = [extent if isinstance(wanted, dict) else wanted for wanted, extent in zip(shape, extents, strict=False)]
        if own != dtype or len(extents) != len(shape) or extents != known:
            raise Mismatch(f"'{name}' is {text}, found {_spec(own, extents)}")
        steps = strides or _row_major(extents)
        if not self.converts and record["framework"] == "torch" and 0 not in extents:
            found = value.stride()
            if any(size > 1 and found[dim] != steps[dim] for dim, size in enumerate(extents)):
                raise Mismatch(f"'{name}' has strides {steps}, found {list(found)}")

    def run(self, number: int, values: dict[str, Any], tensors: list[Any]) -> Any:
        """Calls the emitted function, and gives what the Python function returned."""
        record = self.records[number]
        function, held = self._loaded(number)
        arrays = [*tensors, *(_drawn(tensors) if one is None else one for one in held)]
        outputs = (_of_torch if record["framework"] == "torch" else _of_jax)(function, record, arrays)
        results = [] if outputs is None else list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        arguments, written = [*tensors, *held], record["mutated"] if record["framework"] == "jax" else []
        finals = results[len(results) - len(written) :] if written else []
        for place, final in zip(written, finals, strict=True):
            arguments[place] = final
        value = rebuilt(record["tree"], results, arguments)
        returned = set(_arguments(record["tree"]))
        extra = [arguments[place] for place in written if place not in returned]
        if not extra:
            return value
        first = [] if value is None else list(value) if type(value) is tuple else [value]
        return extra[0] if not first and len(extra) == 1 else (*first, *extra)

    def _loaded(self, number: int) -> tuple[Any, list[Any]]:
        """The emitted function of a signature, and the tensors that it brings; a seed is None."""
        if number not in self._functions:
            record = self.records[number]
            module = _module(self.folder / record["module"])
            if record["framework"] == "jax":
                _prepare(module, record)
            held = [_held(self.folder, one, record["framework"]) for one in record["held"]]
            self._functions[number] = getattr(module, record["function"]), held
        return self._functions[number]


# Calls.


def _check_extents(parameters: list[Any], tensors: list[Any]) -> None:
    """That extents which differ from call to call are what the kernel takes, and as each other where it has one."""
    known: dict[str, tuple[int, str]] = {}
    for (name, (_, shape, _)), tensor in zip(parameters, tensors, strict=True):
        for dim, wanted in enumerate(shape):
            if tensor is None or not isinstance(wanted, dict):
                continue
            extent, place = tensor.shape[dim], f"{name}.size({dim})"
            called, _, multiple, _, least = wanted["extent"]
            if not least <= extent <= _MOST or extent % multiple:
                raise Mismatch(f"{place} is a multiple of {multiple} from {least} to {_MOST}, found {extent}")
            length, first = known.setdefault(called, (extent, place))
            if extent != length:
                raise Mismatch(f"{place} is {extent} and {first} is {length}: they have to be the same")


def _computed(expression: Any, values: Any) -> Any:
    """What is computed of the numbers of a call."""
    if not isinstance(expression, tuple):
        return expression
    name, *operands = expression
    if name == "argument":
        for key in operands[0]:
            values = values[key]
        return values
    function = getattr(operator, name, None) or getattr(math, name)
    return function(*(_computed(operand, values) for operand in operands))


def _scalar(number: Any, dtype: str, record: dict[str, Any], tensors: list[Any]) -> Any:
    """A number as the array of rank 0 that a kernel takes."""
    import numpy as np

    name = {"i": "int", "f": "float"}[dtype[0]] + dtype[1:]
    if record["framework"] == "jax":
        import jax.numpy as jnp

        return jnp.asarray(np.asarray(number, name))
    import torch

    device = next((tensor.device for tensor in tensors if tensor is not None), "cpu")
    return torch.full((), number, dtype=getattr(torch, name), device=device)


def bound(signature: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The values of a call by the names of parameters, defaults included. Raises `Mismatch`."""
    try:
        found = decoded_signature(signature).bind(*args, **kwargs)
    except TypeError as error:
        raise Mismatch(str(error)) from None
    found.apply_defaults()
    return dict(found.arguments)


def decoded_signature(signature: Sequence[Any]) -> inspect.Signature:
    """The parameters of a Python function from their JSON, without annotations."""
    return inspect.Signature([_parameter(*item) for item in signature])


def _parameter(name: str, kind: str, *default: Any) -> inspect.Parameter:
    given = decoded(default[0]) if default else inspect.Parameter.empty
    return inspect.Parameter(name, getattr(inspect.Parameter, kind), default=given)


def decoded(value: Any) -> Any:
    """A plain value from its JSON."""
    return rebuilt(value, (), ())


def rebuilt(tree: Any, results: Any, arguments: Any) -> Any:
    """What a tree of results, arguments and plain values stands for."""
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind in ("tuple", "list"):
        items = [rebuilt(item, results, arguments) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {decoded(key): rebuilt(item, results, arguments) for key, item in content}
    if kind == "dtype":
        return getattr(sys.modules["torch"] if "torch" in sys.modules else __import__("torch"), content)
    return {"result": results, "argument": arguments}[kind][content] if kind != "float" else float.fromhex(content)


def _arguments(tree: Any) -> list[int]:
    """The numbers of the arguments that a tree has."""
    if not isinstance(tree, dict):
        return []
    ((kind, content),) = tree.items()
    if kind == "argument":
        return [content]
    items = content if kind in ("tuple", "list") else [item for _, item in content] if kind == "dict" else []
    return [number for item in items for number in _arguments(item)]


def _described(record: dict[str, Any]) -> str:
    specs = (f"{name}: {_spec(dtype, shape)}" for name, (dtype, shape, _) in record["parameters"])
    return f"({', '.join(specs)}) for {record['target']}"


def _spec(dtype: str, shape: list[Any]) -> str:
    return f"{dtype}[{','.join('?' if isinstance(extent, dict) else str(extent) for extent in shape)}]"


def _short(value: Any) -> str:
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__


def _row_major(shape: list[int]) -> list[int]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


# What is in the folder.


def _module(path: Path) -> ModuleType:
    """An emitted module, imported from its file."""
    name = f"{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _prepare(module: ModuleType, record: dict[str, Any]) -> None:
    """JAX as the module needs it: 64-bit elements where it has any, Pallas' interpreter where it is for that."""
    import jax

    if record["wide"] and not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        raise TypeError(f"{record['entry']} has 64-bit elements: set jax.config.update('jax_enable_x64', True)")
    if record["interprets"]:
        from jax.experimental import pallas

        call = pallas.pallas_call
        proxy = ModuleType(pallas.__name__)
        vars(proxy).update(vars(pallas))
        proxy.pallas_call = lambda *args, **kwargs: call(*args, **{**kwargs, "interpret": True})  # pyright: ignore
        vars(module)["pl"] = proxy


def _of_jax(function: Any, record: dict[str, Any], arrays: list[Any]) -> Any:
    """What an emitted function gives for arrays of JAX."""
    return function(*arrays)


def _of_torch(function: Any, record: dict[str, Any], arrays: list[Any]) -> Any:
    """What an emitted function gives for tensors of torch, which is told what changes.

    Raises `TypeError` where a gradient would be lost.
    """
    import torch

    if torch.is_grad_enabled() and any(array.requires_grad for array in arrays):
        entry = record["entry"]
        raise TypeError(f"an argument of {entry} requires grad, and a saved kernel has no backward: detach it")
    with torch.no_grad(), torch._C._DisableAutocast():
        outputs = function(*arrays)
    for place in record["mutated"]:
        torch.autograd.graph.increment_version(arrays[place])
    return outputs


def _held(folder: Path, one: Any, framework: str) -> Any:
    """A tensor that a kernel brings; None of a seed that each call draws."""
    if isinstance(one, dict):
        return None
    file, dtype, shape = one
    content = (folder / file).read_bytes()
    if framework == "torch":
        import torch

        return torch.frombuffer(bytearray(content), dtype=getattr(torch, dtype)).reshape(shape)
    import jax.numpy as jnp
    import numpy as np

    return jnp.asarray(np.frombuffer(content, jnp.dtype(dtype)).reshape(shape))


def _drawn(tensors: list[Any]) -> Any:
    """The seed of one call, from torch's generator."""
    import torch

    device = tensors[0].device if tensors else "cpu"
    return torch.randint(-(2**31), 2**31, (2,), dtype=torch.int32, device=device)
