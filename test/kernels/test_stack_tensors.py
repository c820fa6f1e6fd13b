"""``hl.stacktensor_like``: tensors behind pointers, as one block."""

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.specs import parse_spec

TARGETS = ["reference", "pallas:interpret", "triton:interpret"]


def _pointers(tensors, *shape, dtype=torch.uint64):
    pointers = torch.as_tensor([tensor.data_ptr() for tensor in tensors], dtype=dtype)
    return pointers.reshape(shape) if shape else pointers


@kopt.kernel
def gathered(pointers, like):
    rows, columns = pointers.shape
    out = torch.empty([rows, columns, like.size(0)], dtype=like.dtype)
    for tile in hl.tile(like.size(0)):
        for row in range(rows):
            out[row, :, tile] = hl.stacktensor_like(like, pointers[row, :])[tile] * 2
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32])
def test_loads(target, dtype):
    tensors = [torch.randint(-9, 9, (15,)).to(dtype) for _ in range(6)]
    wanted = torch.stack(tensors).reshape(2, 3, 15) * 2
    torch.testing.assert_close(gathered.on(target)(_pointers(tensors, 2, 3), tensors[0]), wanted)


def test_other_pointers_at_the_next_call():
    kernel = gathered.on("triton:interpret")
    for seed in range(2):
        tensors = [torch.full((15,), float(seed + number)) for number in range(4)]
        wanted = torch.stack(tensors).reshape(2, 2, 15) * 2
        torch.testing.assert_close(kernel(_pointers(tensors, 2, 2, dtype=torch.int64), tensors[0]), wanted)


@kopt.kernel
def scattered(x, pointers, like):
    for tile in hl.tile(x.size(0)):
        tensors = hl.stacktensor_like(like, pointers[:])
        tensors[0, tile] = x[tile][None, :]
    for i in hl.grid(x.size(0)):
        tensors = hl.stacktensor_like(like, pointers[:])
        tensors[1, i] = tensors[0, i] + hl.arange(pointers.size(0))


@pytest.mark.parametrize("target", TARGETS)
def test_stores_that_later_launches_see(target):
    tensors, x = [torch.zeros(3, 15) for _ in range(4)], torch.randn(15)
    scattered.on(target)(x, _pointers(tensors), tensors[0])
    for number, tensor in enumerate(tensors):
        torch.testing.assert_close(tensor, torch.stack([x, x + number, torch.zeros(15)]))


def test_computed_pointers_are_refused():
    @kopt.kernel
    def computed(pointers, like):
        out = torch.empty_like(like)
        for tile in hl.tile(like.size(0)):
            out[tile] = hl.stacktensor_like(like, pointers[:] + 8)[tile].sum(0)
        return out

    with pytest.raises(kopt.UnsupportedError, match="needs pointers as they are loaded"):
        computed(_pointers([torch.zeros(4)], dtype=torch.int64), torch.zeros(4))


def test_specs_have_no_pointers_to_follow():
    with pytest.raises(kopt.UnsupportedError, match="needs real tensors"):
        gathered.on("pallas:tpu7x").lower(parse_spec("i64[2,2]"), parse_spec("f32[8]"))


def read_beside(pointers, like):
    for tile in hl.tile(like.size(0)):
        hl.stacktensor_like(like, pointers[:])[tile] = like[tile][None, :] + 1


def written_beside(pointers, like):
    for tile in hl.tile(like.size(0)):
        like[tile] = hl.stacktensor_like(like, pointers[:])[tile].sum(0)


@pytest.mark.parametrize("function", [read_beside, written_beside])
def test_memory_is_used_one_way(function):
    """Elements behind pointers are other ones than those of the same tensor until the launch ends."""
    tensors = [torch.zeros(15) for _ in range(2)]
    with pytest.raises(kopt.UnsupportedError, match="used directly in the same device loop"):
        kopt.kernel(function).on("reference")(_pointers(tensors), tensors[1])


@kopt.kernel
def by_blocks(pointers, like):
    out = torch.empty([pointers.size(0), like.size(0)], dtype=like.dtype)
    for tile in hl.tile(like.size(0), block_size=4):
        for rows in hl.tile(pointers.size(0), block_size=4):
            out[:, tile] = hl.stacktensor_like(like, pointers[rows])[tile]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_blocks_of_pointers_beyond_their_number(target):
    tensors = [torch.randn(15) for _ in range(3)]
    torch.testing.assert_close(by_blocks.on(target)(_pointers(tensors), tensors[0]), torch.stack(tensors))


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda like, pointers: hl.stacktensor_like(3, pointers[:]), "needs a host tensor to go by, found int 3"),
        (lambda like, pointers: hl.stacktensor_like(like[:], pointers[:]), "go by, found a device tensor"),
        (lambda like, pointers: hl.stacktensor_like(like, pointers), "needs pointers as they are loaded"),
        (lambda like, pointers: hl.stacktensor_like(like, like[:]), "needs pointers as they are loaded"),
        (lambda like, pointers: hl.stacktensor_like(like, pointers[:]), "met no pointer, or one to nothing"),
        (lambda like, pointers: hl.stacktensor_like(like, pointers[0:0]), "needs pointers as they are|met no pointer"),
    ],
    ids=range(6),
)
def test_what_no_tensors_are_behind(of, said):
    def kernel(like, pointers):
        for _ in hl.grid(1):
            like[:] = of(like, pointers)[:].sum(0)

    like = torch.zeros(4)
    with pytest.raises(kopt.UnsupportedError, match=said):
        kopt.kernel(kernel).on("reference")(like, torch.tensor([like.data_ptr(), 0]))


def test_the_dtype_of_tensors_behind_pointers():
    @kopt.kernel
    def widened(like, pointers):
        out = torch.empty(like.shape, dtype=torch.float32)
        for i in hl.tile(like.size(0)):
            stack = hl.stacktensor_like(like, pointers[:])
            assert stack.dtype == torch.float16
            out[i] = hl.load(stack, [i]).to(torch.float32).sum(0)
            hl.store(stack, [i], hl.zeros([i], dtype=stack.dtype), extra_mask=i.index > 1)
        return out

    tensors = [torch.randn(4).half() for _ in range(2)]
    wanted = tensors[0].float() + tensors[1].float()
    torch.testing.assert_close(widened.on("reference")(tensors[0].clone(), _pointers(tensors)), wanted)
    assert all((tensor[2:] == 0).all() and (tensor[:2] != 0).all() for tensor in tensors)
