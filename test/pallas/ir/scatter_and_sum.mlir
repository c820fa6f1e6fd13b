// Rows updated by computed numbers beside an affine sum: cells run in order for one, and accumulate for the other.
func.func @scatter_and_sum(%idx: memref<100xi32>, %v: memref<100x200xf32>, %out: memref<300x200xf32>, %sum: memref<200xf32>) {
  tile.grid (%i: b0=32, %j: b1=128) in (100, 200) {
    %a = tile.load %v[%i, %j] : memref<100x200xf32> -> !tile.tile<b0=32 x b1=128 x f32>
    %n = tile.load %idx[%i] : memref<100xi32> -> !tile.tile<b0=32 x i32>
    atomic.rmw add %a, %out[%n, %j] : !tile.tile<b0=32 x b1=128 x f32>, memref<300x200xf32>
    %s = tile.reduce add %a [0] : !tile.tile<b0=32 x b1=128 x f32>
    atomic.rmw add %s, %sum[%j] : !tile.tile<b1=128 x f32>, memref<200xf32>
  }
  func.return
}
