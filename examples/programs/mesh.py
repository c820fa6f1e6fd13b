"""A transformer's feed-forward layer over a mesh: each device has a slice of both weights, and sums travel a ring.

python examples/programs/mesh.py     # on all TPUs of the machine, or on four CPU devices that interpret the kernels
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ.setdefault("NPROC", "16")  # every CPU device that interprets a kernel wants threads of its own

import jax
import numpy as np
import torch
import torch.distributed._functional_collectives as functional
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P

import kopt
import kopt.language as hl

ROWS, WIDTH, HIDDEN = 48, 64, 96


@kopt.kernel
def gelu_scaled(x, scale: float):
    out = torch.empty_like(x)
    for tile in hl.tile(x.shape):
        out[tile] = torch.nn.functional.gelu(x[tile]) * scale
    return out


def feed_forward(x, up, down, group):
    hidden = gelu_scaled(x @ up, 0.5)
    return x + functional.all_reduce(hidden @ down, "sum", group)


def emitted(ranks: int):
    """The JAX function of the program for so many ranks, whose hidden features they share."""
    program = kopt.program(feed_forward, all_reduce="ring", ranks={"tp": ranks})
    share = HIDDEN // ranks
    specs = f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{share}]", f"f32[{share},{WIDTH}]"
    module: dict = {}
    exec(program.lower(*specs, "tp", target="pallas:tpu7x").source, module)
    return module["feed_forward"]


def reference(x, up, down):
    x, up, down = map(torch.from_numpy, (x, up, down))
    return (x + (torch.nn.functional.gelu(x @ up) * 0.5) @ down).numpy()


def main() -> None:
    mesh = jax.make_mesh((jax.device_count(),), ("tp",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = {"in_specs": (P(), P(None, "tp"), P("tp")), "out_specs": P()}
    layer = jax.jit(lambda *arrays: emitted(mesh.size)(*arrays, mesh=mesh, **specs))
    random = np.random.default_rng(0)
    shapes = (ROWS, WIDTH), (WIDTH, HIDDEN), (HIDDEN, WIDTH)
    arrays = [random.standard_normal(shape, np.float32) / 8 for shape in shapes]
    if jax.default_backend() == "tpu":
        got = layer(*arrays)
    else:
        with pltpu.force_tpu_interpret_mode():
            got = layer(*arrays)
    np.testing.assert_allclose(got, reference(*arrays), rtol=1e-4, atol=1e-4)
    print(f"a layer on {mesh.size} devices is right")


if __name__ == "__main__":
    main()
