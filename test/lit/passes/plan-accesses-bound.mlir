// Grids of a GPU are planned before they are launches; that of a pallas.call has its blocks bound, and gets no plan.
// RUN: kopt %s -p 'plan-accesses{chip=sm90}' | filecheck %s

// CHECK-LABEL: func.func @filled
// CHECK: tile.grid (%g: g0=1) in (1) {
func.func @filled(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @filled_kernel(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [0] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}
