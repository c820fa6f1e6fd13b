"""The torch operators that `host.call` may name: functional ones of ATen, with their overloads.

IR may come from strangers, and torch's operators also open files, change their arguments and load code: only what
stands here is ever called, by every target alike. Each name is followed by its overloads, where it has others than
``default``.
"""

from __future__ import annotations

import re
from functools import cache

from kopt.registry import did_you_mean

#: Elementwise operators, and reductions that share a name with one.
_POINTWISE = """
abs acos acosh add(Tensor Scalar) addcdiv addcmul angle asin asinh atan atan2 atanh bitwise_and(Tensor Scalar
Scalar_Tensor) bitwise_left_shift(Tensor Tensor_Scalar Scalar_Tensor) bitwise_not bitwise_or(Tensor Scalar
Scalar_Tensor) bitwise_right_shift(Tensor Tensor_Scalar Scalar_Tensor) bitwise_xor(Tensor Scalar Scalar_Tensor) ceil
celu clamp(default Tensor) clamp_max(default Tensor) clamp_min(default Tensor) clip(default Tensor) clone
copysign(Tensor Scalar) cos cosh deg2rad digamma div(Tensor Scalar Tensor_mode Scalar_mode) elu eq(Tensor Scalar) erf
erfc erfinv exp exp2 expm1 floor fmax fmin fmod(Tensor Scalar) frac frexp(Tensor) gcd ge(Tensor Scalar) gelu gt(Tensor
Scalar) hardshrink hardsigmoid hardtanh heaviside hypot i0 igamma igammac isfinite isinf isnan isneginf isposinf lcm
ldexp(Tensor) le(Tensor Scalar) leaky_relu lerp(Scalar Tensor) lgamma log log10 log1p log2 logaddexp logaddexp2
logical_and logical_not logical_or logical_xor logit __lshift__(Tensor Scalar) lt(Tensor Scalar) masked_fill(Scalar
Tensor) max(other default dim) maximum min(other default dim) minimum mish mul(Tensor Scalar) mvlgamma nan_to_num
ne(Tensor Scalar) neg nextafter polygamma positive pow(Tensor_Tensor Tensor_Scalar Scalar) rad2deg reciprocal relu
relu6 remainder(Tensor Scalar Scalar_Tensor) round(default decimals) __rshift__(Tensor Scalar) rsqrt rsub(Tensor
Scalar) selu sgn sigmoid sign signbit silu sin sinc sinh softplus softshrink special_bessel_j0 special_bessel_j1
special_entr special_erfcx special_i0e special_i1 special_i1e special_log_ndtr special_ndtri special_xlog1py(default
other_scalar self_scalar) special_zeta(default other_scalar self_scalar) sqrt square sub(Tensor Scalar) tan tanh
threshold true_divide(Tensor Scalar) trunc where(self ScalarOther ScalarSelf Scalar default) xlogy(Tensor Scalar_Other
Scalar_Self) __xor__(Tensor Scalar)
"""

#: Operators of random numbers.
_RANDOM = """
bernoulli(default p Tensor) native_dropout normal(Tensor_float float_Tensor Tensor_Tensor float_float) rand rand_like
randint(default low) randint_like(default Tensor low_dtype) randn randn_like randperm
_scaled_dot_product_flash_attention_for_cpu uniform
"""

