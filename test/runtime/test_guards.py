"""Guards: a call like one before goes straight to the emitted function, and any other one the long way."""

from __future__ import annotations

import builtins
import gc
import re
import sys
import weakref
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import AccessError, ArgumentError, UnsupportedError
from kopt.kernels import Kernel
from kopt.runtime import guards
from kopt.runtime.triton_interpret import TritonRunner, device_index
from test.runtime.test_tracing import DIFFERENTIATED, TRACED

SCALE = 2.0
LIMITS = [1.0, 2.0]
TABLE = torch.ones(4)


def helper(x):
    return x * SCALE


def scaled(x, y, factor=1.0):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = helper(x[rows, :]) * factor + y[rows, :]
    return out


def add_into(out, x):
    for rows in hl.tile(x.size(0)):
        out[rows, :] += x[rows, :]


@pytest.fixture
def long_ways(monkeypatch):
    """The kernels whose calls no guard knew."""
    called, way = [], Kernel._call

    def call(kernel, args, kwargs):
        called.append(kernel)
        return way(kernel, args, kwargs)

    monkeypatch.setattr(Kernel, "_call", call)
    return called


def make(fn=scaled, target="reference"):
    return kopt.kernel(fn, target=target)


def tensors(count=2, *shape):
    return [torch.arange(12.0).reshape(shape or (3, 4)) + number for number in range(count)]


ARRAYS = {"torch": lambda x: x, "jax": lambda x: jnp.asarray(x.numpy()), "numpy": lambda x: x.numpy()}


@pytest.mark.parametrize("target", ["reference", "pallas:interpret"])
@pytest.mark.parametrize("convert", ARRAYS.values(), ids=ARRAYS)
def test_the_second_call_is_known(convert, target, long_ways):
    kernel, (x, y) = make(target=target), map(convert, tensors())
    first = kernel(x, y)
    for other in (x, convert(tensors(3)[2])):
        got = kernel(other, y)
        assert type(got) is type(first) and np.array_equal(np.asarray(got), 2 * np.asarray(other) + np.asarray(y))
    assert len(long_ways) == 1


@pytest.mark.parametrize("convert", ARRAYS.values(), ids=ARRAYS)
def test_what_is_written(convert, long_ways):
    for target in ("reference", "pallas:interpret"):
        kernel = make(add_into, target)
        for _ in range(2):
            out, x = map(convert, tensors())
            result = kernel(out, x)
            expected = torch.arange(12.0).reshape(3, 4) * 2 + 1
            assert np.array_equal(np.asarray(out if result is None else result), expected.numpy())
    assert len(long_ways) == 2


def freed(x):
    x.untyped_storage().resize_(0)
    return x


def shrunk(x):
    x = torch.arange(100.0)[50:62].reshape(3, 4)
    x.untyped_storage().resize_(4 * 61)
    return x


def dual(x):
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(x, x)
    return x


class Subclass(torch.Tensor):
    pass


