"""``output_only=swap``: storage is taken over where nobody else sees it, and the elements are copied where one may."""

import numpy as np
import pytest

import kopt
import kopt.language as hl
from kopt.diagnostics import collect
from kopt.runtime.swap import why_copied

from .support import executable

torch = pytest.importorskip("torch")
pytest.importorskip("jax")

TARGET = "pallas:interpret"


class Recording:
    """A runner that remembers where its outputs lie."""

    def __init__(self, runner):
        self._runner = runner
        self.framework, self.devices = runner.framework, runner.devices

    def run(self, arrays):
        outputs = self._runner.run(arrays)
        self.places = [output.unsafe_buffer_pointer() for output in outputs]
        return outputs


def swapping(entry, *args, mutated=(0,), target=TARGET):
    exe = executable("misc_pallas", entry, target, *args, mutated=mutated, swap=True)
    exe._runner = Recording(exe._runner)
    return exe


def swapped(x):
    """Bumps ``x``; whether it took over the produced array, which is checked to be all or nothing."""
    before, old = x.data_ptr(), x.clone()
    exe = swapping("bump", x)
    assert exe(x) is None and torch.equal(x, old + 1)
    assert x.data_ptr() == (before if exe.remarks else exe._runner.places[0])
    return not exe.remarks


def refused(x, reason):
    """Bumps ``x``, which must keep its storage for this reason."""
    before, old = x.data_ptr(), x.clone()
    exe = swapping("bump", x)
    with collect() as heard:
        exe(x)
        exe(x)
    assert [d.message for d in heard] == [f"'x' keeps its storage and is copied into: {reason}"]
    assert x.data_ptr() == before and torch.equal(x, old + 2)


HOLDS = "another tensor or array holds its storage"
FOREIGN = "another library owns its memory, or was lent it"
PART = "it is not the whole of its storage in row-major order"


@pytest.mark.parametrize("make", [torch.exp, torch.detach, lambda x: torch.nn.Parameter(x, False)])
def test_a_tensor_with_its_storage_for_itself_takes_over_the_new_one(make):
    x = make(torch.ones(3, 5))
    assert swapped(x) and swapped(x)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32, torch.int64, torch.float64, torch.float8_e5m2])
@pytest.mark.parametrize("shape", [(4, 3), (1,), ()])
def test_every_width_and_rank(dtype, shape):
    x = torch.ones(shape).to(dtype)
    exe = swapping("bump", x)
    exe(x)
    assert not exe.remarks and (x.float() == 2).all() and x.dtype == dtype and x.shape == shape


def test_an_alias_made_after_the_swap_is_counted():
    x = torch.ones(4)
    assert swapped(x)
    view = x.view(2, 2)
    refused(x, HOLDS)
    assert (view == 4).all()


