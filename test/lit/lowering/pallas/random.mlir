// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses,apply-schedule,legalise-element-types,bind-buffers' -t pallas-py | filecheck %s

// Random bits are a helper function in 32-bit integers; a scalar comes as an array of one element.
// CHECK: def _mulhi(a, b):
// CHECK: def _philox(offset, k0, k1):
// CHECK: def f_kernel(s_ref, out_ref):
// CHECK: low = s_ref[0]
// CHECK-NEXT: high = jnp.asarray(7, jnp.int32)
// CHECK: a, _, c, _ = _philox(n, low, high)
// CHECK: s_2 = s.reshape((1,))
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
