import torch
import triton
import triton.language as tl


@triton.jit
def histogram_0_kernel(numbers, counts, BLOCK_0: tl.constexpr):
    # histogram.py:12: for tile in hl.tile(numbers.size(0)):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < 333
    # histogram.py:13: hl.atomic_add(counts, [numbers[tile]], 1)
    numbers_block = tl.load(numbers + tile, mask=tile_mask, other=0)
    tl.atomic_add(counts + numbers_block, 1, mask=tile_mask, sem="relaxed", scope="gpu")


def histogram(numbers):
    # histogram.py:11: counts = torch.zeros([bins], dtype=torch.int32, device=numbers.device)
    counts = torch.zeros((50,), dtype=torch.int32, device=numbers.device)
    # histogram.py:12: for tile in hl.tile(numbers.size(0)):
    histogram_0_kernel[(3,)](numbers, counts, BLOCK_0=128, num_warps=1, num_stages=1)
    return counts
