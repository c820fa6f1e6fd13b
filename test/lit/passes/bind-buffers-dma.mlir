// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only,apply-schedule,bind-buffers' | filecheck %s

// A block at a loaded number that each cell brings: the fetch names the axis of the grid that moves fastest. The number
// is in scalar memory.
// CHECK: pallas.call @dma({{.+}}) {{.*}}windows [{{.*}}<[4, 8, 128], (d0) -> (0, 0, 0), hbm>{{.*}}] semantics (parallel)
// CHECK: [[N:%.+]] = tile.get {{%.+}}[{{%.+}}] : !tile.ref<16 x i32, smem> -> !tile.tile<i32>
// CHECK-NEXT: %at = tile.extract [[N]]
// CHECK-NEXT: pallas.fetch {{%.+}}[%at, :, :] ahead %i depth 2 : !tile.ref<4 x 8 x 128 x f32, hbm> -> !tile.tile<8 x 128 x f32>
func.func @dma(%n: memref<16xi32>, %w: memref<4x8x128xf32>) -> memref<16x8x128xf32> {
  %out = host.alloc : memref<16x8x128xf32>
  tile.grid (%i: b0=1) in (16) plan {order [i] parallel [i]
      @n = %n smem   @w = %w dma   @o = %out window(i) x2} {
    %b = tile.begin %i : !tile.range<b0=1>
    %number = tile.load %n[%b] via @n : memref<16xi32> -> !tile.tile<i32>
    %at = tile.extract %number : !tile.tile<i32> to index
    %v = tile.load %w[%at, :, :] via @w : memref<4x8x128xf32> -> !tile.tile<8 x 128 x f32>
    tile.store %v, %out[%b, :, :] via @o : !tile.tile<8 x 128 x f32>, memref<16x8x128xf32>
  }
  func.return %out : memref<16x8x128xf32>
}
