builtin.module {
  func.func @reduction(%x: memref<64x17xf32>, %out: memref<64xf32>) -> memref<64xf32> {
    %new = host.launch @reduction (%a = %x, %b = %out) writes [1] : (memref<64x17xf32>, memref<64xf32>) -> memref<64xf32> {
      tile.grid (%i: b0=8) in (64) plan {order [i, k] parallel [i]
          @x = %a window(i, k) x2
          @out = %b window(i) x2} {
        %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
        %r = tile.for %k: b1=128 in (0, 17) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) schedule grid {
          %v = tile.load %a[%i, %k] via @x : memref<64x17xf32> -> !tile.tile<b0=8 x b1=128 x f32>
          %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
          %n = tile.add %c, %s : !tile.tile<b0=8 x f32>
          tile.yield %n : !tile.tile<b0=8 x f32>
        }
        tile.store %r, %b[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
      }
    }
    func.return %new : memref<64xf32>
  }
}