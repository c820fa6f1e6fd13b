// A loop under a condition; in another one a condition guards reads, and what is carried decides which lanes count.
func.func @conditions(%x: memref<32x512xf32>, %keep: memref<32x512xi1>) -> (memref<32xf32>, memref<32x512xf32>) {
  %sums = host.alloc : memref<32xf32>
  %out = host.alloc fill 1.0 : memref<32x512xf32>
  tile.grid (%i: b0=8) in (32) {
    %n = tile.id %i : !tile.range<b0=8>
    %c2 = arith.constant 2 : index
    %low = arith.cmpi slt, %n, %c2 : index
    scf.if %low {
      tile.for %k: b1=128 in (0, 512) {
        %v = tile.load %x[%i, %k] : memref<32x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<32x512xf32>
      }
    }
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %j: b2=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %m = tile.id %j : !tile.range<b2=128>
      %early = arith.cmpi slt, %m, %c2 : index
      %b = scf.if %early -> (!tile.tile<b0=8 x f32>) {
        %v = tile.load %x[%i, %j] : memref<32x512xf32> -> !tile.tile<b0=8 x b2=128 x f32>
        %k = tile.load %keep[%i, %j] : memref<32x512xi1> -> !tile.tile<b0=8 x b2=128 x i1>
        %zeros = tile.full 0.0 : !tile.tile<b0=8 x b2=128 x f32>
        %w = tile.select %k, %v, %zeros : !tile.tile<b0=8 x b2=128 x f32>
        %s = tile.reduce add %w [1] : !tile.tile<b0=8 x b2=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        scf.yield %t : !tile.tile<b0=8 x f32>
      } else {
        scf.yield %a : !tile.tile<b0=8 x f32>
      }
      tile.yield %b : !tile.tile<b0=8 x f32>
    }
    tile.store %r, %sums[%i] : !tile.tile<b0=8 x f32>, memref<32xf32>
  }
  func.return %sums, %out : memref<32xf32>, memref<32x512xf32>
}
