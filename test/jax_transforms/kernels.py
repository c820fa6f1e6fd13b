"""Kernels that tests of JAX's transformations call."""

import torch

import kopt
import kopt.language as hl

TARGET = "pallas:interpret"


@kopt.kernel(config={"block_sizes": [8]}, target=TARGET)
def softmax(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = torch.softmax(x[rows, :], dim=1)
    return out


@softmax.backward
@kopt.kernel(config={"block_sizes": [8]})
def softmax_backward(grad, result):
    out = torch.empty_like(grad)
    for rows in hl.tile(grad.size(0)):
        product = grad[rows, :] * result[rows, :]
        out[rows, :] = product - result[rows, :] * product.sum(-1, keepdim=True)
    return out


@kopt.kernel(config={"block_sizes": [8]}, target=TARGET)
def scaled(x, weight):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * weight[None, :]
    return out


@scaled.backward
def scaled_backward(grad, x, weight):
    return {"x": grad * weight, "weight": (grad * x).sum(0)}


@kopt.kernel(config={"block_sizes": [8]}, target=TARGET)
def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


@kopt.kernel(config={"block_sizes": [8]}, target=TARGET)
def add_to(total, x):
    """Changes ``total``, and gives the sums of rows of ``x``."""
    sums = torch.empty([x.size(0)], dtype=x.dtype)
    for rows in hl.tile(x.size(0)):
        total[rows, :] = total[rows, :] + x[rows, :]
        sums[rows] = x[rows, :].sum(-1)
    return sums
