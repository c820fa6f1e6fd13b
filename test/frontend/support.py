"""Runs an imported kernel in the reference interpreter, and the kernel's own Python, beside the same in torch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.frontend import Imported, import_kernel
from kopt.interpreter import run
from kopt.verification import verify


def leaf_at(arguments: dict[str, Any], path: tuple[Any, ...]) -> Any:
    """The argument that a parameter's path leads to."""
    value: Any = arguments[path[0]]
    for key in path[1:]:
        value = value[key]
    return value


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A copy, with dtypes that NumPy lacks held in f32."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16 or tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        tensor = tensor.float()
    return tensor.clone().contiguous().numpy()


def imported(fn: Any, *args: Any, **options: Any) -> Imported:
    """The verified import."""
    result = import_kernel(fn, args, {}, **options)
    verify(result.module)
    return result


def reference(fn: Any, *args: Any, **options: Any) -> Any:
    """What the kernel returns when the interpreter runs it; arguments that it writes are written."""
    import inspect

    kernel = imported(fn, *args, **options)
    function = getattr(fn, "fn", fn)
    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    visible = [p for p in kernel.params if p.path]
    tensors = [leaf_at(bound.arguments, p.path) for p in visible] + list(kernel.hidden)
    arrays = [to_numpy(t) for t in tensors]
    results = [torch.from_numpy(np.array(r)) for r in run(kernel.module, kernel.entry, arrays)]
    for number in kernel.mutated:
        tensors[number].copy_(torch.from_numpy(arrays[number]))
    return kernel.results.build(results, tensors)


def eager(fn: Any, *args: Any, block_sizes: Any = None, tunables: Any = None) -> Any:
    """What the kernel's own Python gives, on copies of the arguments."""
    config = {**(tunables or {}), **({} if block_sizes is None else {"block_sizes": list(block_sizes)})}
    return kopt.kernel(fn, config=config).on("eager")(*(copy.deepcopy(arg) for arg in args))


def check(fn: Any, args: Sequence[Any], expected: Any, tolerance: float = 1e-4, **options: Any) -> None:
    """The kernel's results are close to the expected tensors, and so are those of its Python."""
    own = {key: value for key, value in options.items() if key != "dot_precision" and not callable(value)}
    for got in (eager(fn, *args, **own), reference(fn, *args, **options)):
        _compare(got, expected, tolerance)


def _compare(got: Any, expected: Any, tolerance: float) -> None:
    pairs = zip(got, expected, strict=True) if isinstance(expected, tuple | list) else [(got, expected)]
    for actual, wanted in pairs:
        assert actual.shape == wanted.shape, (actual.shape, wanted.shape)
        torch.testing.assert_close(actual.double(), wanted.double(), atol=tolerance, rtol=tolerance, equal_nan=True)


class _Seen(Exception):
    """Ends an import with what it was to find out."""


def seen(of: Any, *args: Any, **options: Any) -> Any:
    """What ``of(x, v, tile)`` gives in a loop over the first of the arrays, ``v`` being the rows of a tile of 4."""

    def kernel(x, *others):
        for tile in hl.tile(x.size(0), block_size=4):
            found = of(x, x[tile, :], tile, *others)
            raise _Seen(lambda: found)  # noqa: B023

    return _told(kernel, args or (torch.zeros(8, 16),), options)


def seen_before(of: Any, *args: Any, **options: Any) -> Any:
    """What ``of`` gives of the arguments, before any loop."""

    def kernel(*given):
        found = of(*given)
        raise _Seen(lambda: found)

    return _told(kernel, args, options)


def _told(kernel: Any, args: Any, options: dict[str, Any]) -> Any:
    with pytest.raises(_Seen) as caught:
        import_kernel(kernel, args, {}, **options)
    return caught.value.args[0]()
