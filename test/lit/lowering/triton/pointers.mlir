// RUN: kopt %s -p 'pad-to-power-of-two,insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py --entry blocks | filecheck %s

// What is the same in all lanes of a block moves the array's pointer, whichever dimension it is of.
// CHECK-LABEL: def blocks_0_kernel(x, y, BLOCK_1: tl.constexpr):
// CHECK:      v = tl.load(x + i * 4096 + j)
// CHECK:      tl.store(y + (i * 262144 + i) + j * 64, v)
func.func @blocks(%x: memref<64x4096xf32>, %y: memref<64x4096x64xf32>) {
  tile.grid (%i: b0=1, %j: b1=128) in (64, 4096) {
    %n = tile.begin %i : !tile.range<b0=1>
    %v = tile.load %x[%n, %j] : memref<64x4096xf32> -> !tile.tile<b1=128 x f32>
    tile.store %v, %y[%n, %j, %n] : !tile.tile<b1=128 x f32>, memref<64x4096x64xf32>
  }
  func.return
}