#: What a tensor in the place of a plain one may be, and what it then is an error for, if it is one.
OTHERS = {
    "dtype": (lambda x: x.to(torch.float16), None),
    "shape": (lambda x: torch.ones(3, 8)[:, ::2], None),
    "strides": (lambda x: x.T.contiguous().T, None),
    "an expanded row": (lambda x: x[:1].expand(3, 4), None),
    "a parameter": (lambda x: torch.nn.Parameter(x, requires_grad=False), None),
    "a subclass": (lambda x: x.as_subclass(Subclass), None),
    "requires grad": (lambda x: x.clone().requires_grad_(), None),
    "meta": (lambda x: x.to("meta"), "meta tensor"),
    "negated": (lambda x: torch._neg_view(x), "negated"),
    "zeros in no memory": (lambda x: torch._efficientzerotensor(3, 4), "in no memory"),
    "a part of them": (lambda x: torch._efficientzerotensor(6, 4)[3:], "in no memory"),
    "freed": (lambda x: freed(x.clone()), "larger than its storage"),
    "shrunk": (shrunk, "larger than its storage"),
    "sparse": (lambda x: x.to_sparse(), "not dense"),
    "CSR": (lambda x: x.to_sparse_csr(), "not dense"),
    "opaque": (lambda x: x.to_mkldnn(), "not dense"),
    "nested": (lambda x: torch.nested.nested_tensor([x, x]), "nested"),
    "quantized": (lambda x: torch.quantize_per_tensor(x, 1.0, 0, torch.quint8), "quantized"),
    "jax": (lambda x: jnp.asarray(x.numpy()), "is a"),
    "a spec": (lambda x: kopt.specs.spec_of(x), "spec"),
    "a number": (lambda x: 3.0, ".*"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change, message", OTHERS.values(), ids=OTHERS)
def test_other_tensors_go_the_long_way(change, message, long_ways):
    kernel, (x, y) = make(), tensors()
    kernel(x, y)
    for _ in range(2):
        other = change(x)
        if message is None:
            torch.testing.assert_close(kernel(other, y), 2 * other.as_subclass(torch.Tensor) + y, check_dtype=False)
        else:
            with pytest.raises(kopt.KoptError, match=message):
                kernel(other, y)
    assert len(long_ways) >= 2 and torch.equal(kernel(x, y), 2 * x + y)


def test_grad_counts_where_it_is_recorded(long_ways):
    kernel, (x, y) = make(), tensors()
    weight = torch.nn.Parameter(x)
    with torch.no_grad():
        for _ in range(2):
            assert torch.equal(kernel(weight, y), 2 * x + y)
    assert len(long_ways) == 1
    assert kernel(weight, y).requires_grad


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_duals_and_inference_tensors(long_ways):
    kernel, add, (x, y) = make(), make(add_into), tensors()
    kernel(x, y), add(x, y)
    with torch.autograd.forward_ad.dual_level(), pytest.raises(ArgumentError, match="dual"):
        kernel(torch.autograd.forward_ad.make_dual(x, y), y)
    with torch.inference_mode():
        frozen = torch.zeros(3, 4)
        for _ in range(2):
            add(frozen, y)
    assert torch.equal(frozen, 2 * y) and len(long_ways) == 4
    with pytest.raises(ArgumentError, match="inference"):
        add(frozen, y)


def test_memory_that_is_shared(long_ways):
    add, kernel, x = make(add_into), make(), torch.arange(24.0).reshape(6, 4)
    add(x[:3].clone(), x[3:])
    with pytest.raises(ArgumentError, match="share memory"):
        add(x[:3], x[1:4])
    add(x[:3], x[3:])
    assert len(long_ways) == 2 and torch.equal(x[0], torch.tensor([12.0, 14, 16, 18]))
    for args in ((x, x), (x[1:], x[1:])):  # one array by two names, and then two
        for _ in range(2):
            assert torch.equal(kernel(*args), 3 * args[0])
    assert torch.equal(kernel(x, x + 1), 3 * x + 1)
    assert len(long_ways) == 5


def test_arrays_of_jax(long_ways):
    kernel, (x, y) = make(target="pallas:interpret"), map(ARRAYS["jax"], tensors())
    kernel(x, y)
    assert jnp.array_equal(jax.jit(kernel)(x, y), 2 * x + y)
    assert jnp.array_equal(jax.jit(lambda z: z + kernel(x, y))(x), 3 * x + y)  # known arrays while another is traced
    gone = x + 1
    gone.delete()
    with pytest.raises(ArgumentError, match="deleted"):
        kernel(gone, y)
    with jax.enable_x64(True):
        assert kernel(x, y).dtype == jnp.float32
    assert len(long_ways) == 3


def on_a_mesh(x):
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    return jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))


@pytest.mark.parametrize(
    "convert, change",
    [
        *(
            (ARRAYS[name], change)
            for name in ("jax", "numpy")
            for change in (lambda x: x[:2], lambda x: x.astype("i4"))
        ),
        (ARRAYS["jax"], on_a_mesh),
        (ARRAYS["numpy"], lambda x: np.asfortranarray(x)),
    ],
)
def test_other_arrays_go_the_long_way(convert, change, long_ways):
    kernel, (x,) = make(helper_of_one, "pallas:interpret"), map(convert, tensors(1))
    for array in (x, change(x), change(x), x):
        got = kernel(array)
        assert got.dtype == array.dtype and np.array_equal(got, 2 * array)
    assert len(long_ways) == 2


