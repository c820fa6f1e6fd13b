"""Products with narrow operands: 4-bit integers in pairs, 16-bit integers, 8-bit ones and floats with a scale a row."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def int4_matmul(x, packed):
    """``packed[k]`` has row 2k of the matrix in its low four bits and row 2k + 1 in its high ones, both signed."""
    m, n = x.size(0), packed.size(1)
    out = torch.empty([m, n], dtype=x.dtype)
    pairs = hl.register_block_size(packed.size(0))
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for pair in hl.tile(packed.size(0), block_size=pairs):
            begin = 2 * pair.begin
            low, high = nibbles(packed[pair, tile_n])
            both = torch.stack([low.to(x.dtype), high.to(x.dtype)], 1).reshape(2 * pairs, tile_n.block_size)
            acc = hl.dot(x[tile_m, begin : begin + 2 * pairs], both, acc=acc)
        out[tile_m, tile_n] = acc.to(out.dtype)
    return out


@kopt.kernel
def int4_matmul_halves(x, packed):
    """The same from two products: of the even columns with the low bits, and of the odd ones with the high bits."""
    m, n = x.size(0), packed.size(1)
    even, odd = x[:, 0::2], x[:, 1::2]
    out = torch.empty([m, n], dtype=x.dtype)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for pair in hl.tile(packed.size(0)):
            low, high = nibbles(packed[pair, tile_n])
            acc = hl.dot(even[tile_m, pair], low.to(x.dtype), acc=acc)
            acc = hl.dot(odd[tile_m, pair], high.to(x.dtype), acc=acc)
        out[tile_m, tile_n] = acc.to(out.dtype)
    return out


@kopt.kernel
def int16_matmul(x, weights):
    """Weights are 16-bit integers, rounded to the dtype of ``x``."""
    m, n = x.size(0), weights.size(1)
    out = torch.empty([m, n], dtype=x.dtype)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(x.size(1)):
            acc = hl.dot(x[tile_m, tile_k], weights[tile_k, tile_n].to(x.dtype), acc=acc)
        out[tile_m, tile_n] = acc.to(out.dtype)
    return out


@kopt.kernel
def fp8_matmul(x, y, scales_x, scales_y):
    """8-bit floats, whose rows (of ``x``) and columns (of ``y``) each have a scale."""
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n], dtype=scales_x.dtype)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(x.size(1)):
            acc = hl.dot(x[tile_m, tile_k], y[tile_k, tile_n], acc=acc)
        out[tile_m, tile_n] = (acc * scales_x[tile_m][:, None] * scales_y[tile_n][None, :]).to(out.dtype)
    return out


@kopt.kernel
def int8_matmul(x, y, scales_x, scales_y):
    """8-bit integers, whose rows (of ``x``) and columns (of ``y``) each have a scale; their sums are exact."""
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n], dtype=scales_x.dtype)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.int32)
        for tile_k in hl.tile(x.size(1)):
            acc = hl.dot(x[tile_m, tile_k], y[tile_k, tile_n], acc=acc)
        scaled = acc.to(torch.float32) * scales_x[tile_m][:, None] * scales_y[tile_n][None, :]
        out[tile_m, tile_n] = scaled.to(out.dtype)
    return out


def nibbles(packed):
    """The low and the high four bits of bytes, as signed numbers."""
    return (packed << 4) >> 4, packed >> 4


def unpacked(packed):
    return torch.stack(nibbles(packed), 1).reshape(-1, packed.size(1))


def reference_int4(x, packed):
    return (x.float() @ unpacked(packed).float()).to(x.dtype)


def reference_int16(x, weights):
    return (x.float() @ weights.to(x.dtype).float()).to(x.dtype)


def reference_scaled(x, y, scales_x, scales_y):
    scales = scales_x.float()[:, None] * scales_y.float()[None, :]
    return (x.float() @ y.float() * scales).to(scales_x.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
