"""Whether libtpu takes the kernel that others have measured with some tiles: JAX's splash attention.

Tiles that libtpu refuses are none that others could have had. No formula says which these are: a kernel by hand writes
all parts of a block of keys out, and what libtpu keeps of them in VMEM depends on its schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kopt.runtime.tpu_report import compile_report
from kopt.specs import parse_spec
from kopt.targets.chips import TpuChip

_SOURCE = """\
import jax
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks


def attention(q, k, v):
    blocks = splash.BlockSizes(block_q={block_q}, block_kv={block_kv}, block_kv_compute={block_kv_compute})
    every = masks.MultiHeadMask([masks.{mask}((q.shape[2], k.shape[2]))] * q.shape[1])
    kernel = splash.make_splash_mha(
        every, block_sizes=blocks, head_shards=1, q_seq_shards=1, save_residuals={residuals}
    )
    return jax.vmap(kernel)(q, k, v)
"""


def is_taken(problem: Any, tiles: Mapping[str, int], chip: TpuChip) -> bool:
    """Whether libtpu compiles attention with these tiles, in the VMEM that a kernel has unasked."""
    batch, heads, key_heads, m, n, d, depth = problem.arguments
    shapes = [(batch, heads, m, d), (batch, key_heads, n, d), (batch, key_heads, n, depth)]
    specs = [parse_spec(f"bf16[{','.join(map(str, shape))}]") for shape in shapes]
    mask = "CausalMask" if "causal" in problem.flags else "FullMask"
    source = _SOURCE.format(mask=mask, residuals="residuals" in problem.flags, **tiles)
    return bool(compile_report(source, "attention", specs, chip, (), estimates=False)["legal"])
