"""What JAX raises while a kernel runs is an error of kopt's, with the kernel's own line."""

import pytest

import kopt
from kopt.runtime.pallas_interpret import PallasRunner
from kopt.targets.target import parse_target

SOURCE = """import jax.numpy as jnp


def kernel(x):
    return jnp.reshape(x, (7,))  # softmax.py:12
"""


def test_an_exception_of_jax_names_both_lines():
    numpy = pytest.importorskip("numpy")
    runner = PallasRunner(SOURCE, "kernel", parse_target("pallas:interpret"), use_wide=False)
    with pytest.raises(kopt.CompileError) as raised:
        runner.run([numpy.zeros(6, numpy.float32)])
    assert "softmax.py:12" in str(raised.value) and "TypeError: cannot reshape" in str(raised.value)
    assert "emitted line 5: return jnp.reshape(x, (7,))" in str(raised.value)