def test_what_autograd_saved_is_known_to_have_changed():
    weight, x = torch.ones(4, requires_grad=True), torch.ones(4)
    loss = (weight * x).sum()
    swapping("bump", x)(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


ALIASES = {
    "view": lambda x: x.view(-1),
    "part": lambda x: x[1:],
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
    "numpy": lambda x: x.numpy(),
    "storage": lambda x: torch.tensor([], dtype=x.dtype).set_(x.untyped_storage()),
}


@pytest.mark.parametrize("name", ALIASES)
def test_aliases_of_the_argument_see_the_new_elements(name):
    x = torch.zeros(3, 4)
    alias = ALIASES[name](x)
    refused(x, HOLDS)
    assert (alias == 2).all()
    del alias
    assert swapped(x) or name == "numpy"


def test_a_numpy_array_of_a_storage_that_was_taken_over():
    x = torch.zeros(4)
    assert swapped(x)
    array = x.numpy()
    refused(x, HOLDS)
    assert (array == 3).all()


def test_a_held_storage_object_is_an_owner():
    x = torch.zeros(3)
    storage = x.untyped_storage()
    refused(x, HOLDS)
    assert torch.tensor([], dtype=x.dtype).set_(storage)[0] == 2


def test_a_view_of_a_base():
    base = torch.zeros(12)
    refused(base.view(3, 4), "it is a view of another tensor")
    assert (base == 2).all()
    refused(base[:5], "it is a view of another tensor")
    assert (base[:5] == 4).all() and (base[5:] == 2).all()
    refused(base[2:6].detach(), PART)
    assert (base[2:5] == 6).all() and base[5] == 4


def test_a_part_of_a_storage_that_has_no_other_owner():
    refused(torch.zeros(8)[2:].detach(), PART)
    refused(torch.zeros(4, 3).t().detach(), PART)


def test_an_expanded_argument_is_read():
    x, y = torch.zeros(3, 4), torch.ones(1, 4).expand(3, 4)
    exe = swapping("bump_both", x, y, mutated=(0,))
    exe._runner.run = lambda arrays, run=exe._runner.run: run(arrays)[:1]
    exe(x, y)
    assert not exe.remarks and x.data_ptr() == exe._runner.places[0] and (x == 1).all() and (y == 1).all()


def test_inference_tensors():
    with torch.inference_mode():
        x = torch.zeros(4)
        refused(x, "it is an inference tensor")
        alias = x.view(2, 2)
        swapping("bump", x)(x)
        assert (alias == 3).all()
    plain = torch.zeros(4)
    with torch.inference_mode():
        assert swapped(plain)


def test_autograd():
    leaf = torch.zeros(4, requires_grad=True)
    inner = leaf * 1
    with torch.no_grad():
        refused(leaf, "autograd records it")
        refused(inner, "autograd records it")


def test_memory_of_other_libraries():
    array = np.zeros(4, np.float32)
    refused(torch.from_numpy(array), FOREIGN)
    assert (array == 2).all()
    refused(torch.frombuffer(bytearray(16), dtype=torch.float32), FOREIGN)
    refused(torch.zeros(4).share_memory_(), "its memory is shared with other processes, or pinned")


class Sub(torch.Tensor):
    pass


def test_subclasses():
    refused(torch.zeros(4).as_subclass(Sub), "it is of a subclass of torch.Tensor")


def test_one_tensor_as_two_arguments():
    x = torch.zeros(4)
    before = x.data_ptr()
    exe = swapping("bump_both", x, x, mutated=(0, 1))
    exe(x, x)
    assert x.data_ptr() == before and (x == 1).all()
    said = "keeps its storage and is copied into: it shares memory with another argument"
    assert [d.message for d in exe.remarks] == [f"'x' {said}", f"'y' {said}"]


def test_arguments_that_are_parts_of_one_storage():
    base = torch.zeros(8)
    x, y = base[:4], base[4:]
    swapping("bump_both", x, y, mutated=(0, 1))(x, y)
    assert (base == 1).all()


def test_two_arguments_swap_apart():
    x, y = torch.zeros(4), torch.ones(4)
    exe = swapping("bump_both", x, y, mutated=(0, 1))
    exe(x, y)
    assert [x.data_ptr(), y.data_ptr()] == exe._runner.places and (x == 1).all() and (y == 2).all()


def test_results_stay_apart_from_the_argument():
    x = torch.zeros(4)
    result = swapping("bump_twice", x)(x)
    result += 5
    assert (x == 1).all() and (result == 6).all()


def test_a_final_value_that_is_another_argument_is_copied():
    x, y = torch.zeros(4), torch.ones(4)
    swapping("assign", x, y)(x, y)
    y += 1
    assert (x == 1).all() and (y == 2).all()
    assert why_copied(y.view(2, 2), [x, y]) == "its new elements share memory with an argument or another result"
    assert why_copied(y[1:], [x]) == "its new elements are a part of a larger array"
    assert why_copied(y, [x]) is None


def test_exchanged_arguments():
    x, y = torch.zeros(64), torch.ones(64)
    old = swapping("swap", x, y, mutated=(0, 1))(x, y)
    assert (old == 0).all() and (x == 1).all() and (y == 0).all()


def test_numpy_and_jax_arguments_are_as_ever():
    import jax.numpy as jnp

    array = np.zeros(4, np.float32)
    exe = swapping("bump", array)
    exe(array)
    assert (array == 1).all() and not exe.remarks
    assert (exe(jnp.zeros(4)) == 1).all()


def test_never_by_default():
    x = torch.zeros(4)
    before = x.data_ptr()
    executable("misc_pallas", "bump", TARGET, x, mutated=(0,))(x)
    assert x.data_ptr() == before and (x == 1).all()


def add_to(out, x):
    for tile in hl.tile(x.shape[0]):
        out[tile] = out[tile] + x[tile]
    return out, out.view(-1, 2)


def test_kernels_take_the_config_and_results_that_are_the_argument_stay_it():
    out, x = torch.ones(300), torch.arange(300.0)
    lowered = kopt.kernel(add_to).lower(out, x, target=TARGET, config={"output_only": "swap"})
    compiled, before = lowered.compile(), out.data_ptr()
    for _ in range(2):
        result, view = compiled(out, x)
        assert result is out and torch.equal(view.flatten(), out)
    assert torch.equal(out, 1 + 2 * x) and out.data_ptr() != before and not lowered.executable.remarks
    kept = out.view(3, 100)
    compiled(out, x)
    (remark,) = lowered.executable.remarks
    assert torch.equal(kept.flatten(), 1 + 3 * x) and HOLDS in str(remark) and "test_swap.py" in str(remark)


def test_strict_mode_swaps_too():
    x = torch.zeros(8, 128)
    exe = executable("misc_pallas", "bump", "pallas:strict", x, mutated=(0,), swap=True)
    before = x.data_ptr()
    exe(x)
    exe(x)
    assert x.data_ptr() != before and not exe.remarks and (x == 2).all()
