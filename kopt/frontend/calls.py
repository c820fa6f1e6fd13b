"""Calls: of functions with a meaning of their own, of torch's operations, of the user's functions, of libraries'."""

from __future__ import annotations

from functools import partial
from inspect import getattr_static
from types import FunctionType, MethodType
from typing import Any

import torch

from kopt.frontend import foreign, source
from kopt.frontend.block_size import plain, varies
from kopt.frontend.host_state import check_called
from kopt.frontend.meanings import meaning
from kopt.frontend.ops.creation import METHODS
from kopt.frontend.registry import OPERATIONS, Method, maker, torch_operation
from kopt.frontend.state import current, unsupported
from kopt.frontend.torch_signatures import mismatch
from kopt.frontend.values import has_device
from kopt.helion_configs import config_of
from kopt.open_extents import check_known
from kopt.runtime.users_code import is_users
from kopt.trees import leaves


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``."""
    if current().host_states and not isinstance(function, FunctionType):
        check_called(function, args, kwargs)
    special = meaning(function)
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
    if isinstance(function, Method):
        _check(getattr(torch.Tensor, function.name, None), function.name, (*function.args, *args), kwargs)
    if isinstance(function, partial):
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    method = None if isinstance(function, type) else getattr_static(type(function), "__call__", None)
    if isinstance(method, FunctionType) and is_users(method):
        return _call_function(method, (function, *args), kwargs)
    return _call_other(function, args, kwargs)


def _check(function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuses what torch itself would not take, be it only that a keyword is misspelt."""
    if (found := mismatch(function, name, args, kwargs)) is not None:
        unsupported(f"torch's {found}", id="torch-arguments")


def _call_other(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch's functions, and everything that is not ours to look into."""
    tracer = current()
    try:
        made = maker(function) if tracer.on_device else None
        known = made or (torch_operation(function) if has_device(args) or has_device(list(kwargs.values())) else None)
    except TypeError:
        known = None
    if known is not None:
        _check(function, getattr(function, "__name__", ""), args, kwargs)
        return known(*args, **kwargs)
    inner = getattr(function, "fn", None)
    if isinstance(inner, FunctionType):
        config = config_of(function)
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
            id="ragged-lanes",
        )
    if function in _HOLDING or _appends(function):
        return function(*args, **kwargs)
    if not _is_torch(function):
        check_known(leaves((args, kwargs)))
    args, kwargs = plain(args), plain(kwargs)
    if has_device(args) or has_device(list(kwargs.values())):
        return foreign.called(function, args, kwargs)
    return function(*args, **kwargs)


#: Functions that put values into containers, without looking at them.
_HOLDING = (list, tuple, dict, zip, enumerate, reversed, iter, isinstance)


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
    return source.rewritten(function, tracer.hooks)


def _call_method(function: Any, owner: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A host tensor's method."""
    name, tracer = function.__name__, current()
    if name in ("item", "tolist", "__bool__", "__int__", "__float__"):
        return tracer.host.value_of(owner, lambda t: getattr(t, name)())
    if name in ("cuda", "cpu", "pin_memory", "requires_grad_", "set_"):
        return owner
    if tracer.on_device:
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
    if has_device(args):
        if name in OPERATIONS:
            return OPERATIONS[name](tracer.host.load_whole(owner), *args, **kwargs)
    return function(*args, **kwargs)
