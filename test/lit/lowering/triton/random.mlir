// RUN: kopt %s -p 'convert-tile-to-triton' -t triton-py | filecheck %s

// Random bits are Triton's own Philox.
// CHECK: def _philox(offset, low, high):
// CHECK: tl.philox_impl(
// CHECK: def f_0_kernel(s, out, BLOCK_0: tl.constexpr):
// CHECK: low = tl.load(s)
// CHECK: a, b, c, d = _philox(i, low, tl.full([], 7, tl.int32))
// CHECK: a ^ c
func.func @f(%s: memref<i32>) -> memref<256xi32> {
  %out = host.alloc : memref<256xi32>
  tile.grid (%i: b0=128) in (256) {
    %low = tile.load %s[] : memref<i32> -> !tile.tile<i32>
    %high = tile.full 7 : !tile.tile<i32>
    %n = tile.index %i : !tile.range<b0=128>
    %a, %b, %c, %d = tile.philox %n key %low, %high : !tile.tile<b0=128 x i32>
    %v = tile.xor %a, %c : !tile.tile<b0=128 x i32>
    tile.store %v, %out[%i] : !tile.tile<b0=128 x i32>, memref<256xi32>
  }
  func.return %out : memref<256xi32>
}
