"""What the frontend refuses: a message, the place, and what to use instead."""

from __future__ import annotations

import itertools
import random
import types
from functools import partial

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, ConfigError, KoptError, UnsupportedError
from kopt.frontend import import_kernel

X = torch.randn(32, 16)


def refused(fn, *args, kind=UnsupportedError, **options) -> str:
    """The text of the error that importing a kernel raises."""
    with pytest.raises(kind) as caught:
        import_kernel(fn, args, {}, **options)
    return str(caught.value)


def writes_in_place(x):
    for tile in hl.tile(x.size(0)):
        acc = x[tile, :]
        acc[:] = 0
        x[tile, :] = acc


def test_writing_a_device_value_names_the_functional_form():
    text = refused(writes_in_place, X)
    assert "cannot be written in place" in text and "torch.where" in text
    assert f"{__file__}:" in text and "acc[:] = 0" in text and "^^^" in text


def uses_add_(x):
    for tile in hl.tile(x.size(0)):
        acc = x[tile, :]
        acc.add_(1)
        x[tile, :] = acc


def test_in_place_methods():
    assert "acc = acc.add(" in refused(uses_add_, X)


def appends(x):
    for tile in hl.tile(x.size(0)):
        parts = []
        for inner in hl.tile(x.size(1)):
            parts.append(x[tile, inner])
        x[tile, :] = parts[0]


def test_append_in_a_device_loop():
    text = refused(appends, X)
    assert "'parts'" in text and "append" in text


def changes_dtype(x):
    for tile in hl.tile(x.size(0)):
        acc = hl.zeros([tile], dtype=torch.float32)
        for inner in hl.tile(x.size(1)):
            acc = (acc + x[tile, inner].sum(-1)).to(torch.bfloat16)
        x[tile, 0] = acc


def test_carried_values_keep_their_dtype():
    text = refused(changes_dtype, X)
    assert "'acc' changes its dtype from torch.float32 to torch.bfloat16" in text and ".to(torch.float32)" in text


def breaks(x):
    for tile in hl.tile(x.size(0)):
        for inner in hl.tile(x.size(1)):
            x[tile, inner] = 0
            break


def test_break():
    assert "'break' in a device loop" in refused(breaks, X)


def truth(x):
    for tile in hl.tile(x.size(0)):
        x[tile, 0] = len([n for n in range(2) if x[tile, n].sum() > 0])


def test_truth_of_a_device_value():
    assert "truth of a device value" in refused(truth, X)


def wrong_shapes(x):
    for tile in hl.tile(x.size(0)):
        for inner in hl.tile(x.size(1)):
            x[tile, 0] = x[tile, 0] + x[0, inner]


def test_two_loops_of_sizes_that_kopt_chooses_are_different_axes():
    assert "do not broadcast" in refused(wrong_shapes, X)


