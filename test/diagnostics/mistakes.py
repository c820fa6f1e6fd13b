"""One mistake of each kind: kernels whose wrong line ends in ``# wrong``, by the id of what is said of it."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import torch
import triton.language as tl

import kopt.language as hl

KERNELS = {}


def mistake(id):
    def register(kernel):
        KERNELS[id] = kernel
        return kernel

    return register


@mistake("unknown-name")
def unknown_name(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = torch.epx(x[tile, :])  # wrong
    return x


@mistake("foreign-function")
def foreign_function(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = math.erf(x[tile, :])  # wrong
    return x


@mistake("torch-function")
def torch_function(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = torch.linalg.svd(x[tile, :])  # wrong
    return x


@mistake("torch-arguments")
def torch_arguments(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = torch.softmax(x[tile, :], dimm=1)  # wrong
    return x


@mistake("python-error")
def python_error(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] * [1, 2][3]  # wrong
    return x


@mistake("no-value")
def no_value(x):
    for tile in hl.tile(x.size(0)):
        for inner in hl.tile(x.size(1)):
            part = x[tile, inner]
        x[tile, :] = part  # wrong
    return x


@mistake("condition")
def condition(x):
    for tile in hl.tile(x.size(0)):
        block = x[tile, :]
        if block > 0:  # wrong
            block = block + 1
        else:
            block = block - 1
        x[tile, :] = block
    return x


@mistake("device-value-as-number")
def device_value_as_number(x):
    for tile in hl.tile(x.size(0)):
        for part in x[tile, 0]:  # wrong
            x[tile, 0] = part
    return x


@mistake("not-known-at-import")
def not_known_at_import(x):
    for tile in hl.tile(x.size(0)):
        for _ in hl.static_range(tile.id):  # wrong
            x[tile, :] = x[tile, :] + 1
    return x


@mistake("jump")
def jump(x):
    for tile in hl.tile(x.size(0)):
        if tile.id > 0:
            break
        x[tile, :] = x[tile, :] + 1  # wrong
    return x


@mistake("paths-differ")
def paths_differ(x):
    for tile in hl.tile(x.size(0)):
        if tile.id > 0:  # wrong
            block = x[tile, 0]
        else:
            block = x[tile, 0].to(torch.bfloat16)
        x[tile, 0] = block
    return x


@mistake("loop-carried")
def loop_carried(x):
    total = 0
    for tile in hl.tile(x.size(0)):
        total = total + x[tile, 0].sum()
        x[tile, 0] = total  # wrong
    return x


@mistake("in-place")
def in_place(x):
    for tile in hl.tile(x.size(0)):
        block = x[tile, :]
        block[0] = 1  # wrong
        x[tile, :] = block
    return x


@mistake("outside-device-loop")
def outside_device_loop(x):
    hl.atomic_add(x, [0, 0], 1.0)  # wrong
    return x


@mistake("host-side")
def host_side(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] + 1
    return x * x[0, 0].item()  # wrong


@mistake("ragged-lanes")
def ragged_lanes(x):
    for tile in hl.tile(x.size(0), block_size=24):
        x[tile, :] = x[tile, :].reshape(2, -1, x.size(1)).sum(0).repeat(2, 1)  # wrong
    return x


@mistake("jagged")
def jagged(x):
    for tile in hl.tile(x.size(0)):
        for inner in hl.jagged_tile(x[tile, 0]):  # wrong
            x[tile, inner] = x[tile, inner] + 1
    return x


@mistake("index")
def index(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, 0, 0]  # wrong
    return x


@mistake("mask-index")
def mask_index(x):
    for tile in hl.tile(x.size(0)):
        x[tile, 0] = x[x[tile, 0] > 0, 0]  # wrong
    return x


@mistake("shapes")
def shapes(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] + torch.zeros([3, 5, 7])  # wrong
    return x


@mistake("dtype")
def dtype(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] & x[tile, :]  # wrong
    return x


@mistake("operand")
def operand(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = hl.load(x[tile, :], [tile])  # wrong
    return x


@mistake("atomic")
def atomic(x):
    for tile in hl.tile(x.size(0)):
        hl.atomic_and(x, [tile, 0], 1)  # wrong
    return x


@mistake("loop-bounds")
def loop_bounds(x):
    for tile in hl.tile(x.size(0) / 2):  # wrong
        x[tile, :] = x[tile, :] + 1
    return x


@mistake("unsupported")
def unsupported(x):
    for tile in hl.tile(x.size(0)):
        hl.breakpoint()  # wrong
        x[tile, :] = x[tile, :] + 1
    return x


def fine(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] + 1
    return x


def prints(x):
    print("rows", x.size(0))
    for tile in hl.tile(x.size(0)):
        for inner in hl.tile(x.size(1)):
            print("block", x[tile, inner])  # wrong
            x[tile, inner] = x[tile, inner] + 1
    return x


def without_loops(x):  # wrong
    return x + 1


def adds_rows(x, y):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] + y[tile, :]
    return x


def outside(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile.index + 1, :]  # wrong
    return x


def racing(x):
    for tile in hl.tile(x.size(0), block_size=8):
        x[0, :] = x[tile, :].sum(0)  # wrong
    return x


def wide(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :] + 1.5
    return x


def hl_name(x):
    for tile in hl.tyle(x.size(0)):  # wrong
        x[tile, :] = 0


def method_name(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :].sigmoyd()  # wrong


def numpy_method(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = x[tile, :].astype(torch.float32)  # wrong


def tile_name(x):
    for tile in hl.tile(x.size(0)):
        x[tile, :] = tile.beginn  # wrong


def variable(x):
    for tile in hl.tile(x.size(0)):
        block = x[tile, :]
        x[tile, :] = block + blok  # noqa: F821  # wrong


def of_numpy(x):
    """torch.exp"""
    for tile in hl.tile(x.size(0)):
        x[tile, :] = np.exp(x[tile, :])  # wrong


def of_jax(x):
    """torch.where"""
    for tile in hl.tile(x.size(0)):
        x[tile, :] = jnp.where(x[tile, :] > 0, x[tile, :], 0)  # wrong


def of_triton(x):
    """torch.softmax"""
    for tile in hl.tile(x.size(0)):
        x[tile, :] = tl.softmax(x[tile, :])  # wrong


def renamed(x):
    """torch.cat"""
    for tile in hl.tile(x.size(0)):
        x[tile, :] = np.concatenate([x[tile, :], x[tile, :]])  # wrong


FOREIGN = (of_numpy, of_jax, of_triton, renamed)
