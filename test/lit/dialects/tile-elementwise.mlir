// Every row of the elementwise table, in the types that it takes.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @elementwise(%f: memref<8xf32>, %d: memref<8xf64>, %n: memref<8xi32>, %b: memref<8xi1>) {
  tile.grid (%i: b0=8) in (8) {
    %x = tile.load %f[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    %w = tile.load %d[%i] : memref<8xf64> -> !tile.tile<b0=8 x f64>
    %k = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %t = tile.load %b[%i] : memref<8xi1> -> !tile.tile<b0=8 x i1>
    // CHECK: tile.neg %x : !tile.tile<b0=8 x f32>
    %neg_x = tile.neg %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.neg %k : !tile.tile<b0=8 x i32>
    %neg_k = tile.neg %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.abs %x : !tile.tile<b0=8 x f32>
    %abs_x = tile.abs %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.abs %k : !tile.tile<b0=8 x i32>
    %abs_k = tile.abs %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.sign %x : !tile.tile<b0=8 x f32>
    %sign_x = tile.sign %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.sign %k : !tile.tile<b0=8 x i32>
    %sign_k = tile.sign %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.add %x, %x : !tile.tile<b0=8 x f32>
    %add_x = tile.add %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.add %k, %k : !tile.tile<b0=8 x i32>
    %add_k = tile.add %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.sub %x, %x : !tile.tile<b0=8 x f32>
    %sub_x = tile.sub %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.sub %k, %k : !tile.tile<b0=8 x i32>
    %sub_k = tile.sub %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.mul %x, %x : !tile.tile<b0=8 x f32>
    %mul_x = tile.mul %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.mul %k, %k : !tile.tile<b0=8 x i32>
    %mul_k = tile.mul %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.div %x, %x : !tile.tile<b0=8 x f32>
    %div_x = tile.div %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.div %w, %w : !tile.tile<b0=8 x f64>
    %div_w = tile.div %w, %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.floordiv %x, %x : !tile.tile<b0=8 x f32>
    %floordiv_x = tile.floordiv %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.floordiv %k, %k : !tile.tile<b0=8 x i32>
    %floordiv_k = tile.floordiv %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.truncdiv %x, %x : !tile.tile<b0=8 x f32>
    %truncdiv_x = tile.truncdiv %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.truncdiv %k, %k : !tile.tile<b0=8 x i32>
    %truncdiv_k = tile.truncdiv %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.mod %x, %x : !tile.tile<b0=8 x f32>
    %mod_x = tile.mod %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.mod %k, %k : !tile.tile<b0=8 x i32>
    %mod_k = tile.mod %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.rem %x, %x : !tile.tile<b0=8 x f32>
    %rem_x = tile.rem %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.rem %k, %k : !tile.tile<b0=8 x i32>
    %rem_k = tile.rem %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.pow %x, %x : !tile.tile<b0=8 x f32>
    %pow_x = tile.pow %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.pow %k, %k : !tile.tile<b0=8 x i32>
    %pow_k = tile.pow %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.maximum %x, %x : !tile.tile<b0=8 x f32>
    %maximum_x = tile.maximum %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.maximum %k, %k : !tile.tile<b0=8 x i32>
    %maximum_k = tile.maximum %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.minimum %x, %x : !tile.tile<b0=8 x f32>
    %minimum_x = tile.minimum %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.minimum %k, %k : !tile.tile<b0=8 x i32>
    %minimum_k = tile.minimum %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.fmax %x, %x : !tile.tile<b0=8 x f32>
    %fmax_x = tile.fmax %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.fmax %w, %w : !tile.tile<b0=8 x f64>
    %fmax_w = tile.fmax %w, %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.fmin %x, %x : !tile.tile<b0=8 x f32>
    %fmin_x = tile.fmin %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.fmin %w, %w : !tile.tile<b0=8 x f64>
    %fmin_w = tile.fmin %w, %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.atan2 %x, %x : !tile.tile<b0=8 x f32>
    %atan2_x = tile.atan2 %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.atan2 %w, %w : !tile.tile<b0=8 x f64>
    %atan2_w = tile.atan2 %w, %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.copysign %x, %x : !tile.tile<b0=8 x f32>
    %copysign_x = tile.copysign %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.copysign %w, %w : !tile.tile<b0=8 x f64>
    %copysign_w = tile.copysign %w, %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.fma %x, %x, %x : !tile.tile<b0=8 x f32>
    %fma_x = tile.fma %x, %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.fma %w, %w, %w : !tile.tile<b0=8 x f64>
    %fma_w = tile.fma %w, %w, %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.exp %x : !tile.tile<b0=8 x f32>
    %exp_x = tile.exp %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.exp %w : !tile.tile<b0=8 x f64>
    %exp_w = tile.exp %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.exp2 %x : !tile.tile<b0=8 x f32>
    %exp2_x = tile.exp2 %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.exp2 %w : !tile.tile<b0=8 x f64>
    %exp2_w = tile.exp2 %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.expm1 %x : !tile.tile<b0=8 x f32>
    %expm1_x = tile.expm1 %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.expm1 %w : !tile.tile<b0=8 x f64>
    %expm1_w = tile.expm1 %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.log %x : !tile.tile<b0=8 x f32>
    %log_x = tile.log %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.log %w : !tile.tile<b0=8 x f64>
    %log_w = tile.log %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.log2 %x : !tile.tile<b0=8 x f32>
    %log2_x = tile.log2 %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.log2 %w : !tile.tile<b0=8 x f64>
    %log2_w = tile.log2 %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.log10 %x : !tile.tile<b0=8 x f32>
    %log10_x = tile.log10 %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.log10 %w : !tile.tile<b0=8 x f64>
    %log10_w = tile.log10 %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.log1p %x : !tile.tile<b0=8 x f32>
    %log1p_x = tile.log1p %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.log1p %w : !tile.tile<b0=8 x f64>
    %log1p_w = tile.log1p %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.sqrt %x : !tile.tile<b0=8 x f32>
    %sqrt_x = tile.sqrt %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.sqrt %w : !tile.tile<b0=8 x f64>
    %sqrt_w = tile.sqrt %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.rsqrt %x : !tile.tile<b0=8 x f32>
    %rsqrt_x = tile.rsqrt %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.rsqrt %w : !tile.tile<b0=8 x f64>
    %rsqrt_w = tile.rsqrt %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.reciprocal %x : !tile.tile<b0=8 x f32>
    %reciprocal_x = tile.reciprocal %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.reciprocal %w : !tile.tile<b0=8 x f64>
    %reciprocal_w = tile.reciprocal %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.sin %x : !tile.tile<b0=8 x f32>
    %sin_x = tile.sin %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.sin %w : !tile.tile<b0=8 x f64>
    %sin_w = tile.sin %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.cos %x : !tile.tile<b0=8 x f32>
    %cos_x = tile.cos %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.cos %w : !tile.tile<b0=8 x f64>
    %cos_w = tile.cos %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.tan %x : !tile.tile<b0=8 x f32>
    %tan_x = tile.tan %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.tan %w : !tile.tile<b0=8 x f64>
    %tan_w = tile.tan %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.asin %x : !tile.tile<b0=8 x f32>
    %asin_x = tile.asin %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.asin %w : !tile.tile<b0=8 x f64>
    %asin_w = tile.asin %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.acos %x : !tile.tile<b0=8 x f32>
    %acos_x = tile.acos %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.acos %w : !tile.tile<b0=8 x f64>
    %acos_w = tile.acos %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.atan %x : !tile.tile<b0=8 x f32>
    %atan_x = tile.atan %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.atan %w : !tile.tile<b0=8 x f64>
    %atan_w = tile.atan %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.sinh %x : !tile.tile<b0=8 x f32>
    %sinh_x = tile.sinh %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.sinh %w : !tile.tile<b0=8 x f64>
    %sinh_w = tile.sinh %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.cosh %x : !tile.tile<b0=8 x f32>
    %cosh_x = tile.cosh %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.cosh %w : !tile.tile<b0=8 x f64>
    %cosh_w = tile.cosh %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.tanh %x : !tile.tile<b0=8 x f32>
    %tanh_x = tile.tanh %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.tanh %w : !tile.tile<b0=8 x f64>
    %tanh_w = tile.tanh %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.asinh %x : !tile.tile<b0=8 x f32>
    %asinh_x = tile.asinh %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.asinh %w : !tile.tile<b0=8 x f64>
    %asinh_w = tile.asinh %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.acosh %x : !tile.tile<b0=8 x f32>
    %acosh_x = tile.acosh %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.acosh %w : !tile.tile<b0=8 x f64>
    %acosh_w = tile.acosh %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.atanh %x : !tile.tile<b0=8 x f32>
    %atanh_x = tile.atanh %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.atanh %w : !tile.tile<b0=8 x f64>
    %atanh_w = tile.atanh %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.erf %x : !tile.tile<b0=8 x f32>
    %erf_x = tile.erf %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.erf %w : !tile.tile<b0=8 x f64>
    %erf_w = tile.erf %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.sigmoid %x : !tile.tile<b0=8 x f32>
    %sigmoid_x = tile.sigmoid %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.sigmoid %w : !tile.tile<b0=8 x f64>
    %sigmoid_w = tile.sigmoid %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.floor %x : !tile.tile<b0=8 x f32>
    %floor_x = tile.floor %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.floor %w : !tile.tile<b0=8 x f64>
    %floor_w = tile.floor %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.ceil %x : !tile.tile<b0=8 x f32>
    %ceil_x = tile.ceil %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.ceil %w : !tile.tile<b0=8 x f64>
    %ceil_w = tile.ceil %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.round %x : !tile.tile<b0=8 x f32>
    %round_x = tile.round %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.round %w : !tile.tile<b0=8 x f64>
    %round_w = tile.round %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.trunc %x : !tile.tile<b0=8 x f32>
    %trunc_x = tile.trunc %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.trunc %w : !tile.tile<b0=8 x f64>
    %trunc_w = tile.trunc %w : !tile.tile<b0=8 x f64>
    // CHECK: tile.not %k : !tile.tile<b0=8 x i32>
    %not_k = tile.not %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.not %t : !tile.tile<b0=8 x i1>
    %not_t = tile.not %t : !tile.tile<b0=8 x i1>
    // CHECK: tile.and %k, %k : !tile.tile<b0=8 x i32>
    %and_k = tile.and %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.and %t, %t : !tile.tile<b0=8 x i1>
    %and_t = tile.and %t, %t : !tile.tile<b0=8 x i1>
    // CHECK: tile.or %k, %k : !tile.tile<b0=8 x i32>
    %or_k = tile.or %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.or %t, %t : !tile.tile<b0=8 x i1>
    %or_t = tile.or %t, %t : !tile.tile<b0=8 x i1>
    // CHECK: tile.xor %k, %k : !tile.tile<b0=8 x i32>
    %xor_k = tile.xor %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.xor %t, %t : !tile.tile<b0=8 x i1>
    %xor_t = tile.xor %t, %t : !tile.tile<b0=8 x i1>
    // CHECK: tile.shl %k, %k : !tile.tile<b0=8 x i32>
    %shl_k = tile.shl %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.shr %k, %k : !tile.tile<b0=8 x i32>
    %shr_k = tile.shr %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.eq %x, %x : !tile.tile<b0=8 x f32>
    %eq_x = tile.eq %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.eq %k, %k : !tile.tile<b0=8 x i32>
    %eq_k = tile.eq %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.ne %x, %x : !tile.tile<b0=8 x f32>
    %ne_x = tile.ne %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.ne %k, %k : !tile.tile<b0=8 x i32>
    %ne_k = tile.ne %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.lt %x, %x : !tile.tile<b0=8 x f32>
    %lt_x = tile.lt %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.lt %k, %k : !tile.tile<b0=8 x i32>
    %lt_k = tile.lt %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.le %x, %x : !tile.tile<b0=8 x f32>
    %le_x = tile.le %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.le %k, %k : !tile.tile<b0=8 x i32>
    %le_k = tile.le %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.gt %x, %x : !tile.tile<b0=8 x f32>
    %gt_x = tile.gt %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.gt %k, %k : !tile.tile<b0=8 x i32>
    %gt_k = tile.gt %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.ge %x, %x : !tile.tile<b0=8 x f32>
    %ge_x = tile.ge %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.ge %k, %k : !tile.tile<b0=8 x i32>
    %ge_k = tile.ge %k, %k : !tile.tile<b0=8 x i32>
    // CHECK: tile.isnan %x : !tile.tile<b0=8 x f32>
    %isnan_x = tile.isnan %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.isinf %x : !tile.tile<b0=8 x f32>
    %isinf_x = tile.isinf %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.select %t, %x, %x : !tile.tile<b0=8 x f32>
    %s = tile.select %t, %x, %x : !tile.tile<b0=8 x f32>
    // CHECK: tile.cast %x : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    %c = tile.cast %x : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    // CHECK: tile.cast %c : !tile.tile<b0=8 x bf16> to !tile.tile<b0=8 x f8E4M3FN>
    %c8 = tile.cast %c : !tile.tile<b0=8 x bf16> to !tile.tile<b0=8 x f8E4M3FN>
    // CHECK: tile.bitcast %c : !tile.tile<b0=8 x bf16> to !tile.tile<b0=8 x i16>
    %bits = tile.bitcast %c : !tile.tile<b0=8 x bf16> to !tile.tile<b0=8 x i16>
    // CHECK: tile.add %x, %x {note = "kept"} : !tile.tile<b0=8 x f32>
    %noted = tile.add %x, %x {note = "kept"} : !tile.tile<b0=8 x f32>
    // CHECK: tile.select %t, %x, %x {note = "kept"} : !tile.tile<b0=8 x f32>
    %chosen = tile.select %t, %x, %x {note = "kept"} : !tile.tile<b0=8 x f32>
    // CHECK: tile.cast %x {note = "kept"} : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x f16>
    %half = tile.cast %x {note = "kept"} : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x f16>
  }
  func.return
}