#: Reductions, shapes, indexing, linear algebra, layers.
_OTHERS = """
absolute _adaptive_avg_pool2d adaptive_max_pool2d adaptive_max_pool3d addbmm addmm(default dtype) addmv addr
affine_grid_generator alias alias_copy all(default dim dims) amax amin aminmax __and__(Scalar Tensor) any(default dim
dims) arange(default start start_step) arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin as_strided
as_strided_copy as_strided_scatter avg_pool2d avg_pool3d baddbmm(default dtype) binary_cross_entropy
binary_cross_entropy_with_logits bmm(default dtype) bucketize(Tensor Scalar) cat _cdist_forward cholesky
cholesky_inverse cholesky_solve col2im constant_pad_nd conv2d(default padding) convolution count_nonzero(default
dim_IntList) cummax cummin cumprod cumsum detach diag diag_embed diagonal diagonal_copy diagonal_scatter dist
divide(Tensor Scalar Tensor_mode Scalar_mode) dot embedding expand expand_copy eye(default m) fix flip
floor_divide(default Scalar) fractional_max_pool2d full full_like _fused_rms_norm gather glu greater(Tensor Scalar)
greater_equal(Tensor Scalar) grid_sampler_2d grid_sampler_3d _grouped_mm hardswish hinge_embedding_loss huber_loss
im2col index(Tensor Tensor_hacked_twin) index_add index_copy index_fill(int_Tensor int_Scalar) index_put(default
hacked_twin) index_reduce index_select _int_mm isin(Tensor_Tensor Tensor_Scalar Scalar_Tensor) kthvalue less(Tensor
Scalar) less_equal(Tensor Scalar) linalg_cholesky_ex linalg_cross _linalg_det _linalg_eigh linalg_householder_product
linalg_inv_ex linalg_ldl_factor_ex linalg_ldl_solve linalg_lu linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp
linalg_qr _linalg_slogdet _linalg_solve_ex linalg_solve_triangular _linalg_svd linalg_vector_norm linear
linspace(Tensor_Tensor Tensor_Scalar Scalar_Tensor default) log_sigmoid_forward _log_softmax logcumsumexp
logspace(Tensor_Tensor Tensor_Scalar Scalar_Tensor default) logsumexp lu_unpack margin_ranking_loss masked_scatter
matmul max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d mean(default dim) median(default dim)
meshgrid(default indexing) mm(default dtype) mode mse_loss multi_margin_loss multilabel_margin_loss_forward
multiply(Tensor Scalar) mv nanmedian(default dim) nansum narrow(default Tensor) narrow_copy native_batch_norm
_native_batch_norm_legit(no_stats) _native_batch_norm_legit_no_training native_group_norm native_layer_norm negative
new_full new_ones new_zeros nll_loss nll_loss2d_forward nll_loss_forward norm(Scalar ScalarOpt_dim ScalarOpt_dim_dtype
ScalarOpt_dtype) not_equal(Tensor Scalar) one_hot ones ones_like __or__(Tensor Scalar) ormqr pairwise_distance permute
permute_copy pixel_shuffle pixel_unshuffle prelu prod(default dim_int) reflection_pad1d reflection_pad2d
reflection_pad3d renorm repeat repeat_interleave(self_Tensor self_int) replication_pad1d replication_pad2d
replication_pad3d reshape roll rot90 _safe_softmax scalar_tensor _scaled_mm scatter(value src reduce value_reduce)
scatter_add scatter_reduce(two) searchsorted(Tensor Scalar) select(int) select_scatter slice(Tensor) slice_scatter
smooth_l1_loss soft_margin_loss _softmax sort(default stable) special_ndtr split(Tensor sizes default)
split_with_sizes split_with_sizes_copy squeeze(default dim dims) squeeze_copy(default dim dims) stack std(default dim
correction) std_mean(default dim correction) subtract(Tensor Scalar) sum(dim_IntList default) t t_copy take
tensor_split(sections indices tensor_indices_or_sections) _to_copy topk trace transpose(int) transpose_copy(int) tril
tril_indices triu triu_indices unbind(int) unbind_copy(int) unfold unfold_copy unsafe_chunk _unsafe_index(Tensor
Tensor_hacked_twin) unsafe_split(Tensor) unsafe_split_with_sizes _unsafe_view unsqueeze unsqueeze_copy
upsample_bicubic2d(default vec) upsample_bilinear2d(default vec) upsample_linear1d(default vec)
upsample_nearest1d(default vec) upsample_nearest2d(default vec) upsample_nearest3d(default vec)
upsample_trilinear3d(default vec) var(default dim correction) var_mean(default dim correction) vdot view(default
dtype) view_copy(default dtype) zero zeros zeros_like
"""

#: Others whose results torch lays out in row-major order too, where the operands are: no views of them, and nothing
#: that LAPACK computes, which counts from the first column.
_ROW_MAJOR = """
addmm addmv addr all amax amin aminmax any arange argmax argmin baddbmm bmm bucketize cat constant_pad_nd
count_nonzero cummax cummin cumprod cumsum dot embedding eye floor_divide full full_like gather hardswish index_add
index_copy index_fill index_put index_select isin linspace log_sigmoid_forward _log_softmax logcumsumexp logsumexp
matmul mean mm mv native_layer_norm new_full new_ones new_zeros ones ones_like prod repeat scalar_tensor scatter
scatter_add scatter_reduce searchsorted _softmax stack std sum _to_copy tril triu var zeros zeros_like
"""

#: What is not ATen's.
_FOREIGN = ("prims.convert_element_type.default", "kopt.saturate_to_i32")

#: The arguments that may be given by name; where results are placed is not for IR to say.
KEYWORDS = frozenset(
    """
    adjoint alpha approximate assume_unique attn_mask beta correction decimals descending dim dtype hermitian
    include_self indexing invert keepdim left out_int32 output_size pivot reduce right rounding_mode scale side
    sorter sparse_grad stable unitriangular upper value
    """.split()
)


def _entries(table: str) -> list[tuple[str, str]]:
    """The names in a table, each with its overloads."""
    return re.findall(r"(\w+)(?:\(([^)]*)\))?", table)


@cache
def operators() -> frozenset[str]:
    """The full names of all operators: ``aten.add.Tensor``."""
    found = _entries(f"{_POINTWISE} {_RANDOM} {_OTHERS}")
    names = (f"aten.{name}.{overload}" for name, overloads in found for overload in (overloads or "default").split())
    return frozenset((*names, *_FOREIGN))


@cache
def _packets(table: str) -> frozenset[str]:
    """The names in a table, without overloads: ``aten.add``."""
    return frozenset(f"aten.{name}" for name, _ in _entries(table))


def keeps_row_major(callee: str) -> bool:
    """Whether torch's results of an operator are in row-major order, if its operands are."""
    name = callee.rpartition(".")[0]
    return name == "prims.convert_element_type" or name in _packets(f"{_POINTWISE} {_RANDOM} {_ROW_MAJOR}")


def draws_numbers(callee: str) -> bool:
    """Whether an operator gives other results at each call: random numbers."""
    return callee.rpartition(".")[0] in _packets(_RANDOM)


def problem(callee: str) -> str | None:
    """Why IR may not call an operator, or None where it may."""
    if callee in operators():
        return None
    shown = callee if len(callee) < 80 else f"{callee[:80]}…"
    return f"{shown!r} is no operator that programs may call{did_you_mean(callee[:80], operators())}"
