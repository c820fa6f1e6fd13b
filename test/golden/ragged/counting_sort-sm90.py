import torch
import triton
import triton.language as tl


@triton.jit
def counting_sort_0_kernel(numbers, counts, BLOCK_0: tl.constexpr):
    # histogram.py:20: for tile in hl.tile(numbers.size(0)):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < 333
    # histogram.py:21: hl.atomic_add(counts, [numbers[tile]], 1)
    numbers_block = tl.load(numbers + tile, mask=tile_mask, other=0)
    tl.atomic_add(counts + numbers_block, 1, mask=tile_mask, sem="relaxed", scope="gpu")


@triton.jit
def counting_sort_1_kernel(numbers, places, out, BLOCK_1: tl.constexpr):
    # only written: out
    # histogram.py:24: for tile in hl.tile(numbers.size(0)):
    pid = tl.program_id(0)
    tile = pid * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_mask = tile < 333
    # histogram.py:25: ticket = hl.atomic_add(places, [numbers[tile]], 1)
    numbers_block = tl.load(numbers + tile, mask=tile_mask, other=0)
    ticket = tl.atomic_add(places + numbers_block, 1, mask=tile_mask, sem="relaxed", scope="gpu")
    # histogram.py:26: out[ticket] = numbers[tile]
    numbers_block_2 = tl.load(numbers + tile, mask=tile_mask, other=0)
    tl.store(out + ticket, numbers_block_2, mask=tile_mask)


def counting_sort(numbers):
    # histogram.py:19: counts = torch.zeros([bins], dtype=torch.int32, device=numbers.device)
    counts = torch.zeros((50,), dtype=torch.int32, device=numbers.device)
    # histogram.py:20: for tile in hl.tile(numbers.size(0)):
    counting_sort_0_kernel[(3,)](numbers, counts, BLOCK_0=128, num_warps=1, num_stages=1)
    # histogram.py:22: places = torch.cumsum(counts, 0).to(torch.int32) - counts
    array = torch.ops.aten.cumsum.default(counts, 0, dtype=torch.int32)
    array_2 = torch.empty((50,), dtype=torch.int32, device=numbers.device)
    array_2.copy_(array)
    places = torch.ops.aten.sub.Tensor(array_2, counts)
    # histogram.py:23: out = torch.empty_like(numbers)
    out = torch.empty((333,), dtype=torch.int32, device=numbers.device)
    # histogram.py:24: for tile in hl.tile(numbers.size(0)):
    counting_sort_1_kernel[(3,)](numbers, places, out, BLOCK_1=128, num_warps=1, num_stages=1)
    return out
