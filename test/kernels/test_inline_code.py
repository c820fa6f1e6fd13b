"""Triton code inside kernels: runs on Triton, is a clear error elsewhere."""

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.frontend.inline_code import _collect

triton = pytest.importorskip("triton")
tl = triton.language
X = torch.linspace(-3, 5, 100)
Y = torch.linspace(2, 1, 100)
SHIFT = tl.constexpr(0.5)


@triton.jit
def _shifted(x):
    return x + SHIFT


@triton.jit
def normed(a, b):
    total = tl.sum(_shifted(a) * b)
    return _shifted(a), total + b


def expressions(x, y):
    """Placeholders by name and by number, numbers among them, several results, names that the kernel has too."""
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        total = hl.inline_triton(
            """
            tile = {lhs} + {rhs}
            tile * {factor}
            """,
            args={"lhs": x[tile], "rhs": y[tile], "factor": 2.0},
            output_like=x[tile],
        )
        less, more = hl.inline_triton("{0} - {1}, {0} + {1}", (total, y[tile]), (total, total))
        out[tile] = less * more
    return out


def functions(x, y):
    """Functions with helpers and constants, by name and itself; sums over a ragged block."""
    out, sums = torch.empty_like(x), torch.empty_like(x)
    for tile in hl.tile(x.size(0), block_size=64):
        out[tile], sums[tile] = hl.triton_kernel("normed", args=[x[tile], y[tile]], output_like=(x[tile], x[tile]))
        out[tile] = hl.triton_kernel(_shifted, args=(out[tile],), output_like=x[tile])
    return out, sums


def assembly(x):
    """One operation of the machine."""
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = hl.inline_asm_elementwise("neg.f32 $0, $1;", "=r,r", [x[tile]], dtype=torch.float32)
    return out


def test_expressions():
    """As functions of their own, so that names do not clash."""
    expected = (2 * X + 2 * Y - Y) * (2 * X + 2 * Y + Y)
    torch.testing.assert_close(kopt.kernel(expressions, target="triton:interpret")(X, Y), expected)


def test_functions():
    """Lanes outside of ranges are 0."""
    out, sums = kopt.kernel(functions, target="triton:interpret")(X, Y)
    totals = torch.cat([((x + 0.5) * y).sum() + y for x, y in zip(X.split(64), Y.split(64), strict=True)])
    torch.testing.assert_close(out, X + 1)
    torch.testing.assert_close(sums, totals)


@pytest.mark.slow
def test_assembly_compiles():
    """The interpreter has no assembler."""
    assert kopt.kernel(assembly).lower(X, target="triton:sm90").report()["legal"]


@pytest.mark.parametrize("target", ["reference", "pallas:interpret"])
def test_other_targets_refuse(target):
    """With the place."""
    with pytest.raises(kopt.KoptError, match=r"test_inline_code.py:\d+(.|\n)*'triton.inline'"):
        kopt.kernel(assembly, target=target)(X)


@pytest.mark.parametrize(
    ("source", "args", "message"),
    [
        ("{bad}", {0: 1}, "text and args do not match"),
        ("y = {0}", (1,), "must end in an expression"),
        ("{0", (1,), "do not match"),
        (3, (1,), "needs a text"),
        ("1", 5, "a list, a tuple or a dict"),
        ("{0}", ("x",), "cannot be given to Triton code"),
    ],
)
def test_mistakes(source, args, message):
    """Say what is wrong."""

    def kernel(x):
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0)):
            out[tile] = hl.inline_triton(source, args, x[tile])
        return out

    with pytest.raises(kopt.UnsupportedError, match=message):
        kopt.kernel(kernel, target="triton:interpret")(X)


class _Wrapper:
    """What has a function, and is not Triton's."""

    fn = staticmethod(normed.fn)


@pytest.mark.parametrize("function", [_Wrapper(), normed.fn, SHIFT, "nowhere", "X"], ids=lambda f: type(f).__name__)
def test_only_functions_of_triton_are_called(function):
    """Neither a plain function nor a constant of Triton's is one, whatever its name."""

    def kernel(x):
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0)):
            out[tile] = hl.triton_kernel(function, args=[x[tile], x[tile]], output_like=x[tile])
        return out

    with pytest.raises(kopt.UnsupportedError, match="needs a @triton.jit function|no function 'nowhere'"):
        kopt.kernel(kernel, target="triton:interpret")(X)


def test_numbers_are_spelt_out():
    """What is in a text's place is no parameter of its function."""
    source = kopt.kernel(expressions).lower(X, Y, target="triton:interpret").source
    assert "(lhs, rhs):\n" in source and "* 2.0" in source


@pytest.mark.parametrize("dtype", [5, None, "float32", [torch.float32, 5]], ids=str)
def test_assembly_gives_torch_dtypes(dtype):
    """One, or several in a list or tuple."""

    def kernel(x):
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0)):
            out[tile] = hl.inline_asm_elementwise("neg.f32 $0, $1;", "=r,r", [x[tile]], dtype=dtype)
        return out

    with pytest.raises(kopt.UnsupportedError, match="is one or several torch dtypes"):
        kopt.kernel(kernel, target="triton:interpret")(X)


@triton.jit
def _common(x):
    return x * SHIFT


@triton.jit
def _first(x):
    return _common(x) + 1


@triton.jit
def _second(x):
    return _first(x) - _common(x)


def test_functions_that_several_use_are_there_once():
    """Before all that use them."""
    texts: dict[str, str] = {}
    _collect(_second, texts)
    assert list(texts) == ["SHIFT", "_common", "_first", "_second"]
    assert texts["SHIFT"] == " = tl.constexpr(0.5)"
    assert texts["_common"] == "(x):\n    return x * SHIFT"
    _collect(_first, texts)
    assert list(texts) == ["SHIFT", "_common", "_first", "_second"]
