// RUN: kopt %s -p 'convert-tile-to-triton' -t triton-py | filecheck %s

// Functions of the kernel's own are functions of the module; sorts are a helper's compare network.
// CHECK: def _precedes(
// CHECK: def _sort(x, lane, axis: tl.constexpr, rounds: tl.constexpr, descending: tl.constexpr):
// CHECK: @triton.jit
// CHECK-NEXT: def _combine(l, r):
// CHECK: return l * r
// CHECK: @triton.jit
// CHECK-NEXT: def _combine_2(a, p, b, q):
// CHECK: above = a > b
// CHECK: return tl.where(above, a, b), tl.where(above, p, q)
// CHECK: def f_0_kernel(
// CHECK: s = tl.associative_scan(v, 1, _combine, reverse=True)
// CHECK: _, where = tl.reduce((v, n), 1, _combine_2)
// CHECK: _, numbers = _sort(v, tl.broadcast_to(tl.arange(0, 128)[None, :], [BLOCK_0, 128]), 1, 7, True)
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
