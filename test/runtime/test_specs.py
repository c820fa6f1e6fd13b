"""Specs of tensors: their text, and those of arrays."""

import numpy as np
import pytest

from kopt.errors import ArgumentError
from kopt.specs import TensorSpec, parse_spec, spec_of


def test_parse_spec():
    assert str(parse_spec(" f32[4096, 2560] ")) == "f32[4096,2560]"
    assert parse_spec("bool[]").shape == ()
    spec = parse_spec("bf16[3,4]")
    assert (spec.nbytes, spec.size, spec.contiguous) == (24, 12, True)


@pytest.mark.parametrize(
    "text",
    ["f32", "f33[2]", "f32[2,,3]", "f32[-1]", "f32[2", "[2]", "f32[٣,7]", "f32[²]", "f32[７]", "f32[3,\u2003 7]"],
)
def test_bad_specs(text):
    with pytest.raises(ArgumentError):
        parse_spec(text)


def test_specs_of_arrays():
    spec = spec_of(np.zeros((3, 4), np.float32).T)
    assert (spec.shape, spec.strides, spec.contiguous) == ((4, 3), (1, 4), False)
    assert spec_of(TensorSpec((1,), spec.dtype)).shape == (1,)
    with pytest.raises(ArgumentError, match="complex64 is not supported"):
        spec_of(np.zeros(2, np.complex64))
    with pytest.raises(ArgumentError, match="got int"):
        spec_of(3)
