// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses,apply-schedule,legalise-element-types,bind-buffers' -t pallas-py | filecheck %s

// Functions of the kernel's own stand before what uses them; scans, reductions and sorts are helpers in steps that double.
// CHECK: def _associative_scan(combine, arrays, axis, reverse=False):
// CHECK: def _associative_reduce(combine, arrays, axis):
// CHECK: def _sort(x, axis, descending, last):
// CHECK: def combine(l, r):
// CHECK-NEXT: c = l * r
// CHECK-NEXT: return (c,)
// CHECK: s = _associative_scan(combine, (v,), 1, reverse=True)[0]
// CHECK: def combine_2(a, p, b, q):
// CHECK-NEXT: above = a > b
// CHECK-NEXT: c_2 = jnp.where(above, a, b)
// CHECK-NEXT: d = jnp.where(above, p, q)
// CHECK-NEXT: return (c_2, d)
// CHECK: _, where = _associative_reduce(combine_2, (v, n), 1)
// CHECK: _, numbers = _sort(v, 1, True, -jnp.inf)
func.func @f(%x: memref<8x128xf32>, %k: memref<8x128xi32>) -> (memref<8x128xf32>, memref<8xi32>, memref<8x128xi32>) {
  %out = host.alloc : memref<8x128xf32>
  %place = host.alloc : memref<8xi32>
  %order = host.alloc : memref<8x128xi32>
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i, :] : memref<8x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %n = tile.load %k[%i, :] : memref<8x128xi32> -> !tile.tile<b0=8 x 128 x i32>
    %s = tile.associative_scan %v dim 1 reverse : !tile.tile<b0=8 x 128 x f32> {
    ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
      %c = tile.mul %l, %r : !tile.tile<f32>
      tile.yield %c : !tile.tile<f32>
    }
    %best, %where = tile.associative_reduce %v, %n dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 128 x i32> {
    ^bb0(%a: !tile.tile<f32>, %p: !tile.tile<i32>, %b: !tile.tile<f32>, %q: !tile.tile<i32>):
      %above = tile.gt %a, %b : !tile.tile<f32>
      %c = tile.select %above, %a, %b : !tile.tile<f32>
      %d = tile.select %above, %p, %q : !tile.tile<i32>
      tile.yield %c, %d : !tile.tile<f32>, !tile.tile<i32>
    }
    %sorted, %numbers = tile.sort %v dim 1 descending : !tile.tile<b0=8 x 128 x f32>
    tile.store %s, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<8x128xf32>
    tile.store %where, %place[%i] : !tile.tile<b0=8 x i32>, memref<8xi32>
    tile.store %numbers, %order[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<8x128xi32>
  }
  func.return %out, %place, %order : memref<8x128xf32>, memref<8xi32>, memref<8x128xi32>
}
