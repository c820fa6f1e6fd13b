// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only,apply-schedule,bind-buffers' | filecheck %s

// An array that a loop prefetches stays in HBM, padded so that no block reaches beyond it; the fetch names the loop.
// CHECK: [[X:%.+]] = host.call "aten.constant_pad_nd.default"(%x) {{.+}} : (memref<64x500xf32>) -> (memref<64x512xf32>)
// CHECK-NEXT: pallas.call @prefetch([[X]]) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[_, 1, 8], (d0) -> (d0, 0, 0), vmem>]
// CHECK: tile.for %k
// CHECK-NEXT: pallas.fetch {{%.+}}[%i, %k] ahead %k depth 2 : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
func.func @prefetch(%x: memref<64x500xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i]
      @x = %x prefetch(k)   @o = %out window(i) x2} {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, 500) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) schedule prefetch {
      %v = tile.load %x[%i, %k] via @x : memref<64x500xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %m = tile.mask %v in (_, %k) else 0.0 : !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %m [1] : !tile.tile<b0=8 x b1=128 x f32>
      %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %t : !tile.tile<b0=8 x f32>
    }
    tile.store %r, %out[%i] via @o : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}