@pytest.mark.parametrize("transform", DIFFERENTIATED.values(), ids=DIFFERENTIATED)
def test_derivatives_are_refused_still(transform):
    kernel = make(lambda x: helper_of_one(x), "pallas:interpret")
    kernel(jnp.ones((3, 4)))
    with pytest.raises(UnsupportedError, match="has no backward, and JAX asks"):
        transform(kernel)


def helper_of_one(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("trace", [way for name, way in TRACED.items() if name != "fx"])
def test_tracers_go_the_long_way_still(trace, long_ways):
    kernel = make(helper_of_one)
    kernel(torch.arange(12.0).reshape(3, 4))
    with suppress(kopt.KoptError):
        trace(kernel)
    assert len(long_ways) >= 2


def chosen(x, how):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] + len(repr(how))
    return out


@pytest.mark.parametrize(
    "a, b",
    [(1, 22), (1, True), (1, 1.0), (0.0, -0.0), (float("nan"), 1.0), ("a", "bc"), (None, 0), ((1, 2), [1, 22])]
    + [((1, 2), (1, 22)), ([1], [1, 2]), ({"a": 1}, {"a": 22}), (torch.float32, torch.int8)],
)
def test_other_values_go_the_long_way(a, b, long_ways):
    kernel, (x,) = make(chosen), tensors(1)
    for value in (a, a, b, b, a):
        assert torch.equal(kernel(x, value), x + len(repr(value)))
    assert len(long_ways) == 2


def test_ways_to_pass_arguments(long_ways):
    kernel, (x, y) = make(), tensors()
    calls = [
        lambda: kernel(x, y),
        lambda: kernel(x, y, 1.0),
        lambda: kernel(x, y=y),
        lambda: kernel(y=y, x=x),
        lambda: kernel(x, factor=1.0, y=y),
    ]
    for call in calls + calls:
        assert torch.equal(call(), 2 * x + y)
    assert len(long_ways) == len(calls)
    for args, kwargs in (((x,), {}), ((x, y, 1.0, 2), {}), ((x, y), {"z": 1}), ((x, y), {"y": y})):
        with pytest.raises(ArgumentError):
            kernel(*args, **kwargs)


def test_arrays_in_containers(long_ways):
    @kopt.kernel(target="reference")
    def total(*xs, more):
        out = torch.zeros_like(xs[0])
        for rows in hl.tile(out.size(0)):
            for x in (*xs, *more[0]):
                out[rows, :] += x[rows, :]
        return out, more[1]

    x, y = tensors()
    for _ in range(2):
        got, text = total(x, y, more=([x, x], "text"))
        assert torch.equal(got, 3 * x + y) and text == "text"
        assert torch.equal(total(x, more=([], 1))[0], x)
    assert len(long_ways) == 2
    with pytest.raises(ArgumentError, match="meta"):
        total(x, y, more=([x, x.to("meta")], "text"))


