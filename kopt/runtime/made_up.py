"""Arguments that are made up from specs with a seed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from kopt.dtypes import DType
from kopt.runtime.wire import from_reference, unpack
from kopt.specs import TensorSpec

#: Made-up integers are 0, 1, 2 or 3: valid as indices into most things, and their sums stay exact.
INTEGERS = (0, 4)


def make_arguments(values: Sequence[Any], seed: int) -> list[Any]:
    """The same list with arrays in place of specs, the same for the same seed."""
    generator = np.random.default_rng(seed)
    return [_random(value, generator) if isinstance(value, TensorSpec) else value for value in values]


def _random(spec: TensorSpec, generator: np.random.Generator) -> Any:
    """A standard normal array for floats, small integers otherwise, in a framework that has the dtype."""
    packed = from_reference(_values(spec, generator), spec.dtype)
    return unpack(packed, _framework(spec.dtype))


def _values(spec: TensorSpec, generator: np.random.Generator) -> np.ndarray:
    kind = spec.dtype.kind
    if kind == "float":
        return generator.standard_normal(spec.shape).astype(spec.dtype.numpy)
    low, high = (0, 2) if kind == "bool" else INTEGERS
    return generator.integers(low, high, spec.shape).astype(spec.dtype.numpy)


def _framework(dtype: DType) -> str:
    """NumPy where the package that adds its missing types is there, else torch, which has them all."""
    return "numpy" if find_spec("ml_dtypes") is not None or find_spec("torch") is None else "torch"
