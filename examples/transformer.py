"""A transformer block that trains: each kernel has its backward, and torch differentiates the block as any other.

What the block takes besides is of other examples, which have theirs: `rms_norm`, `swiglu`, `cross_entropy_rows`.
"""

import math

import torch

import kopt
import kopt.language as hl
from examples.cross_entropy import cross_entropy_rows
from examples.gated import swiglu
from examples.matmul import matmul_backward
from examples.rms_norm import rms_norm


def turned(x, cos, sin, sign):
    """Pairs of features, half a head apart, turned by each step's angles, or back."""
    first, second = x.chunk(2, dim=-1)
    cos_first, cos_second = cos.chunk(2, dim=-1)
    sin_first, sin_second = sin.chunk(2, dim=-1)
    both = [first * cos_first - sign * second * sin_first, second * cos_second + sign * first * sin_second]
    return torch.cat(both, dim=-1)


@kopt.kernel
def qkv_rope(x, weight, cos, sin):
    """Queries, keys and values of each head, of which queries and keys know their steps.

    ``x`` is ``[length, width]``, ``weight`` ``[3, heads, width, depth]``; angles are ``[length, depth]``.
    """
    length, _ = x.size()
    _, heads, _, depth = weight.size()
    q = torch.empty([heads, length, depth], dtype=x.dtype, device=x.device)
    k, v = torch.empty_like(q), torch.empty_like(q)
    for head, steps in hl.tile([heads, length], block_size=[1, None]):
        rows = x[steps, :]
        angles = cos[steps, :], sin[steps, :]
        of_head = head.begin
        q[of_head, steps, :] = turned(hl.dot(rows, weight[0, of_head, :, :]), *angles, 1.0)
        k[of_head, steps, :] = turned(hl.dot(rows, weight[1, of_head, :, :]), *angles, 1.0)
        v[of_head, steps, :] = hl.dot(rows, weight[2, of_head, :, :])
    return q, k, v


@qkv_rope.backward
@kopt.kernel
def qkv_rope_backward(grad_0, grad_1, grad_2, x, weight, cos, sin):
    length, width = x.size()
    _, heads, _, depth = weight.size()
    to_x, to_weight = torch.empty_like(x), torch.empty_like(weight)
    for steps in hl.tile(length):
        acc = hl.zeros([steps, width], dtype=torch.float32)
        angles = cos[steps, :], sin[steps, :]
        for head in range(heads):
            acc += hl.dot(turned(grad_0[head, steps, :], *angles, -1.0), weight[0, head, :, :].T)
            acc += hl.dot(turned(grad_1[head, steps, :], *angles, -1.0), weight[1, head, :, :].T)
            acc += hl.dot(grad_2[head, steps, :], weight[2, head, :, :].T)
        to_x[steps, :] = acc.to(x.dtype)
    for head in hl.grid(heads):
        of_q = hl.zeros([width, depth], dtype=torch.float32)
        of_k = hl.zeros([width, depth], dtype=torch.float32)
        of_v = hl.zeros([width, depth], dtype=torch.float32)
        for steps in hl.tile(length):
            columns = x[steps, :].T
            angles = cos[steps, :], sin[steps, :]
            of_q += hl.dot(columns, turned(grad_0[head, steps, :], *angles, -1.0))
            of_k += hl.dot(columns, turned(grad_1[head, steps, :], *angles, -1.0))
            of_v += hl.dot(columns, grad_2[head, steps, :])
        to_weight[0, head, :, :] = of_q.to(weight.dtype)
        to_weight[1, head, :, :] = of_k.to(weight.dtype)
        to_weight[2, head, :, :] = of_v.to(weight.dtype)
    return {"x": to_x, "weight": to_weight}


