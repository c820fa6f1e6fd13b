// RUN: kopt %s --split-input-file --verify-each -p 'plan-vmem{chip=v6e}' | filecheck %s
// RUN: kopt %s --split-input-file --remarks -p 'plan-vmem{chip=v6e}' 2>&1 | filecheck %s --check-prefix=SAID

// Two buffers of 16 MiB for each array: more than a kernel has by default.
// SAID: remark: 'large' takes 64.0 MiB of VMEM: 'x_ref' takes 32.0 MiB: 2 of 2048 x 2048 x f32 (window); 'out_ref' takes
// CHECK: pallas.call @large({{.+}} aliases [-1] vmem_limit
func.func @large(%x: memref<8192x2048xf32>) -> memref<8192x2048xf32> {
  %out = pallas.call @large(%x) windows [<[2048, 2048], (d0) -> (d0, 0), vmem>, <[2048, 2048], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8192x2048xf32>) -> (memref<8192x2048xf32>) {
  ^bb0(%x_ref: !tile.ref<2048 x 2048 x f32, vmem>, %out_ref: !tile.ref<2048 x 2048 x f32, vmem>):
    tile.grid (%i: b0=2048) in (8192) {
      %v = tile.get %x_ref[:, :] : !tile.ref<2048 x 2048 x f32, vmem> -> !tile.tile<b0=2048 x 2048 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=2048 x 2048 x f32>, !tile.ref<2048 x 2048 x f32, vmem>
    }
  }
  func.return %out : memref<8192x2048xf32>
}

// -----

// CHECK: pallas.call @small(
// CHECK-NOT: vmem_limit
func.func @small(%x: memref<8192x2048xf32>) -> memref<8192x2048xf32> {
  %out = pallas.call @small(%x) windows [<[8, 2048], (d0) -> (d0, 0), vmem>, <[8, 2048], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8192x2048xf32>) -> (memref<8192x2048xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 2048 x f32, vmem>, %out_ref: !tile.ref<8 x 2048 x f32, vmem>):
    tile.grid (%i: b0=8) in (8192) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 2048 x f32, vmem> -> !tile.tile<b0=8 x 2048 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x 2048 x f32>, !tile.ref<8 x 2048 x f32, vmem>
    }
  }
  func.return %out : memref<8192x2048xf32>
}

// -----

// The block of %y is the same at each step, and there once. All of what a row's sum waits for is in VMEM besides.
// SAID: remark: 'sums' takes {{.+}} MiB of VMEM: 'x_ref' takes 2.5 MiB: 2 of 256 x 2560 x bf16 (window); 'y_ref' takes 10,240 bytes: 1 x 2560 x bf16 (window); 'out_ref' takes 2.5 MiB: 2 of 256 x 2560 x bf16 (window); values beyond registers
// CHECK-LABEL: pallas.call @sums(
func.func @sums(%x: memref<4096x2560xbf16>, %y: memref<1x2560xbf16>) -> memref<4096x2560xbf16> {
  %out = pallas.call @sums(%x, %y) windows [<[256, 2560], (d0) -> (d0, 0), vmem>, <[1, 2560], (d0) -> (0, 0), vmem>, <[256, 2560], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<4096x2560xbf16>, memref<1x2560xbf16>) -> (memref<4096x2560xbf16>) {
  ^bb0(%x_ref: !tile.ref<256 x 2560 x bf16, vmem>, %y_ref: !tile.ref<1 x 2560 x bf16, vmem>, %out_ref: !tile.ref<256 x 2560 x bf16, vmem>):
    tile.grid (%i: b0=256) in (4096) {
      %v = tile.get %x_ref[:, :] : !tile.ref<256 x 2560 x bf16, vmem> -> !tile.tile<b0=256 x 2560 x bf16>
      %w = tile.cast %v : !tile.tile<b0=256 x 2560 x bf16> to !tile.tile<b0=256 x 2560 x f32>
      %s = tile.reduce add %w [1] : !tile.tile<b0=256 x 2560 x f32>
      %b = tile.broadcast %s dims [0] : !tile.tile<b0=256 x f32> to !tile.tile<b0=256 x 2560 x f32>
      %d = tile.div %w, %b : !tile.tile<b0=256 x 2560 x f32>
      %r = tile.cast %d : !tile.tile<b0=256 x 2560 x f32> to !tile.tile<b0=256 x 2560 x bf16>
      tile.put %r, %out_ref[:, :] : !tile.tile<b0=256 x 2560 x bf16>, !tile.ref<256 x 2560 x bf16, vmem>
    }
  }
  func.return %out : memref<4096x2560xbf16>
}
