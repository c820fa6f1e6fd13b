"""int4_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int4_matmul_kernel(packed_ref, x_ref, out_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # quantized.py:16
    v = jnp.full((32, 128), True, jnp.bool_).astype(jnp.int32)  # quantized.py:17

    def pair_body(pair, carry):  # quantized.py:17
        acc_2, v_2 = carry
        pair_begin = pair * 128  # quantized.py:17
        v_3 = v_2 != 0
        v_4 = jax.lax.broadcasted_iota(jnp.int32, (128,), 0) < 150 - pair_begin  # quantized.py:17
        v_5 = v_4.astype(jnp.int32) != 0  # quantized.py:17
        begin = pair_begin * 2
        packed = packed_ref[pl.ds(pl.multiple_of(pair_begin, 128), 128), :]  # quantized.py:19
        v_6 = packed.astype(jnp.int32)  # quantized.py:84
        v_7 = v_6 << 28 >> 28  # quantized.py:84
        v_8 = v_6 >> 4  # quantized.py:84
        v_9 = jnp.concatenate(  # quantized.py:20
            [v_7.astype(jnp.float32).reshape((128, 1, 128)), v_8.astype(jnp.float32).reshape((128, 1, 128))], axis=1
        )
        inside = jax.lax.broadcasted_iota(jnp.int32, (128, 2, 128), 0) < 150 - pair_begin  # quantized.py:20
        both = jnp.where(inside, v_9, 0.0).reshape((256, 128))  # quantized.py:20
        v_10 = jnp.broadcast_to(v_5.astype(jnp.int32)[:, None], (128, 2)) != 0  # quantized.py:20
        v_11 = v_10.astype(jnp.int32).reshape((1, 128, 2))  # quantized.py:20
        v_12 = jnp.concatenate(  # quantized.py:20
            [
                v_11[:, 0:1, :].reshape((1, 2)),
                v_11[:, 1:2, :].reshape((1, 2)),
                v_11[:, 2:3, :].reshape((1, 2)),
                v_11[:, 3:4, :].reshape((1, 2)),
                v_11[:, 4:5, :].reshape((1, 2)),
                v_11[:, 5:6, :].reshape((1, 2)),
                v_11[:, 6:7, :].reshape((1, 2)),
                v_11[:, 7:8, :].reshape((1, 2)),
                v_11[:, 8:9, :].reshape((1, 2)),
                v_11[:, 9:10, :].reshape((1, 2)),
                v_11[:, 10:11, :].reshape((1, 2)),
                v_11[:, 11:12, :].reshape((1, 2)),
                v_11[:, 12:13, :].reshape((1, 2)),
                v_11[:, 13:14, :].reshape((1, 2)),
                v_11[:, 14:15, :].reshape((1, 2)),
                v_11[:, 15:16, :].reshape((1, 2)),
                v_11[:, 16:17, :].reshape((1, 2)),
                v_11[:, 17:18, :].reshape((1, 2)),
                v_11[:, 18:19, :].reshape((1, 2)),
                v_11[:, 19:20, :].reshape((1, 2)),
                v_11[:, 20:21, :].reshape((1, 2)),
                v_11[:, 21:22, :].reshape((1, 2)),
                v_11[:, 22:23, :].reshape((1, 2)),
                v_11[:, 23:24, :].reshape((1, 2)),
                v_11[:, 24:25, :].reshape((1, 2)),
                v_11[:, 25:26, :].reshape((1, 2)),
                v_11[:, 26:27, :].reshape((1, 2)),
                v_11[:, 27:28, :].reshape((1, 2)),
                v_11[:, 28:29, :].reshape((1, 2)),
                v_11[:, 29:30, :].reshape((1, 2)),
                v_11[:, 30:31, :].reshape((1, 2)),
                v_11[:, 31:32, :].reshape((1, 2)),
                v_11[:, 32:33, :].reshape((1, 2)),
                v_11[:, 33:34, :].reshape((1, 2)),
                v_11[:, 34:35, :].reshape((1, 2)),
                v_11[:, 35:36, :].reshape((1, 2)),
                v_11[:, 36:37, :].reshape((1, 2)),
                v_11[:, 37:38, :].reshape((1, 2)),
                v_11[:, 38:39, :].reshape((1, 2)),
                v_11[:, 39:40, :].reshape((1, 2)),
                v_11[:, 40:41, :].reshape((1, 2)),
                v_11[:, 41:42, :].reshape((1, 2)),
                v_11[:, 42:43, :].reshape((1, 2)),
                v_11[:, 43:44, :].reshape((1, 2)),
                v_11[:, 44:45, :].reshape((1, 2)),
                v_11[:, 45:46, :].reshape((1, 2)),
                v_11[:, 46:47, :].reshape((1, 2)),
                v_11[:, 47:48, :].reshape((1, 2)),
                v_11[:, 48:49, :].reshape((1, 2)),
                v_11[:, 49:50, :].reshape((1, 2)),
                v_11[:, 50:51, :].reshape((1, 2)),
                v_11[:, 51:52, :].reshape((1, 2)),
                v_11[:, 52:53, :].reshape((1, 2)),
                v_11[:, 53:54, :].reshape((1, 2)),
                v_11[:, 54:55, :].reshape((1, 2)),
                v_11[:, 55:56, :].reshape((1, 2)),
                v_11[:, 56:57, :].reshape((1, 2)),
                v_11[:, 57:58, :].reshape((1, 2)),
                v_11[:, 58:59, :].reshape((1, 2)),
                v_11[:, 59:60, :].reshape((1, 2)),
                v_11[:, 60:61, :].reshape((1, 2)),
                v_11[:, 61:62, :].reshape((1, 2)),
                v_11[:, 62:63, :].reshape((1, 2)),
                v_11[:, 63:64, :].reshape((1, 2)),
                v_11[:, 64:65, :].reshape((1, 2)),
                v_11[:, 65:66, :].reshape((1, 2)),
                v_11[:, 66:67, :].reshape((1, 2)),
                v_11[:, 67:68, :].reshape((1, 2)),
                v_11[:, 68:69, :].reshape((1, 2)),
                v_11[:, 69:70, :].reshape((1, 2)),
                v_11[:, 70:71, :].reshape((1, 2)),
                v_11[:, 71:72, :].reshape((1, 2)),
                v_11[:, 72:73, :].reshape((1, 2)),
                v_11[:, 73:74, :].reshape((1, 2)),
                v_11[:, 74:75, :].reshape((1, 2)),
                v_11[:, 75:76, :].reshape((1, 2)),
                v_11[:, 76:77, :].reshape((1, 2)),
                v_11[:, 77:78, :].reshape((1, 2)),
                v_11[:, 78:79, :].reshape((1, 2)),
                v_11[:, 79:80, :].reshape((1, 2)),
                v_11[:, 80:81, :].reshape((1, 2)),
                v_11[:, 81:82, :].reshape((1, 2)),
                v_11[:, 82:83, :].reshape((1, 2)),
                v_11[:, 83:84, :].reshape((1, 2)),
                v_11[:, 84:85, :].reshape((1, 2)),
                v_11[:, 85:86, :].reshape((1, 2)),
                v_11[:, 86:87, :].reshape((1, 2)),
                v_11[:, 87:88, :].reshape((1, 2)),
                v_11[:, 88:89, :].reshape((1, 2)),
                v_11[:, 89:90, :].reshape((1, 2)),
                v_11[:, 90:91, :].reshape((1, 2)),
                v_11[:, 91:92, :].reshape((1, 2)),
                v_11[:, 92:93, :].reshape((1, 2)),
                v_11[:, 93:94, :].reshape((1, 2)),
                v_11[:, 94:95, :].reshape((1, 2)),
                v_11[:, 95:96, :].reshape((1, 2)),
                v_11[:, 96:97, :].reshape((1, 2)),
                v_11[:, 97:98, :].reshape((1, 2)),
                v_11[:, 98:99, :].reshape((1, 2)),
                v_11[:, 99:100, :].reshape((1, 2)),
                v_11[:, 100:101, :].reshape((1, 2)),
                v_11[:, 101:102, :].reshape((1, 2)),
                v_11[:, 102:103, :].reshape((1, 2)),
                v_11[:, 103:104, :].reshape((1, 2)),
                v_11[:, 104:105, :].reshape((1, 2)),
                v_11[:, 105:106, :].reshape((1, 2)),
                v_11[:, 106:107, :].reshape((1, 2)),
                v_11[:, 107:108, :].reshape((1, 2)),
                v_11[:, 108:109, :].reshape((1, 2)),
                v_11[:, 109:110, :].reshape((1, 2)),
                v_11[:, 110:111, :].reshape((1, 2)),
                v_11[:, 111:112, :].reshape((1, 2)),
                v_11[:, 112:113, :].reshape((1, 2)),
                v_11[:, 113:114, :].reshape((1, 2)),
                v_11[:, 114:115, :].reshape((1, 2)),
                v_11[:, 115:116, :].reshape((1, 2)),
                v_11[:, 116:117, :].reshape((1, 2)),
                v_11[:, 117:118, :].reshape((1, 2)),
                v_11[:, 118:119, :].reshape((1, 2)),
                v_11[:, 119:120, :].reshape((1, 2)),
                v_11[:, 120:121, :].reshape((1, 2)),
                v_11[:, 121:122, :].reshape((1, 2)),
                v_11[:, 122:123, :].reshape((1, 2)),
                v_11[:, 123:124, :].reshape((1, 2)),
                v_11[:, 124:125, :].reshape((1, 2)),
                v_11[:, 125:126, :].reshape((1, 2)),
                v_11[:, 126:127, :].reshape((1, 2)),
                v_11[:, 127:128, :].reshape((1, 2)),
            ],
            axis=1,
        )
        v_13 = jnp.broadcast_to((v_12.reshape((256,)) != 0).astype(jnp.int32)[:, None], (256, 128))  # quantized.py:20
        v_14 = v_13 != 0  # quantized.py:20
        v_15 = (  # quantized.py:21
            jax.lax.broadcasted_iota(jnp.int32, (256,), 0) + jnp.broadcast_to(jnp.asarray(begin, jnp.int32), (256,))
        )
        v_16 = jnp.broadcast_to((v_15 < 300).astype(jnp.int32), (32, 256)) != 0  # quantized.py:21
        x = x_ref[:, pl.ds(pl.multiple_of(begin, 256), 256)]  # quantized.py:21
        both_2 = jnp.where(v_14, both, 0.0)  # quantized.py:21
        acc_3 = acc_2 + jnp.dot(  # quantized.py:21
            jnp.where(v_16, x, 0.0), both_2, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        v_17 = v_3.astype(jnp.int32)  # quantized.py:21
        return (acc_3, v_17)

    acc_4, acc_5 = jax.lax.fori_loop(0, 2, pair_body, (acc, v), unroll=2)  # quantized.py:17
    acc_6 = acc_5 != 0  # quantized.py:17
    old = out_ref[...]  # quantized.py:22
    new = jnp.where(acc_6, acc_4, old)  # quantized.py:22
    out_ref[...] = new  # quantized.py:22


def int4_matmul(x, packed):
    out = pl.pallas_call(  # quantized.py:15
        int4_matmul_kernel,
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((256, 128), lambda tile_m, tile_n: (0, tile_n)),
            pl.BlockSpec((32, 512), lambda tile_m, tile_n: (tile_m, 0)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((35, 200), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="int4_matmul",
    )(packed, x)
    return out
