"""What a call is known by in the in-memory cache of compiled kernels.

A key holds what an imported kernel depends on: shapes, strides, dtypes and devices of tensors, which tensors share
memory, values of scalars, and for callables their code with the values of their closure cells, defaults and the
globals that they read. What a key cannot hold, a value read from a tensor's elements, is a guard checked per call.
"""

from __future__ import annotations

import dataclasses
import dis
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType, MethodType
from typing import Any

from kopt.runtime.sharing import sharing
from kopt.runtime.users_code import is_users
from kopt.specs import framework_of, spec_of


def torch_state() -> Hashable:
    """What torch is set to that an import goes by: the precision of f32 products, and the dtype of new tensors."""
    import torch

    return torch.get_float32_matmul_precision(), torch.get_default_dtype()


class Identity:
    """An object known by its identity: one that is gone is equal to none, so no other can take its place.

    The key does not keep it alive, where Python allows that: a process group ends when its user ends it.
    """

    def __init__(self, value: Any):
        self._hash = id(value)
        #: Gives the object, or None where it is gone.
        self.value: Callable[[], Any]
        try:
            self.value = weakref.ref(value)
        except TypeError:
            self.value = lambda: value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and (value := self.value()) is not None and other.value() is value

    def __hash__(self) -> int:
        return self._hash


def call_key(function: Callable[..., Any], args: Sequence[Any]) -> Hashable:
    """What a call of a function is known by: a key for it and for each argument, and how tensors share memory."""
    return value_key(function), tuple(value_key(arg) for arg in args), sharing(args)


class CallKeys:
    """The keys of one call's values, as they are and with some left open: what these have in common is computed once.

    ``state`` is what a call depends on besides its function and its values.
    """

    def __init__(self, function: Callable[..., Any], *state: Hashable):
        self._common = state, value_key(function)
        #: Keys by the identities of values, which are kept so that no other ones get these.
        self._known: dict[tuple[int, ...], tuple[list[Any], Hashable]] = {}

    def of(self, values: Mapping[str, Any]) -> Hashable:
        """The key of the values of parameters."""
        args = list(values.values())
        place = tuple(map(id, args))
        if place not in self._known:
            self._known[place] = args, (self._common, tuple(map(value_key, args)), sharing(args))
        return self._known[place][1]


def value_key(value: Any) -> Hashable:
    """What one argument is known by."""
    return _key(value, ())


def read_key(value: Any) -> Hashable:
    """What a value is known by that a function reads as a global or by its closure."""
    return _key(value, (_IN_FUNCTION,))


#: Marks the path of a value inside a function: tensors there become hidden inputs, so they are known by identity.
_IN_FUNCTION = -1


def _key(value: Any, within: tuple[int, ...]) -> Hashable:
    """``within`` holds the identities of the values around this one, to find cycles."""
    if framework := framework_of(value):
        return Identity(value) if _IN_FUNCTION in within else _tensor_key(value, framework)
    if value is None or isinstance(value, (bool, int, str, bytes, complex)):
        return type(value), value
    if isinstance(value, float):
        return float, value.hex()
    if id(value) in within:
        return "cycle", within.index(id(value))
    within = (*within, id(value))
    if isinstance(value, (tuple, list)):
        return type(value), tuple(_key(item, within) for item in value)
    if isinstance(value, dict):
        return type(value), tuple((_key(name, within), _key(item, within)) for name, item in value.items())
    if isinstance(value, FunctionType):
        return _function_key(value, within) if is_users(value) else Identity(value)
    if isinstance(value, MethodType):
        return "method", _key(value.__func__, within), _key(value.__self__, within)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(_key(getattr(value, f.name), within) for f in dataclasses.fields(value))
    return Identity(value)


def _tensor_key(value: Any, framework: str) -> Hashable:
    spec = spec_of(value)
    grad = framework == "torch" and value.requires_grad
    device = str(value.device) if framework == "torch" else framework
    return framework, spec.shape, spec.strides, spec.dtype.spec, device, grad


def _function_key(function: FunctionType, within: tuple[int, ...]) -> Hashable:
    within = (*within, _IN_FUNCTION)
    cells = tuple(_cell_key(cell, within) for cell in function.__closure__ or ())
    defaults = (_key(function.__defaults__, within), _key(function.__kwdefaults__, within))
    space = function.__globals__
    read = sorted(names_read(function.__code__) & space.keys())
    return "function", function.__code__, cells, defaults, tuple((name, _key(space[name], within)) for name in read)


def _cell_key(cell: Any, within: tuple[int, ...]) -> Hashable:
    try:
        return _key(cell.cell_contents, within)
    except ValueError:
        return "empty cell"


#: The instructions that read a global, in functions and in bodies of classes.
_READING = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


@lru_cache(maxsize=4096)
def names_read(code: CodeType) -> frozenset[str]:
    """Every name that code and the functions and lambdas within it may read as a global; attributes are none."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    own = {step.argval for step in dis.get_instructions(code) if step.opname in _READING}
    return frozenset(own).union(*map(names_read, inner))
