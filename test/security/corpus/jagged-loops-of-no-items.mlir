// No items are dealt out to programs.
func.func @slices(%x: memref<999x64xf32>, %mask: memref<999x64xi1>, %lens: memref<0xi64>, %starts: memref<0xi64>,
                  %out: memref<999x64xf32>, %sums: memref<0x64xf32>) {
  tile.grid (%i: b0=8) in (0) {
    %n = tile.load %lens[%i] : memref<0xi64> -> !tile.tile<b0=8 x i64>
    %s = tile.load %starts[%i] : memref<0xi64> -> !tile.tile<b0=8 x i64>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 64 x f32>
    %r = jagged.for %k: b1=20 in %n iter(%a = %z) -> (!tile.tile<b0=8 x 64 x f32>) {
      %rows = jagged.rows %k from %s : !tile.range<b1=20>, !tile.tile<b0=8 x i64>
      %m = tile.load %mask[%rows, :] : memref<999x64xi1> -> !tile.tile<b0=8 x b1=20 x 64 x i1>
      %v = tile.load %x[%rows, :] mask %m : memref<999x64xf32> -> !tile.tile<b0=8 x b1=20 x 64 x f32>
      tile.store %v, %out[%rows, :] mask %m : !tile.tile<b0=8 x b1=20 x 64 x f32>, memref<999x64xf32>
      %t = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=20 x 64 x f32>
      %b = tile.add %a, %t : !tile.tile<b0=8 x 64 x f32>
      tile.yield %b : !tile.tile<b0=8 x 64 x f32>
    }
    tile.store %r, %sums[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<0x64xf32>
  }
  func.return
}
