"""Matrix product with an f32 accumulator and an epilogue that the caller passes in, closure and all; its gradients."""

import torch

import kopt
import kopt.language as hl


def no_epilogue(acc, tile):
    return acc


@kopt.kernel
def matmul(x, y, epilogue=no_epilogue):
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = epilogue(acc, (tile_m, tile_n)).to(out.dtype)
    return out


@kopt.kernel
def matmul_backward(grad, x, y):
    m, k = x.size()
    _, n = y.size()
    grad_x, grad_y = torch.empty_like(x), torch.empty_like(y)
    for tile_m, tile_k in hl.tile([m, k]):
        acc = hl.zeros([tile_m, tile_k], dtype=torch.float32)
        for tile_n in hl.tile(n):
            acc = torch.addmm(acc, grad[tile_m, tile_n], y[tile_k, tile_n].T)
        grad_x[tile_m, tile_k] = acc.to(x.dtype)
    for tile_k, tile_n in hl.tile([k, n]):
        acc = hl.zeros([tile_k, tile_n], dtype=torch.float32)
        for tile_m in hl.tile(m):
            acc = torch.addmm(acc, x[tile_m, tile_k].T, grad[tile_m, tile_n])
        grad_y[tile_k, tile_n] = acc.to(y.dtype)
    return grad_x, grad_y


def bias_relu(bias):
    """An epilogue that adds a row and clips at zero; ``bias`` is captured, not passed."""

    def epilogue(acc, tile):
        return torch.relu(acc + bias[tile[1]])

    epilogue.expected = lambda product: torch.relu(product + bias.float())
    return epilogue


def reference(x, y, epilogue=None):
    product = x.float() @ y.float()
    return (epilogue.expected(product) if epilogue else product).to(torch.promote_types(x.dtype, y.dtype))


def reference_backward(grad, x, y):
    return (grad.float() @ y.float().T).to(x.dtype), (x.float().T @ grad.float()).to(y.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
