"""What torch's functions do while a kernel runs: they take tiles, give blocks, and change no value in place."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kopt.eager.blocks import SHIFTED, Block
from kopt.eager.broadcasting import together
from kopt.eager.creation import CREATION, poisoned
from kopt.eager.dims import SHAPED, with_axes
from kopt.eager.indexing import load, store, subscript
from kopt.eager.jagged import without_others
from kopt.eager.picking import PICKING
from kopt.eager.products import PRODUCTS
from kopt.eager.put_back import note_choice
from kopt.eager.sorting import SORTING
from kopt.eager.state import WithoutMeaning, current, refuse
from kopt.eager.tiles import Tile, real_size
from kopt.eager.values import BlockSize, Number, tensor_of
from kopt.runtime.users_code import is_users_module

#: Functions whose operands broadcast.
_BROADCASTING = frozenset(
    """
    add sub rsub mul div true_divide divide multiply subtract truediv floordiv floor_divide mod remainder fmod pow
    float_power maximum minimum fmax fmin max min where eq ne lt le gt ge greater less equal greater_equal less_equal
    not_equal bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift and or xor lshift rshift
    logical_and logical_or logical_xor atan2 arctan2 copysign hypot logaddexp logaddexp2 lerp clamp clamp_min clamp_max
    addcmul addcdiv xlogy masked_fill isclose ldexp nextafter dist gcd lcm heaviside broadcast_tensors
    rmul radd rtruediv rdiv rfloordiv rmod rpow rand ror rxor rlshift rrshift
    """.split()
)
#: torch's random numbers: kopt's own depend on places of the import.
_RANDOM = frozenset("rand randn randint rand_like randn_like randint_like bernoulli normal multinomial".split())
#: The in-place functions that Python's ``+=`` and its kin call.
_IN_PLACE = "add sub mul div floor_divide remainder pow bitwise_and bitwise_or bitwise_xor".split()
_IN_PLACE += ["bitwise_left_shift", "bitwise_right_shift", "true_divide"]
_AUGMENTED = {f"{name}_": getattr(torch, name) for name in _IN_PLACE} | {
    "__iadd__": torch.add,
    "__isub__": torch.sub,
    "__imul__": torch.mul,
    "__itruediv__": torch.true_divide,
    "__idiv__": torch.true_divide,
    "__ifloordiv__": torch.floor_divide,
    "__imod__": torch.remainder,
    "__ipow__": torch.pow,
    "__iand__": torch.bitwise_and,
    "__ior__": torch.bitwise_or,
    "__ixor__": torch.bitwise_xor,
    "__ilshift__": torch.bitwise_left_shift,
    "__irshift__": torch.bitwise_right_shift,
    "__imatmul__": torch.matmul,
}
_SPECIAL: dict[str, Callable[..., Any]] = {**PRODUCTS, **SORTING, **PICKING}


class EagerMode(TorchFunctionMode):
    """The torch of a run."""

    runs_kernels = True

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        full = getattr(func, "__name__", "")
        name = full.strip("_")
        run = current()
        if name == "get":
            return _attribute(func, args, kwargs)
        if not run.on_device:
            return _on_host(func, name, args, kwargs)
        if name == "getitem":
            return subscript(*args) if isinstance(args[0], Block) else load(*args)
        if name == "setitem":
            return _setitem(*args)
        if name in CREATION:
            return CREATION[name](func, args, kwargs)
        return _on_device(func, full, name, args, kwargs)


def _attribute(func: Any, args: Any, kwargs: Any) -> Any:
    """``x.T`` and the like; of a host tensor they are views of it."""
    result = func(*args, **kwargs)
    if not isinstance(args[0], Block):
        return result
    return with_axes(getattr(func.__self__, "__name__", ""), func, args, kwargs, result)


def _on_host(func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Between loops torch is torch, but memory that nothing has written is poison."""
    if _holds(Tile, args):
        refuse("tiles index tensors inside device loops only", id="outside-device-loop")
    if _holds(Block, args):
        refuse("a device value is used outside of device loops", "store it in a tensor", id="outside-device-loop")
    result = func(*_numbers(args), **_numbers(kwargs))
    return poisoned(result) if name.startswith(("empty", "new_empty")) else result


def _setitem(container: Any, index: Any, value: Any) -> None:
    if isinstance(container, Block):
        refuse(
            "a device value cannot be written in place",
            "write `acc = …` with a new value, for example torch.where(mask, value, acc)",
            id="in-place",
        )
    store(container, index, value)


