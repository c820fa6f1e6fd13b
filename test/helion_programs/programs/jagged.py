"""Means of rows of different lengths, by offsets."""

import helion
import helion.language as hl
import torch
from helion._testing import DEVICE, run_example


@helion.kernel()
def jagged_mean(data: torch.Tensor, offsets: torch.Tensor, counts: torch.Tensor, columns: hl.constexpr) -> torch.Tensor:
    rows = offsets.size(0) - 1
    out = torch.zeros([rows, columns], dtype=data.dtype, device=data.device)
    flat = data.view(-1)
    for row in hl.tile(rows):
        begin = offsets[row]
        lengths = offsets[row.index + 1] - begin
        most = lengths.amax()
        features = counts[row]
        for column in hl.tile(columns):
            inside = column.index < features[:, None]
            total = hl.zeros([row, column], dtype=data.dtype)
            for item in hl.tile(0, most):
                at = (begin[:, None] + item.index[None, :])[:, :, None] * columns + column.index[None, None, :]
                there = (item.index[None, :] < lengths[:, None])[:, :, None] & inside[:, None, :]
                total = total + hl.load(flat, [at], extra_mask=there).sum(dim=1)
            some = lengths.to(data.dtype)[:, None]
            out[row, column] = torch.where(inside, total / some, 0.0)
    return out


def plain(data: torch.Tensor, offsets: torch.Tensor, counts: torch.Tensor, columns: int) -> torch.Tensor:
    out = torch.zeros([offsets.numel() - 1, columns], dtype=data.dtype, device=data.device)
    for row in range(offsets.numel() - 1):
        begin, end = int(offsets[row]), int(offsets[row + 1])
        width = int(counts[row])
        out[row, :width] = data[begin:end, :width].mean(dim=0)
    return out


def main() -> None:
    lengths = torch.randint(1, 9, [12], device=DEVICE)
    offsets = torch.cat([torch.zeros(1, dtype=torch.long, device=DEVICE), torch.cumsum(lengths, dim=0)])
    data = torch.randn([int(offsets[-1]), 16], device=DEVICE)
    counts = torch.randint(1, 17, [12], device=DEVICE)
    run_example(jagged_mean, plain, (data, offsets, counts, 16))
    print("jagged: equal")


if __name__ == "__main__":
    main()
