"""What rewritten kernels call: Python's meaning on host values, IR on device values."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from functools import partial
from inspect import getattr_static
from types import FunctionType, MethodType
from typing import Any

import torch

from kopt.frontend import source
from kopt.frontend.block_size import BlockSize, plain, valid, varies
from kopt.frontend.branches import DeviceBranch, HostBranch
from kopt.frontend.loops.statement import make_loop
from kopt.frontend.loops.while_loops import WhileLoop
from kopt.frontend.ops import maker, torch_operation
from kopt.frontend.stacks import StackTensor
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, DeviceValue, Index, TileRange, describe
from kopt.kernels import kernel
from kopt.runtime.users_code import is_users

loop = make_loop
while_loop = WhileLoop
slice = builtins.slice  # the name that rewritten code uses
_HOOKS = sys.modules[__name__]


def locals() -> dict[str, Any]:
    """The names of the calling frame, as they are now."""
    return dict(sys._getframe(1).f_locals)


def _has_device(value: Any) -> bool:
    if isinstance(value, DeviceValue):
        return True
    if value.__class__ in (tuple, list):
        return any(_has_device(item) for item in value)
    return False


# conditions


def branch(test: Any, assigned: tuple[str, ...], merged: tuple[str, ...]) -> HostBranch | DeviceBranch:
    """The ``if`` statement."""
    if isinstance(test, DeviceValue):
        return DeviceBranch(test, assigned, merged)
    return HostBranch(truth(test))


def truth(test: Any, leaving: bool = False) -> bool:
    """A condition that must be known now: of an ``if`` of the host, or one whose arms leave (``leaving``)."""
    if leaving and isinstance(test, DeviceValue):
        unsupported(
            "return, break or continue under a device condition is not supported here",
            "assign a value in both arms, or use torch.where",
        )
    return bool(test)


def check(test: Any) -> bool:
    """``assert``: conditions of the device are not checked."""
    return True if isinstance(test, DeviceValue) else bool(test)


def returned(value: Any) -> Any:
    """``return``, of the kernel or of a function that it calls."""
    current().returned = source.place_of(sys._getframe(1))
    return value


def negation(value: Any) -> Any:
    """``not``."""
    return _registry()["logical_not"](value) if isinstance(value, DeviceValue) else not value


def all_of(first: Any, *rest: Callable[[], Any]) -> Any:
    """``and``."""
    value = first
    for thunk in rest:
        if isinstance(value, DeviceValue):
            value = _registry()["logical_and"](value, thunk())
        elif not value:
            return value
        else:
            value = thunk()
    return value


def any_of(first: Any, *rest: Callable[[], Any]) -> Any:
    """``or``."""
    value = first
    for thunk in rest:
        if isinstance(value, DeviceValue):
            value = _registry()["logical_or"](value, thunk())
        elif value:
            return value
        else:
            value = thunk()
    return value


def choose(test: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """``a if test else b``: on a device condition both, as one value."""
    if not isinstance(test, DeviceValue):
        return then() if test else otherwise()
    made = DeviceBranch(test, ("value",), ("value",))
    made.enter({})
    first = then()
    made.switch({"value": first})
    return made.merge({"value": otherwise()})[0]


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
#: What Python repeats, formats or indexes by the number that a size is.
_CONTAINERS = (list, tuple, str, bytes, dict, range)
_BINARY = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def binary(kind: str, left: Any, right: Any) -> Any:
    """``left op right``. Others than integers ask a block's size for its number without the size's notice."""
    function = _PLAIN.get(kind) or _BINARY[kind]
    if isinstance(right, BlockSize) and type(left) is float:
        return function(left, plain(valid(right))) if kind in _PLAIN else _BINARY[_MIRRORED[kind]](right, left)
    if isinstance(left, _CONTAINERS) and kind in _PLAIN:
        return function(left, right if isinstance(right, _CONTAINERS) and kind == "add" else plain(right))
    return function(plain(left) if isinstance(left, BlockSize) and isinstance(right, _CONTAINERS) else left, right)


def chain(kinds: tuple[str, ...], first: Any, *rest: Callable[[], Any]) -> Any:
    """``a < b < c``."""
    result, left = None, first
    for kind, thunk in zip(kinds, rest, strict=True):
        right = thunk()
        value = binary(kind, left, right)
        result = value if result is None else all_of(result, lambda value=value: value)
        if not isinstance(result, DeviceValue) and not result:
            return result
        left = right
    return result


# names


def named(value: Any, name: str) -> Any:
    """Gives a device value the name of its variable, for readable IR."""
    if isinstance(value, DeviceTensor | Index | TileRange):
        ssa = value.ssa
        if ssa.name_hint is None:
            ssa.name_hint = name
    elif isinstance(value, torch.Tensor):
        array = getattr(value, "_kopt", None)
        if array is not None and array.ssa.name_hint is None:
            array.ssa.name_hint = name
    return value


def named_all(value: Any, names: tuple[str, ...]) -> Any:
    """The same for unpacking."""
    if isinstance(value, tuple | list) and len(value) == len(names):
        for item, name in zip(value, names, strict=True):
            if name:
                named(item, name)
    return value


# elements


def getitem(container: Any, index: Any) -> Any:
    """``container[index]``."""
    if isinstance(container, torch.Tensor):
        tracer = current()
        if tracer.on_device:
            from kopt.frontend.indexing import load

            return load(tracer.host.meta(container), index)
        if _has_device(index):
            unsupported("tiles index tensors inside device loops only")
        return container[index]
    if isinstance(container, StackTensor):
        return container.load(index)
    if isinstance(index, DeviceValue) and not isinstance(container, DeviceValue):
        unsupported(
            f"a device value cannot index {describe(container)}",
            "use hl.static_range for indices of Python containers",
        )
    holder: Any = container
    return holder[plain(index) if isinstance(container, _CONTAINERS) else index]


def setitem(value: Any, container: Any, index: Any) -> None:
    """``container[index] = value``."""
    if isinstance(container, torch.Tensor) and current().on_device:
        from kopt.frontend.indexing import store

        store(current().host.meta(container), index, value)
    elif isinstance(container, StackTensor):
        container.store(index, value)
    elif isinstance(container, torch.Tensor) and _has_device((value, index)):
        unsupported("device values are stored inside device loops only")
    else:
        container[plain(index) if isinstance(container, _CONTAINERS) else index] = value


_PLAIN = {name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")}
_PLAIN |= {name: getattr(operator, name) for name in ("and_", "or_", "xor", "lshift", "rshift", "matmul")}
_IN_PLACE = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "truediv": operator.itruediv,
    "floordiv": operator.ifloordiv,
    "mod": operator.imod,
    "pow": operator.ipow,
    "and_": operator.iand,
    "or_": operator.ior,
    "xor": operator.ixor,
    "lshift": operator.ilshift,
    "rshift": operator.irshift,
    "matmul": operator.imatmul,
}


def inplace(kind: str, target: Any, value: Any) -> Any:
    """``target op= value``: on device values it means ``target = target op value``."""
    if isinstance(target, torch.Tensor) and current().on_device:
        unsupported("a host tensor cannot be changed whole in a device loop", "index it: out[tile] += …")
    if isinstance(target, DeviceValue) or isinstance(value, DeviceValue) or isinstance(value, BlockSize):
        return binary(kind, target, value)
    return _IN_PLACE[kind](target, value)


def inplace_item(kind: str, container: Any, index: Any, value: Any) -> None:
    """``container[index] op= value``."""
    setitem(inplace(kind, getitem(container, index), value), container, index)


# calls


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``."""
    try:
        special = _special().get(function)
    except TypeError:
        special = None
    if special is not None:
        return special(*args, **kwargs)
    if isinstance(function, FunctionType):
        return _call_function(function, args, kwargs)
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
        if is_users(function.__func__):
            return _call_function(function.__func__, (function.__self__, *args), kwargs)
        return function(*args, **kwargs)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.Tensor):
        return _call_method(function, owner, args, kwargs)
    if isinstance(function, partial):
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    method = None if isinstance(function, type) else getattr_static(type(function), "__call__", None)
    if isinstance(method, FunctionType) and is_users(method):
        return _call_function(method, (function, *args), kwargs)
    return _call_other(function, args, kwargs)


