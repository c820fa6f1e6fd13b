// Masked lanes and branches not taken add nothing, be they NaN.
func.func @masked(%x: memref<40x130xf32>, %keep: memref<40x130xi1>) -> memref<130xf32> {
  %out = host.alloc fill 0.0 : memref<130xf32>
  tile.grid (%i: b0=8) in (40) {
    %v = tile.load %x[%i, :] : memref<40x130xf32> -> !tile.tile<b0=8 x 130 x f32>
    %m = tile.load %keep[%i, :] : memref<40x130xi1> -> !tile.tile<b0=8 x 130 x i1>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 130 x f32>
    %w = tile.select %m, %v, %z : !tile.tile<b0=8 x 130 x f32>
    %s = tile.reduce add %w [0] : !tile.tile<b0=8 x 130 x f32>
    %one = tile.full 1.0 : !tile.tile<130 x f32>
    %nan = tile.full nan : !tile.tile<130 x f32>
    %big = tile.gt %s, %one : !tile.tile<130 x f32>
    %t = tile.select %big, %s, %nan : !tile.tile<130 x f32>
    atomic.rmw add %t, %out[:] mask %big : !tile.tile<130 x f32>, memref<130xf32>
    %n = tile.id %i : !tile.range<b0=8>
    %two = arith.constant 2 : index
    %late = arith.cmpi sge, %n, %two : index
    scf.if %late {
      %p = tile.full 3.0 : !tile.tile<130 x f32>
      atomic.rmw add %p, %out[:] : !tile.tile<130 x f32>, memref<130xf32>
    }
  }
  func.return %out : memref<130xf32>
}
