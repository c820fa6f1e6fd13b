// A pipelined loop whose rows of numbers pick rows of a table.
func.func @gathers(%table: memref<300x200xf32>, %rows: memref<40xi32>, %w: memref<40x200xf32>) -> memref<200xf32> {
  %out = host.alloc : memref<200xf32>
  tile.grid (%g: b9=1) in (1) {
    %z = tile.full 0.0 : !tile.tile<200 x f32>
    %r = tile.for %i: b0=8 in (0, 40) iter(%a = %z) -> (!tile.tile<200 x f32>) {
      %n = tile.load %rows[%i] : memref<40xi32> -> !tile.tile<b0=8 x i32>
      %t = tile.load %table[%n, :] : memref<300x200xf32> -> !tile.tile<b0=8 x 200 x f32>
      %v = tile.load %w[%i, :] : memref<40x200xf32> -> !tile.tile<b0=8 x 200 x f32>
      %p = tile.mul %t, %v : !tile.tile<b0=8 x 200 x f32>
      %s = tile.reduce add %p [0] : !tile.tile<b0=8 x 200 x f32>
      %b = tile.add %a, %s : !tile.tile<200 x f32>
      tile.yield %b : !tile.tile<200 x f32>
    }
    tile.store %r, %out[:] : !tile.tile<200 x f32>, memref<200xf32>
  }
  func.return %out : memref<200xf32>
}
