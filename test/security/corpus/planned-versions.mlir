builtin.module {
  func.func @causal(%x: memref<192x64xf32>) -> memref<192x64xf32> {
    %out = pallas.call @f(%x) windows [<[192, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<192x64xf32>) -> memref<192x64xf32> {
    ^bb0(%x_1: !tile.ref<192 x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
      tile.grid (%i: b0=64) in (192) plan {order [i, j] ordered [i, j]} {
        %z = tile.full 0.0 : !tile.tile<64 x 64 x f32>
        %begin = tile.begin %i : !tile.range<b0=64>
        %r = tile.for %j: b1=64 in (0, %begin) iter(%s = %z) -> (!tile.tile<64 x 64 x f32>) schedule resident {
          %v = tile.get %x_1[%j, :] : !tile.ref<192 x 64 x f32, vmem> -> !tile.tile<b1=64 x 64 x f32>
          %plain = tile.reshape %v : !tile.tile<b1=64 x 64 x f32> to !tile.tile<64 x 64 x f32>
          %n = tile.add %s, %plain : !tile.tile<64 x 64 x f32>
          tile.yield %n : !tile.tile<64 x 64 x f32>
        }
        tile.put %r, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
      }
    }
    func.return %out : memref<192x64xf32>
  }
}