def closed(scale, table):
    def kernel(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = x[rows, :] * scale + table[:]
        return out

    return kernel


def test_what_closures_hold(long_ways):
    fn, (x,) = closed(2.0, torch.ones(4)), tensors(1)
    kernel = make(fn)
    for scale, table in ((2.0, torch.ones(4)), (3.0, torch.ones(4)), (3.0, torch.zeros(4))):
        fn.__closure__[0].cell_contents, fn.__closure__[1].cell_contents = scale, table
        for _ in range(2):
            assert torch.equal(kernel(x), x * scale + table)
        table += 1
        assert torch.equal(kernel(x), x * scale + table)
    assert len(long_ways) == 3


def limited(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * min(*LIMITS) + max(1.0, 2.0)
    return out


def test_what_globals_hold(long_ways, monkeypatch):
    kernel, limits, (x, y) = make(), make(limited), tensors()
    kernel(x, y), limits(x)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert torch.equal(kernel(x, y), 3 * x + y)
    monkeypatch.setattr(helper, "__code__", (lambda x: x * SCALE + 1).__code__)
    assert torch.equal(kernel(x, y), 3 * x + 1 + y)
    monkeypatch.setitem(globals(), "helper", lambda x: -x)
    assert torch.equal(kernel(x, y), y - x)
    monkeypatch.setattr(sys.modules[__name__], "LIMITS", LIMITS.copy())
    limits(x)
    LIMITS[0] = 0.5
    assert torch.equal(limits(x), x * 0.5 + 2)
    monkeypatch.setitem(globals(), "max", lambda a, b: 7.0)
    assert torch.equal(limits(x), x * 0.5 + 7)
    monkeypatch.delitem(globals(), "max")
    assert torch.equal(limits(x), x * 0.5 + 2) and len(long_ways) == 7


def test_what_is_set(long_ways, monkeypatch):
    kernel, (x, y) = make(target=None), tensors()
    monkeypatch.setenv("KOPT_TARGET", "reference")
    for precision in ("highest", "medium"):
        torch.set_float32_matmul_precision(precision)
        kernel(x, y), kernel(x, y)
    torch.set_float32_matmul_precision("highest")
    kernel(x, y)
    assert len(long_ways) == 2
    monkeypatch.setenv("KOPT_TARGET", "pallas:nowhere")
    with pytest.raises(kopt.ConfigError, match="pallas:nowhere"):
        kernel(x, y)
    kernel.target = "reference"
    assert torch.equal(kernel(x, y), 2 * x + y)
    kernel.fn = lambda x, y, factor: add_into(x, y)
    assert kernel(x, y) is None


def test_elements_that_the_import_read(long_ways):
    @kopt.kernel(target="reference")
    def scaled_by(x, factor):
        out = torch.empty_like(x)
        scale = factor.item()
        for rows in hl.tile(x.size(0)):
            out[rows, :] = x[rows, :] * scale
        return out

    (x,) = tensors(1)
    for factor in (2.0, 2.0, 3.0, 3.0, 2.0):
        assert torch.equal(scaled_by(x, torch.tensor(factor)), x * factor)
    assert len(long_ways) == 2


def test_elements_are_checked_in_each_call(long_ways):
    @kopt.kernel(target="pallas:interpret")
    def picked(x, numbers):
        out = torch.empty([numbers.size(0), x.size(1)], dtype=x.dtype)
        for rows in hl.tile(out.size(0)):
            out[rows, :] = x[numbers[rows], :]
        return out

    x, numbers = torch.arange(32.0).reshape(8, 4), torch.tensor([1, 0, 7, 3], dtype=torch.int32)
    for _ in range(2):
        assert torch.equal(picked(x, numbers), x[numbers])
    with pytest.raises(AccessError) as caught:
        picked(x, numbers + 1)
    assert caught.value.location is not None and len(long_ways) == 1


def test_random_numbers_are_drawn_in_each_call(long_ways):
    @kopt.kernel(target="reference")
    def noise(x):
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = torch.rand_like(x[rows, :])
        return out

    (x,) = tensors(1)
    assert not torch.equal(noise(x), noise(x)) and len(long_ways) == 1


def test_arguments_are_not_kept(long_ways):
    for target in ("reference", "pallas:interpret"):
        for kernel in (make(target=target), make(add_into, target)):
            x, y = tensors()
            kernel(x, y), kernel(x, y)
            gone = weakref.ref(x), weakref.ref(y)
            del x, y
            gc.collect()
            assert [reference() for reference in gone] == [None, None]
    assert len(long_ways) == 4


def test_many_signatures(long_ways, monkeypatch):
    monkeypatch.setattr(guards, "_MOST", 3)
    kernel = make(helper_of_one)
    shapes = [(n, 4) for n in range(1, 6)]
    for shape in (*shapes, *shapes[::-1]):
        assert torch.equal(kernel(torch.ones(shape)), 2 * torch.ones(shape))
    assert len(kernel._guards) == 3 and len(long_ways) == 7


def test_the_text_holds_only_names_of_constants(monkeypatch):
    texts, defined = [], guards._defined
    monkeypatch.setattr(guards, "_defined", lambda text: texts.append(text) or defined(text))
    kernel, (x,) = make(chosen), tensors(1)
    kernel(x, how="'); import os #")
    kernel(x, {"quit()": (1, lambda q: q)})
    known = {
        "def",
        "make",
        "run",
        "MISS",
        "guard",
        "kernel",
        "args",
        "kwargs",
        "try",
        "if",
        "not",
        "return",
        "and",
        "is",
    }
    known |= {"except", "Exception", "True", "None", "type", "len", "s", "target", "fn", "_current_level", "__code__"}
    known |= {"__defaults__", "__kwdefaults__", "isdisjoint", "is_nested"}
    known |= {"untyped_storage", "data_ptr", "nbytes", "storage_offset"}
    words = {word for text in texts for word in re.findall(r"[^\W\d]\w*|[\"'#;]", text)}
    assert {word for word in words if not re.fullmatch(r"[kxp]\d+", word)} <= known


def functions_called(call):
    """The names of the Python functions that a call calls, and of those of C."""
    found: list[tuple[str, str]] = []

    def note(frame, event, argument):
        if event == "call":
            found.append(("python", frame.f_code.co_name))
        elif event == "c_call":
            found.append(("c", argument.__name__))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return [name for kind, name in found if kind == "python"][1:], {name for kind, name in found if kind == "c"}


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that launches nothing, of tensors that are on the CPU; gives the launches."""
    from triton.runtime.jit import JITFunction

    launches, start = [], TritonRunner.__init__

    def init(runner, *args):
        start(runner, *args)
        runner.devices = ("cpu",)

    monkeypatch.setattr(TritonRunner, "__init__", init)
    monkeypatch.setattr("kopt.runtime.devices._is_here", lambda target: True)
    monkeypatch.setattr(JITFunction, "run", lambda kernel, *args, grid, warmup, **_: launches.append(args))
    return launches


def test_nothing_is_between_a_call_and_a_launch(gpu, long_ways):
    kernel, (x, y) = make(target="triton:sm90"), tensors()
    kernel(x, y), kernel(x, y)
    python, c = functions_called(lambda: kernel(x, y))
    assert python == ["__call__", "guard", "scaled", "__getitem__", "<lambda>", "<lambda>"]  # Triton's, and the stub
    assert not c & {"item", "cpu", "to", "copy_", "synchronize", "isinstance", "__import__"}
    assert [arg.data_ptr() for arg in gpu[-1][:2]] == [x.data_ptr(), y.data_ptr()] and len(long_ways) == 1


def test_what_a_gpu_writes(gpu, long_ways):
    kernel, (out, x) = make(add_into, "triton:sm90"), tensors()
    for _ in range(2):
        assert kernel(out, x) is None
    assert [arg.data_ptr() for arg in gpu[-1]] == [out.data_ptr(), x.data_ptr()] and len(long_ways) == 1


@pytest.mark.parametrize("convert", [ARRAYS["torch"], ARRAYS["jax"]], ids=["torch", "jax"])
def test_kopt_imports_nothing_on_the_way(convert, monkeypatch):
    kernel, (x, y) = make(target="pallas:interpret"), map(convert, tensors())
    kernel(x, y), kernel(x, y)
    imports, load = [], builtins.__import__

    def note(name, space=None, *rest):
        imports.append((space or {}).get("__name__", ""))
        return load(name, space, *rest)

    monkeypatch.setattr(builtins, "__import__", note)
    kernel(x, y)
    monkeypatch.undo()
    assert not [name for name in imports if name.startswith("kopt")]


def test_launches_go_to_the_device_of_the_tensors(monkeypatch):
    device, entered = partial(torch.device, "cuda"), []

    class Entered:
        def __init__(self, index):
            self.index = index

        def __enter__(self):
            entered.append(self.index)

        def __exit__(self, *_):
            entered.append(None)

    monkeypatch.setattr(torch.cuda, "device", Entered)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    runner = TritonRunner("def f(x):\n    return x", "f", kopt.targets.target.parse_target("triton:sm90"), [None])
    monkeypatch.setattr("kopt.runtime.triton_interpret.relayout", lambda tensor, spec: tensor)
    here, there = (SimpleNamespace(device=device(index), requires_grad=False) for index in (0, 1))
    assert runner.launcher([here])(here) is here and not entered
    assert runner.launcher([there])(there) is there and entered == [1, None]
    assert runner.run([there]) == [there] and entered == [1, None, 1, None]
    assert device_index([torch.device("cpu")]) is None
    with pytest.raises(ArgumentError, match="on cuda:0 and cuda:1"):
        device_index([device(1), device(0)])
