import torch
import triton
import triton.language as tl


@triton.jit
def counting_sort_0_kernel(numbers, counts, BLOCK_0: tl.constexpr):
    # histogram.py:20: for tile in hl.tile(numbers.size(0)):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # histogram.py:21: hl.atomic_add(counts, [numbers[tile]], 1)
    numbers_block = tl.load(numbers + tile)
    tl.atomic_add(counts + numbers_block, 1, sem="relaxed", scope="gpu")


@triton.jit
def counting_sort_1_kernel(numbers, places, out, BLOCK_1: tl.constexpr):
    # only written: out
    # histogram.py:24: for tile in hl.tile(numbers.size(0)):
    pid = tl.program_id(0)
    tile = pid * BLOCK_1 + tl.arange(0, BLOCK_1)
    # histogram.py:25: ticket = hl.atomic_add(places, [numbers[tile]], 1)
    numbers_block = tl.load(numbers + tile)
    ticket = tl.atomic_add(places + numbers_block, 1, sem="relaxed", scope="gpu")
    # histogram.py:26: out[ticket] = numbers[tile]
    numbers_block_2 = tl.load(numbers + tile)
    tl.store(out + ticket, numbers_block_2)


def counting_sort(numbers):
    # histogram.py:19: counts = torch.zeros([bins], dtype=torch.int32, device=numbers.device)
    counts = torch.zeros((256,), dtype=torch.int32, device=numbers.device)
    # histogram.py:20: for tile in hl.tile(numbers.size(0)):
    counting_sort_0_kernel[(64,)](numbers, counts, BLOCK_0=64, num_warps=1, num_stages=1)
    # histogram.py:22: places = torch.cumsum(counts, 0).to(torch.int32) - counts
    array = torch.ops.aten.cumsum.default(counts, 0, dtype=torch.int32)
    array_2 = torch.empty((256,), dtype=torch.int32, device=numbers.device)
    array_2.copy_(array)
    places = torch.ops.aten.sub.Tensor(array_2, counts)
    # histogram.py:23: out = torch.empty_like(numbers)
    out = torch.empty((4096,), dtype=torch.int32, device=numbers.device)
    # histogram.py:24: for tile in hl.tile(numbers.size(0)):
    counting_sort_1_kernel[(128,)](numbers, places, out, BLOCK_1=32, num_warps=1, num_stages=1)
    return out
