// RUN: kopt %s -t triton-py --allow-inline | filecheck %s

// Functions that IR brings are defined before those that call them, by names that are free: what else has such a name,
// as an attribute, stays. A call without results is a statement. f64 is exchanged as integers; blocks beyond 32 bits
// are counted in 64; a mask without limits is what it masks, and what nobody reads is not loaded.
// CHECK: def is_good(x):
// CHECK-NEXT: return x > 0
// CHECK: def check(x):
// CHECK-NEXT: tl.device_assert(is_good(x) and self.is_good)
// CHECK: def is_good_2(x):
// CHECK-NEXT: return x > 1
// CHECK: def both(x):
// CHECK-NEXT: return x, is_good_2(x)
// CHECK: def far_0_kernel(a, BLOCK_0: tl.constexpr):
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: pid = tl.program_id(0)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: i = pid.to(tl.int64) * BLOCK_0 + tl.arange(0, BLOCK_0)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: v = tl.load(a + i.to(tl.int64))
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: tl.store(a + i.to(tl.int64), v)
// CHECK: def inline_0_kernel(a, BLOCK_1: tl.constexpr):
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: pid = tl.program_id(0)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: i = pid * BLOCK_1 + tl.arange(0, BLOCK_1)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: v = tl.load(a + i)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: check(v)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: w, w_2 = both(v)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: old = tl.atomic_xchg(
// CHECK-NEXT: (a + i).to(tl.pointer_type(tl.int64), bitcast=True), w.to(tl.int64, bitcast=True), sem="relaxed", scope="gpu"
// CHECK-NEXT: ).to(tl.float64, bitcast=True)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: tl.store(a + i, old, mask=w_2)
// CHECK: def mask_0_kernel(a, BLOCK_2: tl.constexpr):
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: pid = tl.program_id(0)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: i = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: v = tl.load(a + (i[:, None] * 16 + tl.arange(0, 16)[None, :]))
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: tl.store(a + (i[:, None] * 16 + tl.arange(0, 16)[None, :]), v)
// CHECK: def f(x, y, z):
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: far_0_kernel[(4194304,)](x, BLOCK_0=1024, num_warps=4, num_stages=1)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: inline_0_kernel[(1,)](y, BLOCK_1=64, num_warps=4, num_stages=1)
// CHECK-NEXT: # {{.*}}
// CHECK-NEXT: mask_0_kernel[(1,)](z, BLOCK_2=8, num_warps=4, num_stages=1)
func.func @f(%x: memref<4294967296xi8>, %y: memref<64xf64>, %z: memref<8x16xf32>) {
  triton.launch @far_0 (%a = %x) grid (4194304) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 4294967296) : !tile.range<b0=1024>
    %v = tile.load %a[%i] : memref<4294967296xi8> -> !tile.tile<b0=1024 x i8>
    tile.store %v, %a[%i] : !tile.tile<b0=1024 x i8>, memref<4294967296xi8>
  }
  triton.launch @inline_0 (%a = %y) grid (1) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 64) : !tile.range<b1=64>
    %v = tile.load %a[%i] : memref<64xf64> -> !tile.tile<b1=64 x f64>
    triton.inline "check"(%v) functions = {is_good = "(x):\n    return x > 0", check = "(x):\n    tl.device_assert(is_good(x) and self.is_good)"} : (!tile.tile<b1=64 x f64>) -> ()
    %w:2 = triton.inline "both"(%v) functions = {is_good = "(x):\n    return x > 1", both = "(x):\n    return x, is_good(x)"} : (!tile.tile<b1=64 x f64>) -> (!tile.tile<b1=64 x f64>, !tile.tile<b1=64 x i1>)
    %old = atomic.rmw xchg %w#0, %a[%i] : !tile.tile<b1=64 x f64>, memref<64xf64> -> !tile.tile<b1=64 x f64>
    tile.store %old, %a[%i] mask %w#1 : !tile.tile<b1=64 x f64>, memref<64xf64>
  }
  triton.launch @mask_0 (%a = %z) grid (1) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 8) : !tile.range<b2=8>
    %unread = tile.load %a[%i, :] : memref<8x16xf32> -> !tile.tile<b2=8 x 16 x f32>
    %v = tile.load %a[%i, :] : memref<8x16xf32> -> !tile.tile<b2=8 x 16 x f32>
    %m = tile.mask %v in (%i, _) else 2.0 : !tile.tile<b2=8 x 16 x f32>
    %n = tile.mask %m in (_, _) else 1.0 : !tile.tile<b2=8 x 16 x f32>
    %unused = tile.exp %n : !tile.tile<b2=8 x 16 x f32>
    tile.store %n, %a[%i, :] : !tile.tile<b2=8 x 16 x f32>, memref<8x16xf32>
  }
  func.return
}