def _on_device(func: Any, full: str, name: str, args: Any, kwargs: Any) -> Any:
    """A function of device values, or of host tensors in a device loop, which are memory still."""
    if not any(_holds(kind, (args, list(kwargs.values()))) for kind in (Block, Tile, Number)):
        if full.endswith("_") and not full.startswith("__") or full in _AUGMENTED:
            refuse("a host tensor cannot be changed whole in a device loop", "index it: out[tile] = …", id="in-place")
        return func(*_numbers(args), **_numbers(kwargs))
    if name in _RANDOM or (name == "dropout" and _drops(*args, **kwargs)):
        message = f"the target 'eager' has no '{name}': its numbers depend on the import"
        raise WithoutMeaning(message, notes=["use hl.rand(shape, seed=…)"])
    if full.endswith("_") and full in _AUGMENTED:
        _refuse_in_place(args[0], full)
        func, name = _AUGMENTED[full], _AUGMENTED[full].__name__
    elif full.endswith("_") and not full.startswith("__") and full not in ("requires_grad_",):
        refuse(
            f"'{full}' writes a device value in place",
            "assign the result of the function without the underscore",
            id="in-place",
        )
    kwargs.pop("inplace", None)
    if name in SHAPED:
        args, kwargs = _sizes(args), {key: _sizes(value) for key, value in kwargs.items()}
    args = without_others(name, _lanes(args))
    kwargs = _lanes(kwargs)
    lanes, given = _lanes_of_sum(name, args), args
    if name in _BROADCASTING:
        args = tuple(together(args)[0])
    if name == "where" and not isinstance(args[0], torch.Tensor):
        args = (torch.tensor(bool(args[0])), *args[1:])
    called: Any = _SPECIAL.get(name, func)
    result = _called(called, args, kwargs)
    result = with_axes(name, called, _numbers(args), _numbers(kwargs), result)
    if lanes is not None and isinstance(result, Block):
        result.lanes = lanes
    if name == "where":
        note_choice(result, (given[1], given[0], *given[2:]) if func is torch.Tensor.where else given)
    return result


def _lanes_of_sum(name: str, args: Any) -> Any:
    """The ``lanes`` of a sum or difference of a vector that numbers elements in order and a number; else None.

    Elements from a number on that a loop tells are in order where they are a tile's.
    """
    if name not in ("add", "radd", "sub") or len(args) != 2:
        return None
    one, other = args if isinstance(args[1], int) else reversed(args)
    lanes = getattr(one, "lanes", None)
    if not isinstance(other, int) or lanes is None or name == "sub" and one is not args[0]:
        return None
    of_tile = lanes is not True
    return SHIFTED if of_tile else None if isinstance(other, Number) else True


def _called(func: Any, args: Any, kwargs: Any) -> Any:
    """The function on loops' numbers as Python's, or as tensors where torch takes no number."""
    try:
        return func(*_numbers(args), **_numbers(kwargs))
    except TypeError:
        if not _holds(Number, args):
            raise
        return func(*(tensor_of(value) if isinstance(value, Number) else value for value in args), **_numbers(kwargs))


def _refuse_in_place(target: Any, full: str) -> None:
    """``a += b`` makes a new value; ``a.add_(b)`` is refused, and so is changing a host tensor whole."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_users_module(frame.f_globals):
        frame = frame.f_back
    called = frame is not None and dis.opname[frame.f_code.co_code[frame.f_lasti]] not in ("BINARY_OP",)
    if called and not full.startswith("__"):
        refuse(
            f"'{full}' writes a device value in place",
            "assign the result of the function without the underscore",
            id="in-place",
        )
    if not isinstance(target, Block | Tile | Number):
        refuse("a host tensor cannot be changed whole in a device loop", "index it: out[tile] += …", id="in-place")


def _drops(*args: Any, p: float = 0.5, training: bool = True, **_: Any) -> bool:
    given = [*args[1:3], *(p, training)[len(args[1:3]) :]]
    return all(map(bool, given))


def _holds(kind: Any, value: Any) -> bool:
    if isinstance(value, kind):
        return True
    if type(value) in (tuple, list):
        return any(_holds(kind, item) for item in value)
    return isinstance(value, slice) and _holds(kind, (value.start, value.stop, value.step))


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_mapped(function, item) for item in value)
    if type(value) is dict:
        return {key: _mapped(function, item) for key, item in value.items()}
    return function(value)


def _numbers(value: Any) -> Any:
    """Loops' numbers and block sizes as Python's."""
    return _mapped(lambda item: int(item) if isinstance(item, Number | BlockSize) else item, value)


def _lanes(value: Any) -> Any:
    """Tiles as the numbers of their elements."""
    return _mapped(lambda item: item.index if isinstance(item, Tile) else item, value)


def _sizes(value: Any) -> Any:
    """Tiles and block sizes as sizes of the blocks under way."""
    return _mapped(lambda item: real_size(item)[0] if isinstance(item, Tile | BlockSize) else item, value)
