// RUN: kopt %s --split-input-file --verify-each --verify-diagnostics -p 'realise-dmas,software-pipeline{chip=v6e}' | filecheck %s

// Copies that nothing may overlap stay as they were, each with a remark that says why.
// CHECK-NOT: buffer[%slot
// CHECK-NOT: along

// The next visit's row is computed by this one.
func.func @carried(%x: memref<8x8x512xf32>) -> memref<8xf32> {
  %out = pallas.call @carried(%x) windows [<[8, 8, 512], (d0) -> (0, 0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<8x8x512xf32>) -> (memref<8xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 8 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (8) {
      %z = tile.full 0 : !tile.tile<i32>
      %y = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %n, %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z, %b = %y) -> (!tile.tile<i32>, !tile.tile<b0=8 x f32>) {
        %at = tile.extract %a : !tile.tile<i32> to index
        // expected-remark @+1 {{a copy of 'x_ref' overlaps nothing: where the next block is, this visit cannot tell}}
        %v = pallas.fetch %x_ref[%at, %i, %k] ahead %k depth 2 : !tile.ref<8 x 8 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %m = tile.reduce max %s [0] : !tile.tile<b0=8 x f32>
        %next = tile.cast %m : !tile.tile<f32> to !tile.tile<i32>
        tile.yield %next, %s : !tile.tile<i32>, !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<8xf32>
}

// -----

// The next cell has other numbers in the same place.
func.func @moving(%n: memref<128xi32>, %w: memref<4x8x128xf32>) -> memref<128x128xf32> {
  %out = pallas.call @moving(%n, %w) windows [<[8], (d0) -> (d0), smem>, <[4, 8, 128], (d0) -> (0, 0, 0), hbm>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<128xi32>, memref<4x8x128xf32>) -> (memref<128x128xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>, %w_ref: !tile.ref<4 x 8 x 128 x f32, hbm>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (128) {
      %number = tile.get %n_ref[0] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
      %at = tile.extract %number : !tile.tile<i32> to index
      // expected-remark @+1 {{a copy of 'w_ref' overlaps nothing: where the next cell's block is, this cell cannot tell}}
      %v = pallas.fetch %w_ref[%at, :, :] ahead %i depth 2 : !tile.ref<4 x 8 x 128 x f32, hbm> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %out : memref<128x128xf32>
}

// -----

// Cells may differ in whether they fetch.
func.func @condition(%n: memref<16xi32>, %w: memref<4x8x128xf32>) -> memref<128x128xf32> {
  %out = pallas.call @condition(%n, %w) windows [<[16], (d0) -> (0), smem>, <[4, 8, 128], (d0) -> (0, 0, 0), hbm>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<16xi32>, memref<4x8x128xf32>) -> (memref<128x128xf32>) {
  ^bb0(%n_ref: !tile.ref<16 x i32, smem>, %w_ref: !tile.ref<4 x 8 x 128 x f32, hbm>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (128) {
      %id = tile.id %i : !tile.range<b0=8>
      %number = tile.get %n_ref[%id] : !tile.ref<16 x i32, smem> -> !tile.tile<i32>
      %at = tile.extract %number : !tile.tile<i32> to index
      tile.when first(%i) {
        // expected-remark @+1 {{a copy of 'w_ref' overlaps nothing: it is in a loop, or under a condition}}
        %v = pallas.fetch %w_ref[%at, :, :] ahead %i depth 2 : !tile.ref<4 x 8 x 128 x f32, hbm> -> !tile.tile<8 x 128 x f32>
        tile.put %v, %out_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %out : memref<128x128xf32>
}

// -----

// What is read and written in one loop is neither ahead nor behind.
func.func @written(%x: memref<64x128xf32>, %old: memref<512x128xf32>, %lo: memref<1xi32>) -> memref<512x128xf32> {
  %out = pallas.call @written(%x, %old, %lo) windows [<[64, 128], (d0) -> (0, 0), vmem>, <[512, 128], (d0) -> (0, 0), hbm>, <[1], (d0) -> (0), smem>, <[512, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] : (memref<64x128xf32>, memref<512x128xf32>, memref<1xi32>) -> (memref<512x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, vmem>, %old_ref: !tile.ref<512 x 128 x f32, hbm>, %lo_ref: !tile.ref<1 x i32, smem>, %new_ref: !tile.ref<512 x 128 x f32, hbm>):
    tile.grid (%i: b0=1) in (1) {
      %number = tile.get %lo_ref[0] : !tile.ref<1 x i32, smem> -> !tile.tile<i32>
      %first = tile.extract %number : !tile.tile<i32> to index
      tile.for %k: b1=64 in (0, 512) {
        %v = tile.get %x_ref[:, :] : !tile.ref<64 x 128 x f32, vmem> -> !tile.tile<b1=64 x 128 x f32>
        %lanes = tile.index %k : !tile.range<b1=64>
        %all = tile.broadcast %lanes dims [0] : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x 128 x i32>
        %from = tile.splat %first : index to !tile.tile<b1=64 x 128 x i32>
        %own = tile.ge %all, %from : !tile.tile<b1=64 x 128 x i32>
        // expected-remark @+1 {{a copy of 'new_ref' overlaps nothing: the kernel writes the array}}
        %w = pallas.fetch %new_ref[%k, :] ahead %k depth 2 : !tile.ref<512 x 128 x f32, hbm> -> !tile.tile<b1=64 x 128 x f32>
        %sum = tile.add %v, %w : !tile.tile<b1=64 x 128 x f32>
        // expected-remark @+1 {{a copy of 'new_ref' overlaps nothing: other accesses of the loop touch the array}}
        pallas.send %sum, %new_ref[%k, :] mask %own behind %k depth 2 : !tile.tile<b1=64 x 128 x f32>, !tile.ref<512 x 128 x f32, hbm>
      }
    }
  }
  func.return %out : memref<512x128xf32>
}

// -----

func.func @depth(%x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @depth(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        // expected-remark @+1 {{a copy of 'x_ref' overlaps nothing: copies have 2 buffers, not 3}}
        %v = pallas.fetch %x_ref[%i, %k] ahead %k depth 3 : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        tile.yield %t : !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<64xf32>
}

// -----

func.func @buffer(%x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @buffer(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>, %buffer: !tile.ref<8 x 128 x f32, vmem>, %sem: !tile.ref<1 x f32, semaphore>):
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        // expected-remark @+1 {{a copy of 'x_ref' overlaps nothing: others use its buffer}}
        pallas.dma_start %x_ref[%i, %k] to %buffer[:, :] signal %sem[0] along %k depth 2 : !tile.ref<64 x 512 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x f32, semaphore>
        pallas.dma_wait %x_ref[%i, %k] to %buffer[:, :] signal %sem[0] along %k depth 2 : !tile.ref<64 x 512 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x f32, semaphore>
        %v = tile.get %buffer[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %v, %buffer[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        tile.yield %t : !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<64xf32>
}
