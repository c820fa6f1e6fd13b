// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only,plan-accesses,apply-schedule,bind-buffers' | filecheck %s

// Rows by computed numbers are gets and puts of arrays in HBM, which become a DMA each: their numbers tell which ones are
// stored, so the mask goes.
// CHECK: pallas.call @rows({{.+}}) windows [{{.*}}<[500, 256], (d0) -> (0, 0), hbm>
// CHECK-NOT: tile.ge %
// CHECK: %v = tile.get {{%.+}}[%n, :] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x 256 x f32>
// CHECK: tile.put %v, %new_out[%n, :] : !tile.tile<b0=8 x 256 x f32>, !tile.ref<700 x 256 x f32, hbm>
func.func @rows(%idx: memref<64xi32>, %x: memref<500x256xf32>, %out: memref<700x256xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %n = tile.load %idx[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.load %x[%n, :] : memref<500x256xf32> -> !tile.tile<b0=8 x 256 x f32>
    %z = tile.full 0 : !tile.tile<b0=8 x i32>
    %stored = tile.ge %n, %z : !tile.tile<b0=8 x i32>
    %mask = tile.broadcast %stored dims [0] : !tile.tile<b0=8 x i1> to !tile.tile<b0=8 x 256 x i1>
    tile.store %v, %out[%n, :] mask %mask {space = "hbm"} : !tile.tile<b0=8 x 256 x f32>, memref<700x256xf32>
  }
  func.return
}
