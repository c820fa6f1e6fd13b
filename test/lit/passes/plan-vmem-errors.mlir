// RUN: kopt %s --split-input-file --verify-diagnostics -p 'plan-vmem{chip=tpu7x}'

// The blocks of 32 MiB stand twice.
func.func @large(%x: memref<8192x8192xf32>) -> memref<8192x8192xf32> {
  %out = pallas.call @large(%x) windows [<[1024, 8192], (d0) -> (d0, 0), vmem>, <[1024, 8192], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8192x8192xf32>) -> (memref<8192x8192xf32>) {
  ^bb0(%x_ref: !tile.ref<1024 x 8192 x f32, vmem>, %out_ref: !tile.ref<1024 x 8192 x f32, vmem>):
    tile.grid (%i: b0=1024) in (8192) {
      // expected-error @+1 {{the buffers of 'large' take 128.0 MiB of VMEM: tpu7x has 64.0 MiB}}
      %v = tile.get %x_ref[:, :] : !tile.ref<1024 x 8192 x f32, vmem> -> !tile.tile<b0=1024 x 8192 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=1024 x 8192 x f32>, !tile.ref<1024 x 8192 x f32, vmem>
    }
  }
  func.return %out : memref<8192x8192xf32>
}

// -----

// Scratch memory counts as it is; the largest buffer is where it is refused.
func.func @scratch(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @scratch(%x) windows [<[64, 128], () -> (0, 0), vmem>, <[64, 128], () -> (0, 0), vmem>] semantics () aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, vmem>, %out_ref: !tile.ref<64 x 128 x f32, vmem>, %kept: !tile.ref<1000 x 17 x 1000 x f32, vmem>):
    tile.grid () in () {
      %v = tile.get %x_ref[:, :] : !tile.ref<64 x 128 x f32, vmem> -> !tile.tile<64 x 128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<64 x 128 x f32>, !tile.ref<64 x 128 x f32, vmem>
      // expected-error @+1 {{the buffers of 'scratch' take 93.8 MiB of VMEM: tpu7x has 64.0 MiB}}
      %w = tile.get %kept[0, 0, :] : !tile.ref<1000 x 17 x 1000 x f32, vmem> -> !tile.tile<1000 x f32>
    }
  }
  func.return %out : memref<64x128xf32>
}