def _call_other(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch's functions, and everything that is not ours to look into."""
    tracer = current()
    try:
        made = maker(function) if tracer.on_device else None
        known = made or (torch_operation(function) if _has_device(args) or _has_device(list(kwargs.values())) else None)
    except TypeError:
        known = None
    if known is not None:
        return known(*args, **kwargs)
    inner = getattr(function, "fn", None)
    if isinstance(inner, FunctionType):
        config = kernel(function).config
        with tracer.configured(config.block_sizes, config.tunables):
            return call(inner, *args, **kwargs)
    if function in (torch.tensor, torch.as_tensor):
        return _literal(function, args, kwargs)
    if "device" in kwargs and kwargs["device"] is not None and _is_torch(function):
        kwargs["device"] = "meta"
    module = getattr(function, "__module__", None) or ""
    if module.startswith("kopt."):
        return function(*args, **kwargs)
    if module == "math" and any(map(varies, args)):
        unsupported(
            "how many lanes the last block has is not known while the kernel is imported",
            f"use torch.{function.__name__} of a device value, or a block size that divides the distance walked",
        )
    if function in _HOLDING or _appends(function):
        return function(*args, **kwargs)
    return function(*plain(args), **plain(kwargs))


#: Functions that put values into containers, without looking at them.
_HOLDING = (list, tuple, dict, zip, enumerate, reversed, iter)


def _appends(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), list) and function.__name__ in ("append", "extend")