@kopt.kernel
def attend(q, k, v):
    """Causal attention of each head, and the logarithms of the sums of each query's weights."""
    heads, length, depth = q.size()
    out = torch.empty_like(q)
    logs = torch.empty([heads, length], dtype=torch.float32, device=q.device)
    scale = 1.0 / math.sqrt(depth)
    for head, rows in hl.tile([heads, length], block_size=[1, None]):
        largest = hl.full([head, rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([head, rows], dtype=torch.float32)
        acc = hl.zeros([head, rows, depth], dtype=torch.float32)
        for columns in hl.tile(0, rows.end):  # later keys are masked for every query of the tile
            scores = hl.dot(q[head, rows, :], k[head, columns, :].transpose(1, 2), out_dtype=torch.float32) * scale
            seen = rows.index[:, None] >= columns.index[None, :]
            scores = torch.where(seen[None, :, :], scores, float("-inf"))
            grown = torch.maximum(largest, torch.amax(scores, -1))
            shrink = torch.exp(largest - grown)
            weights = torch.exp(scores - grown[:, :, None])
            total = total * shrink + weights.sum(-1)
            acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[head, columns, :])
            largest = grown
        out[head, rows, :] = (acc / total[:, :, None]).to(out.dtype)
        logs[head, rows] = largest + torch.log(total)
    return out, logs


@attend.backward
@kopt.kernel
def attend_backward(grad_0, q, k, v, result_0, result_1):
    heads, length, depth = q.size()
    to_q, to_k, to_v = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    scale = 1.0 / math.sqrt(depth)
    for head, rows in hl.tile([heads, length], block_size=[1, None]):
        arriving = grad_0[head, rows, :]
        shared = (arriving.to(torch.float32) * result_0[head, rows, :]).sum(-1)
        acc = hl.zeros([head, rows, depth], dtype=torch.float32)
        for columns in hl.tile(0, rows.end):
            scores = hl.dot(q[head, rows, :], k[head, columns, :].transpose(1, 2), out_dtype=torch.float32) * scale
            seen = rows.index[:, None] >= columns.index[None, :]
            weights = torch.where(seen[None, :, :], torch.exp(scores - result_1[head, rows][:, :, None]), 0.0)
            slopes = hl.dot(arriving, v[head, columns, :].transpose(1, 2), out_dtype=torch.float32)
            slopes = weights * (slopes - shared[:, :, None]) * scale
            acc = torch.baddbmm(acc, slopes.to(k.dtype), k[head, columns, :])
        to_q[head, rows, :] = acc.to(q.dtype)
    for head, columns in hl.tile([heads, length], block_size=[1, None]):
        of_k = hl.zeros([head, columns, depth], dtype=torch.float32)
        of_v = hl.zeros([head, columns, depth], dtype=torch.float32)
        for rows in hl.tile(length):
            arriving = grad_0[head, rows, :]
            shared = (arriving.to(torch.float32) * result_0[head, rows, :]).sum(-1)
            scores = hl.dot(k[head, columns, :], q[head, rows, :].transpose(1, 2), out_dtype=torch.float32) * scale
            seen = rows.index[None, :] >= columns.index[:, None]
            weights = torch.where(seen[None, :, :], torch.exp(scores - result_1[head, rows][:, None, :]), 0.0)
            slopes = hl.dot(v[head, columns, :], arriving.transpose(1, 2), out_dtype=torch.float32)
            slopes = weights * (slopes - shared[:, None, :]) * scale
            of_k = torch.baddbmm(of_k, slopes.to(q.dtype), q[head, rows, :])
            of_v = torch.baddbmm(of_v, weights.to(v.dtype), arriving)
        to_k[head, columns, :] = of_k.to(k.dtype)
        to_v[head, columns, :] = of_v.to(v.dtype)
    return to_q, to_k, to_v


@kopt.kernel
def linear(x, weight):
    """Rows of ``x`` times ``weight``."""
    out = torch.empty([x.size(0), weight.size(1)], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile(out.size()):
        acc = hl.zeros([rows, columns], dtype=torch.float32)
        for shared in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[rows, shared], weight[shared, columns])
        out[rows, columns] = acc.to(x.dtype)
    return out


linear.backward(matmul_backward, saved=("grad", "x", "weight"))


def block(parameters, x, cos, sin, labels, whole=lambda part: part):
    """The losses of each step's label, of embedded steps ``x``: tensors of torch, or arrays of JAX.

    Where heads and hidden features are split over devices, ``whole`` sums what each of them adds to the steps.
    """
    heads, depth = parameters["qkv"].shape[1], parameters["qkv"].shape[3]
    normal, _ = rms_norm(x, parameters["before"])
    q, k, v = qkv_rope(normal, parameters["qkv"], cos, sin)
    attended, _ = attend(q, k, v)
    x = x + whole(linear(attended.swapaxes(0, 1).reshape(-1, heads * depth), parameters["out"]))
    normal, _ = rms_norm(x, parameters["between"])
    hidden = swiglu(linear(normal, parameters["gate"]), linear(normal, parameters["up"]))
    x = x + whole(linear(hidden, parameters["down"]))
    return cross_entropy_rows(linear(x, parameters["words"]), labels)


def reference(parameters, x, cos, sin, labels):
    """`block`, by torch alone."""
    rms = torch.nn.functional.rms_norm

    def turn(heads):
        first, second = heads.chunk(2, dim=-1)
        return heads * cos + torch.cat([-second, first], dim=-1) * sin

    normal = rms(x, x.shape[-1:], parameters["before"], 1e-5)
    q, k, v = torch.einsum("lw,phwd->phld", normal, parameters["qkv"])
    attended = torch.nn.functional.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True)
    x = x + attended.transpose(0, 1).reshape(len(x), -1) @ parameters["out"]
    normal = rms(x, x.shape[-1:], parameters["between"], 1e-5)
    x = x + (torch.nn.functional.silu(normal @ parameters["gate"]) * (normal @ parameters["up"])) @ parameters["down"]
    return torch.nn.functional.cross_entropy(x @ parameters["words"], labels.long(), reduction="none")


def inputs(length=16, width=32, heads=2, hidden=48, words=40, seed=0):
    """Parameters, and the arguments that follow them."""
    generator = torch.Generator().manual_seed(seed)
    new = lambda *shape: torch.randn(shape, generator=generator)  # noqa: E731
    depth = width // heads
    parameters = {
        "before": torch.ones(width),
        "qkv": new(3, heads, width, depth) * width**-0.5,
        "out": new(width, width) * width**-0.5,
        "between": torch.ones(width),
        "gate": new(width, hidden) * width**-0.5,
        "up": new(width, hidden) * width**-0.5,
        "down": new(hidden, width) * hidden**-0.5,
        "words": new(width, words) * width**-0.5,
    }
    rates = 10000.0 ** -(torch.arange(depth // 2) / (depth // 2))
    angles = (torch.arange(length)[:, None] * rates).repeat(1, 2)
    labels = torch.randint(words, (length,), generator=generator, dtype=torch.int32)
    return parameters, new(length, width), torch.cos(angles), torch.sin(angles), labels