def picks_pairs(x):
    for tile in hl.tile(x.size(1)):
        x[0, tile] = x[tile.index // 2, tile.index % 3]


def test_two_vectors_as_an_index_are_a_product():
    assert "index the flat tensor: x.view(-1)" in refused(picks_pairs, X)


def test_an_expression_that_is_nested_too_deeply(tmp_path) -> None:
    """Python itself walks expressions by recursion: what it cannot is refused with what to do."""
    import importlib.util

    lines = ["import torch, kopt.language as hl", "def deep(x):", "    for t in hl.tile(x.size(0)):"]
    file = tmp_path / "deep_kernel.py"
    file.write_text("\n".join([*lines, f"        x[t] = {' + '.join(['x[t]'] * 1500)}", "    return x", ""]))
    spec = importlib.util.spec_from_file_location("deep_kernel", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    message = refused(module.deep, X)
    assert "nested too deeply" in message and "deep_kernel.py:" in message and "as statements" in message


def unknown_function(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = torch.linalg.inv(x[tile, :])


def test_unknown_torch_function():
    assert "is not supported on device values" in refused(unknown_function, X)


def pointers(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = hl.stacktensor_like(x, x[tile, 0])[tile, :]


def guesses_no_dimension(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = torch.nn.functional.softmax(x[tile, :])


def test_a_dimension_that_torch_would_guess():
    assert "which dimension is not said" in refused(guesses_no_dimension, X)


def test_later_features_say_what_to_use():
    text = refused(pointers, X)
    assert "hl.stacktensor_like" in text and "note:" in text


def host_failure(x):
    return x.view(7, 7)


def test_failures_of_torch_are_located():
    text = refused(host_failure, X)
    assert "x.view(7, 7)" in text and "error:" in text


def returns_device_value(x):
    for tile in hl.tile(x.size(0)):
        v = x[tile, :]
    return v


def test_device_values_do_not_leave_the_launch():
    text = refused(returns_device_value, X)
    assert "cannot return a device value" in text and "return v" in text and f"{__file__}:" in text


def carried_by_the_grid(x):
    total = 0.0
    for tile in hl.tile(x.size(0)):
        total = total + x[tile, :].sum()
        x[tile, 0] = total


def counted_by_the_grid(x):
    number = 0
    for tile in hl.tile(x.size(0)):
        number += 1
        x[tile, 0] = number


def counted_in_one_cell(x):
    number = 0
    for row in hl.grid(1):
        for tile in hl.tile(x.size(1)):
            number += 1
            x[row, tile] = number


def test_grids_carry_nothing():
    assert "run in no order" in refused(carried_by_the_grid, X)
    assert "run in no order" in refused(counted_by_the_grid, X)


def advanced(x):
    numbers = iter([1, 2])
    for tile in hl.tile(x.size(0)):
        x[tile, 0] = next(numbers)


def advanced_by_a_partial_function(x):
    for tile in hl.tile(x.size(0)):
        numbers = itertools.count()
        number = partial(next, numbers)
        for column in hl.tile(x.size(1)):
            x[tile, column] = number()


def walked(x):
    numbers = (n for n in range(3))
    for tile in hl.tile(x.size(0)):
        for n in numbers:
            x[tile, n] = n


def unpacked(x):
    numbers = iter([1, 2])
    for tile in hl.tile(x.size(0)):
        first, second = numbers
        x[tile, first] = second


def drawn(x):
    for tile in hl.tile(x.size(0)):
        x[tile, 0] = random.random()


def popped(x):
    numbers = {"a": 1}
    for tile in hl.tile(x.size(0)):
        x[tile, 0] = numbers.pop("a", 2)


def counted_in_a_list(x):
    numbers = [0]
    for tile in hl.tile(x.size(0)):
        numbers[0] += 1
        x[tile, 0] = numbers[0]


def counted_in_an_object(x):
    numbers = types.SimpleNamespace(count=0)
    for tile in hl.tile(x.size(0)):
        numbers.count += 1
        x[tile, 0] = numbers.count


def popped_under_a_condition(x):
    for tile in hl.tile(x.size(0)):
        numbers = [1, 2]
        if tile.begin > 8:
            numbers.pop()
        x[tile, 0] = numbers[-1]


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        (advanced, "'numbers' is advanced in a device loop"),
        (advanced_by_a_partial_function, "'numbers' is advanced"),
        (walked, "'numbers' is advanced"),
        (unpacked, "'numbers' is advanced"),
        (drawn, "'random' of random draws a number"),
        (popped, "'numbers' changes"),
        (counted_in_a_list, "'numbers' changes"),
        (counted_in_an_object, "'numbers.count' changes"),
        (popped_under_a_condition, "'numbers' changes under a device condition"),
    ],
)
def test_python_does_once_what_it_does_in_a_body(kernel, what):
    message = refused(kernel, X)
    assert what in message
    assert "[loop-carried]" in message


def advances_its_own(x):
    for tile in hl.tile(x.size(0)):
        numbers = iter([3, 4])
        next(numbers)
        x[tile, 0] = next(numbers)


def test_iterators_of_one_visit():
    x = X.clone()
    kopt.kernel(advances_its_own).on("reference")(x)
    assert x[:, 0].tolist() == [4] * len(x)


@pytest.mark.parametrize("target", ["reference", "triton:interpret"])
def test_one_cell_carries(target):
    x = X.clone()
    kopt.kernel(counted_in_one_cell, config={"block_sizes": [8]}).on(target)(x)
    assert x[0].tolist() == [1] * 8 + [2] * 8


def raises(x):
    raise ValueError("mine")


def test_the_kernels_own_exceptions_pass():
    with pytest.raises(ValueError, match="mine"):
        import_kernel(raises, [X], {})


def asserts_in_vain(x):
    assert x.size(0) == 0, "mine too"


def test_the_kernels_own_asserts_pass():
    with pytest.raises(AssertionError, match="mine too"):
        import_kernel(asserts_in_vain, [X], {})


def takes_three_of_two(x):
    for i, j, k in hl.tile(x.size()):
        x[i, j] = k.index


def names_nothing(x):
    for i in hl.tile(x.size(0)):
        x[i, :] = nothing  # noqa: F821 # pyright: ignore[reportUndefinedVariable]


def numbers_lanes_before_loops(x):
    lanes = hl.arange(4)
    for i in hl.tile(x.size(0), block_size=4):
        x[i, 0] = lanes


def repeats_less_than_nothing(x):
    for i in hl.tile(x.size(0), block_size=4):
        x[i, :] = x[i, :].repeat(1, -1)


@pytest.mark.parametrize(
    "kernel, text",
    [
        (repeats_less_than_nothing, "repeated -1 times"),
        (takes_three_of_two, "not enough values to unpack (expected 3, got 2)"),
        (names_nothing, "there is no name 'nothing'"),
        (numbers_lanes_before_loops, "device values are made inside device loops"),
    ],
)
def test_what_is_refused_is_located(kernel, text):
    found = refused(kernel, X)
    assert text in found and f"{__file__}:" in found and "^^^" in found


def test_no_source():
    space: dict = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(UnsupportedError, match="source of 'f' cannot be found"):
        import_kernel(space["f"], [X], {})


def test_arguments_and_configuration():
    assert "missing a required argument" in refused(breaks, kind=ArgumentError)
    assert "block_sizes" in refused(small_kernel, X, kind=ConfigError, block_sizes=[1, 2, 3])
    assert "block_sizes" in refused(small_kernel, X, kind=ConfigError, block_sizes=[])
    assert "no tunable 'a'" in refused(small_kernel, X, kind=ConfigError, tunables={"a": 1})


def small_kernel(x):
    for tile in hl.tile(x.size(0)):
        x[tile, 0] = 0


def test_outside_of_a_kernel():
    with pytest.raises(KoptError, match=r"hl.zeros is called outside of a kernel"):
        hl.zeros([3])


def indexes_a_number(x):
    for row in hl.grid(x.size(0)):
        x[row, :] = x[row, :] + x[row, 0][:, None]


def test_more_indices_than_dimensions():
    text = refused(indexes_a_number, X)
    assert "1 index(es) for a device value of no dimensions" in text and "None adds a dimension" in text


MASK = torch.zeros(32, dtype=torch.bool)


def loads_by_a_mask(x, mask):
    for _ in hl.grid(1):
        x[0, :] = x[mask, :].sum(0)


def updates_by_a_mask(x, mask):
    for _ in hl.grid(1):
        hl.atomic_add(x, [mask, 0], 1)


def stores_a_row_for_each(x, mask):
    for _ in hl.grid(1):
        x[mask, 0] = x[:, 0]


def masks_the_wrong_dimension(x, mask):
    for _ in hl.grid(1):
        x[0, mask] = 0


def masks_rows_of_a_tile(x, mask):
    for tile in hl.tile(x.size(0), block_size=8):
        x[mask[tile], 0] = 0


def masks_twice(x, mask):
    for _ in hl.grid(1):
        x[mask, x[0, :] > 0] = 0


@pytest.mark.parametrize(
    "kernel, text",
    [
        (loads_by_a_mask, "how many elements a mask selects"),
        (updates_by_a_mask, "how many elements a mask selects"),
        (stores_a_row_for_each, "writes one value to all elements"),
        (masks_the_wrong_dimension, "a mask of shape [32] selects from dimensions [16]"),
        (masks_rows_of_a_tile, "a mask of shape [b0=8] selects from dimensions [32]"),
        (masks_twice, "a mask beside another mask"),
    ],
)
def test_masks_as_indices(kernel, text):
    found = refused(kernel, X, MASK)
    assert text in found and f"{__file__}:" in found


def writes_strided(x):
    torch.as_strided(x, (2, 4), (8, 1), 3).zero_()
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] + 1


def stores_to_diagonal(x):
    diagonal = x.diagonal()
    for tile in hl.tile(diagonal.size(0)):
        diagonal[tile] = diagonal[tile] + 1


def reads_diagonal_late(x):
    diagonal = x.diagonal()
    out = torch.empty_like(diagonal)
    x.zero_()
    for tile in hl.tile(diagonal.size(0)):
        out[tile] = diagonal[tile] + 1
    return out


def test_views_that_are_copied():
    assert "the result of 'as_strided' is written" in refused(writes_strided, X)
    assert "the result of 'diagonal' is written" in refused(stores_to_diagonal, X)
    assert "'diagonal' is read after its elements were written" in refused(reads_diagonal_late, X)


def test_elements_between_those_of_an_array_may_be_written():
    """Nobody sees them."""

    def pads(x):
        torch.as_strided(x, (4, 2), (16, 1), 14).zero_()
        for tile in hl.tile(x.size(0)):
            x[tile, :] = x[tile, :] + 1

    import_kernel(pads, (torch.empty_strided((4, 14), (16, 1)),), {})


def as_long_as_the_row_tells(x):
    for i in hl.grid(x.size(0)):
        x[i, 0] = x[i, i:].sum()


def steps_that_do_not_divide(x):
    for i in hl.grid(4):
        x[i, 0] = x[0, i::3].sum()


def shifted_by_another_loop(x):
    for tile in hl.tile(x.size(0), block_size=4):
        x[tile, 0] = x[tile, (tile + 8).begin :: 4].sum(1)


@pytest.mark.parametrize("kernel", [as_long_as_the_row_tells, steps_that_do_not_divide, shifted_by_another_loop])
def test_slices_of_no_one_length(kernel):
    found = refused(kernel, X)
    assert "needs a length that is known" in found and f"{__file__}:" in found


def reshapes_nothing(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, 0:0].reshape(-1, 0)


def test_a_dimension_that_may_be_any_number():
    """Of no elements there are as many rows of none as one likes: torch refuses it too."""
    assert "cannot be reshaped to [-1, 0]" in refused(reshapes_nothing, X)
