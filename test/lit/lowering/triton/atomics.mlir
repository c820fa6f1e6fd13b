// RUN: kopt %s -p 'insert-masks,convert-tile-to-triton' -t triton-py --entry f | filecheck %s

// Updates are statements, or lines with a name; masks are those of ragged ranges. NaN of floats goes to the end that
// wins; lanes that share an element have a pointer each.
// CHECK-LABEL: def _nan_above(x):
// CHECK-LABEL: def f_0_kernel(x, n, BLOCK_0: tl.constexpr):
// CHECK: tl.atomic_add(x + i, v, mask=i_mask, sem="release", scope="gpu")
// CHECK: tl.atomic_max(x + i, _nan_above(v), mask=i_mask, sem="relaxed", scope="gpu")
// CHECK: tl.atomic_max(x + i, 2.0, mask=i_mask, sem="relaxed", scope="gpu")
// CHECK: old = tl.atomic_add(tl.broadcast_to(n, [BLOCK_0]), 1, mask=i_mask, sem="relaxed", scope="gpu")
// CHECK: was = tl.atomic_cas(
// CHECK-NEXT: tl.where(i_mask, n + i, n),
// CHECK-NEXT: old,
// CHECK-NEXT: tl.where(i_mask, tl.zeros([BLOCK_0], tl.int32), old),
// CHECK-NEXT: sem="acquire",
// CHECK: tl.atomic_xor(n + 3, sum_2, sem="relaxed", scope="gpu")
func.func @f(%x: memref<100xf32>, %n: memref<100xi32>) {
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    %two = tile.full 2.0 : !tile.tile<b0=32 x f32>
    %zero = tile.full 0 : !tile.tile<b0=32 x i32>
    %one = tile.full 1 : !tile.tile<b0=32 x i32>
    atomic.rmw add %v, %x[%i] ordering release : !tile.tile<b0=32 x f32>, memref<100xf32>
    atomic.rmw max %v, %x[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    atomic.rmw max %two, %x[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    %old = atomic.rmw add %one, %n[%zero] : !tile.tile<b0=32 x i32>, memref<100xi32> -> !tile.tile<b0=32 x i32>
    %was = atomic.cas %old, %zero, %n[%i] ordering acquire : !tile.tile<b0=32 x i32>, memref<100xi32>
    %sum = tile.reduce add %was [0] : !tile.tile<b0=32 x i32>
    atomic.rmw xor %sum, %n[3] : !tile.tile<i32>, memref<100xi32>
  }
  func.return
}
