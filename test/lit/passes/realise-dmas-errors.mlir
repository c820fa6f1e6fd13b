// RUN: kopt %s --verify-diagnostics -p realise-dmas

// A row that is sent has no lanes that are not its own: a part of a tile of memory cannot be written.
func.func @sent(%ids: memref<64xi32>, %x: memref<64x256xf32>, %old: memref<500x256xf32>) -> memref<500x256xf32> {
  %out = pallas.call @sent(%ids, %x, %old) windows [<[8], (d0, d1) -> (d0), vmem>, <[8, 64], (d0, d1) -> (d0, d1), vmem>, <[500, 256], (d0, d1) -> (0, 0), hbm>, <[500, 256], (d0, d1) -> (0, 0), hbm>] semantics (arbitrary, arbitrary) aliases [2] : (memref<64xi32>, memref<64x256xf32>, memref<500x256xf32>) -> (memref<500x256xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<8 x 64 x f32, vmem>, %old_ref: !tile.ref<500 x 256 x f32, hbm>, %new_ref: !tile.ref<500 x 256 x f32, hbm>):
    tile.grid (%i: b0=8, %j: b1=64) in (64, 256) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 64 x f32, vmem> -> !tile.tile<b0=8 x b1=64 x f32>
      // expected-error@+1 {{DMAs move whole tiles of memory, which these blocks of rows are not}}
      tile.put %v, %new_ref[%n, %j] : !tile.tile<b0=8 x b1=64 x f32>, !tile.ref<500 x 256 x f32, hbm>
    }
  }
  func.return %out : memref<500x256xf32>
}