def _literal(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``torch.tensor`` on the host: of a number an array of it, of lists an argument that no caller sees."""
    kwargs = {name: value for name, value in kwargs.items() if name != "device"}
    data = args[0] if args else None
    if isinstance(data, bool | int | float):
        return torch.full((), data, dtype=kwargs.get("dtype"), device="meta")
    return function(*args, **kwargs)


def _is_torch(function: Any) -> bool:
    return getattr(function, "__module__", None) in ("torch", "torch._C._nn", None)


def _call_function(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A Python function: the user's are rewritten too, libraries' run as they are."""
    if source.is_rewritten(function):
        return function(*args, **kwargs)
    if is_users(function):
        return current_rewritten(function)(*args, **kwargs)
    return _call_other(function, args, kwargs)


def current_rewritten(function: FunctionType) -> FunctionType:
    """The function in terms of these hooks; its free and global names are noted."""
    tracer: Any = current()
    tracer.functions.append(function)
    return source.rewritten(function, _HOOKS)


def _call_method(function: Any, owner: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A host tensor's method."""
    name, tracer = function.__name__, current()
    if name in ("item", "tolist", "__bool__", "__int__", "__float__"):
        return tracer.host.value_of(owner, lambda t: getattr(t, name)())
    if name in ("cuda", "cpu", "pin_memory", "requires_grad_", "set_"):
        return owner
    if tracer.on_device:
        from kopt.frontend.ops.creation import METHODS

        if name in METHODS:
            return METHODS[name](owner, *args, **kwargs)
        if owner.ndim == 0 and name in ("to", "float", "type", "int", "long"):
            return getattr(tracer.host.load_whole(owner), name)(*args, **kwargs)
    if name == "to" and args and isinstance(args[0], str | torch.device):
        args = args[1:]
        if not args and "dtype" not in kwargs:
            return owner
    if kwargs.get("device") is not None:
        kwargs["device"] = "meta"
    if _has_device(args):
        from kopt.frontend.ops import REGISTRY

        if name in REGISTRY:
            return REGISTRY[name](tracer.host.load_whole(owner), *args, **kwargs)
    return function(*args, **kwargs)


def _registry() -> dict[str, Callable[..., Any]]:
    from kopt.frontend.ops import REGISTRY

    return REGISTRY


_table: dict[Any, Callable[..., Any]] = {}
_seen_helion = False


def _special() -> dict[Any, Callable[..., Any]]:
    """Functions with a meaning of their own: Python's and the language's, Helion's too once it is loaded."""
    global _seen_helion
    from kopt.frontend import builtin_calls, language_calls

    if not _table:
        _table.update(builtin_calls.table())
        _table.update(language_calls.table())
    if not _seen_helion and "helion.language" in sys.modules:
        _table.update(language_calls.helion_table())
        _seen_helion = True
    return _table
