// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @block_and_ref(%x: memref<16x128xf32>) {
  // expected-error @+1 {{#pallas.window<[8, 128], (d0) -> (d0, 0), vmem> of memref<16x128xf32> is not !tile.ref<16 x 128 x f32, vmem>}}
  pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [] : (memref<16x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<16 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @rank(%x: memref<16x128xf32>) {
  // expected-error @+1 {{has 1 dimensions for memref<16x128xf32>}}
  pallas.call @f(%x) windows [<[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [] : (memref<16x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @semantics(%x: memref<16x128xf32>) {
  // expected-error @+1 {{a grid dimension is parallel or arbitrary}}
  pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>] semantics (sideways) aliases [] : (memref<16x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @alias(%x: memref<16x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{a result of memref<8x128xf32> cannot take over operand 0}}
  %o = pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (parallel) aliases [0] : (memref<16x128xf32>) -> (memref<8x128xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @pipeline_loop(%x: memref<16x512xf32>) {
  pallas.call @f(%x) windows [<[16, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [] : (memref<16x512xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<16 x 512 x f32, hbm>):
    tile.grid (%i: b0=8) in (16) {
      %n = tile.id %i : !tile.range<b0=8>
      // expected-error @+1 {{the body of pallas.pipeline is one tile.for that carries nothing}}
      pallas.pipeline reads (%x_ref) at (%n) windows [<[8, 128], (d0)[s0] -> (s0, d0), vmem>] : !tile.ref<16 x 512 x f32, hbm> {
      ^bb1(%x_block: !tile.ref<8 x 128 x f32, vmem>):
        %m = tile.id %i : !tile.range<b0=8>
      }
    }
  }
  func.return
}

// -----

func.func @pipeline_numbers(%x: memref<16x512xf32>) {
  pallas.call @f(%x) windows [<[16, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [] : (memref<16x512xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<16 x 512 x f32, hbm>):
    tile.grid (%i: b0=8) in (16) {
      %n = tile.id %i : !tile.range<b0=8>
      // expected-error @+1 {{is a function of the 1 dimensions of its grid and 1 numbers}}
      pallas.pipeline reads (%x_ref) at (%n) windows [<[8, 128], (d0) -> (0, d0), vmem>] : !tile.ref<16 x 512 x f32, hbm> {
      ^bb1(%x_block: !tile.ref<8 x 128 x f32, vmem>):
        tile.for %k: b1=128 in (0, 512) schedule emit_pipeline {
        }
      }
    }
  }
  func.return
}

// -----

func.func @pipeline_block(%x: memref<16x512xf32>) {
  pallas.call @f(%x) windows [<[16, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [] : (memref<16x512xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<16 x 512 x f32, hbm>):
    tile.grid (%i: b0=8) in (16) {
      %n = tile.id %i : !tile.range<b0=8>
      // expected-error @+1 {{of !tile.ref<16 x 512 x f32, hbm> is not !tile.ref<8 x 64 x f32, vmem>}}
      pallas.pipeline reads (%x_ref) at (%n) windows [<[8, 128], (d0)[s0] -> (s0, d0), vmem>] : !tile.ref<16 x 512 x f32, hbm> {
      ^bb1(%x_block: !tile.ref<8 x 64 x f32, vmem>):
        tile.for %k: b1=128 in (0, 512) schedule emit_pipeline {
        }
      }
    }
  }
  func.return
}

// -----

func.func @pipeline_windows(%x: memref<16x512xf32>) {
  pallas.call @f(%x) windows [<[16, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [] : (memref<16x512xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<16 x 512 x f32, hbm>):
    tile.grid (%i: b0=8) in (16) {
      %n = tile.id %i : !tile.range<b0=8>
      // expected-error @+1 {{needs a window and a block for each of its 1 refs}}
      pallas.pipeline reads (%x_ref) at (%n) windows [<[8, 128], (d0)[s0] -> (s0, d0), vmem>, <[8, 128], (d0)[s0] -> (s0, d0), vmem>] : !tile.ref<16 x 512 x f32, hbm> {
      ^bb1(%x_block: !tile.ref<8 x 128 x f32, vmem>):
        tile.for %k: b1=128 in (0, 512) schedule emit_pipeline {
        }
      }
    }
  }
  func.return
}

// -----

func.func @not_prefetched(%n: memref<8xi32>, %x: memref<10x8x128xf32>) {
  // expected-error @+1 {{loads from operand 0, which is not there before the grid runs}}
  pallas.call @f(%n, %x) windows [<[8], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0] -> (s0, 0, 0), vmem, [<load 0, (d0) -> (d0)>]>] semantics (parallel) aliases [] : (memref<8xi32>, memref<10x8x128xf32>) -> () {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>, %x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
    }
  }
  func.return
}

// -----

func.func @later_number(%n: memref<8xi32>, %x: memref<10x8x128xf32>) {
  // expected-error @+1 {{is a function of 1 dimensions and 0 numbers}}
  pallas.call @f(%n, %x) prefetched 1 windows [<[8], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0] -> (s0, 0, 0), vmem, [<load 0, (d0)[s0] -> (s0)>]>] semantics (parallel) aliases [] : (memref<8xi32>, memref<10x8x128xf32>) -> () {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>, %x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
    }
  }
  func.return
}

// -----

func.func @no_place(%n: memref<8xi32>, %x: memref<10x8x128xf32>) {
  // expected-error @+1 {{(d0) -> (d0, 0) is no place of memref<8xi32>}}
  pallas.call @f(%n, %x) prefetched 1 windows [<[8], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0] -> (s0, 0, 0), vmem, [<load 0, (d0) -> (d0, 0)>]>] semantics (parallel) aliases [] : (memref<8xi32>, memref<10x8x128xf32>) -> () {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>, %x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
    }
  }
  func.return
}

// -----

func.func @prefetched_block(%x: memref<10x8x128xf32>) {
  // expected-error @+1 {{a prefetched operand is whole, in scalar memory}}
  pallas.call @f(%x) prefetched 1 windows [<[_, 8, 128], (d0) -> (d0, 0, 0), vmem>] semantics (parallel) aliases [] : (memref<10x8x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
    }
  }
  func.return
}

// -----

func.func @unknown_number(%n: memref<8xi32>, %x: memref<10x8x128xf32>) {
  // expected-error @+1 {{unknown number 'sum': one of load, min, max}}
  pallas.call @f(%n, %x) prefetched 1 windows [<[8], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0] -> (s0, 0, 0), vmem, [<sum, (d0) -> (d0, 0)>]>] semantics (parallel) aliases [] : (memref<8xi32>, memref<10x8x128xf32>) -> () {
  }
  func.return
}

// -----

func.func @fetch_space(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @fetch_space(%x) windows [<[64, 128], (d0) -> (0, 0), vmem>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, vmem>, %out_ref: !tile.ref<64 x 128 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
      // expected-error @+1 {{pallas.fetch copies a block of a ref in hbm, found !tile.ref<64 x 128 x f32, vmem>}}
      %w = pallas.fetch %x_ref[%i, :] : !tile.ref<64 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
    }
  }
  func.return %out : memref<64x128xf32>
}

// -----

func.func @fetch_rows(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @fetch_rows(%x) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, hbm>, %out_ref: !tile.ref<64 x 128 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
      %n = tile.full 0 : !tile.tile<b0=8 x i32>
      // expected-error @+1 {{pallas.fetch copies one block; rows by numbers are for tile.get and tile.put}}
      %w = pallas.fetch %x_ref[%n, :] : !tile.ref<64 x 128 x f32, hbm> -> !tile.tile<b0=8 x 128 x f32>
    }
  }
  func.return %out : memref<64x128xf32>
}

// -----

func.func @fetch_block(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @fetch_block(%x) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, hbm>, %out_ref: !tile.ref<64 x 128 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
      // expected-error @+1 {{the index list addresses !tile.tile<b0=8 x 128 x f32>, found !tile.tile<b0=8 x 64 x f32>}}
      %w = pallas.fetch %x_ref[%i, :] : !tile.ref<64 x 128 x f32, hbm> -> !tile.tile<b0=8 x 64 x f32>
    }
  }
  func.return %out : memref<64x128xf32>
}

// -----

func.func @fetch_depth(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @fetch_depth(%x) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, hbm>, %out_ref: !tile.ref<64 x 128 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
      // expected-error @+1 {{a copy that overlaps steps of an axis has 2 buffers at least, found 1}}
      %w = pallas.fetch %x_ref[%i, :] ahead %i depth 1 : !tile.ref<64 x 128 x f32, hbm> -> !tile.tile<b0=8 x 128 x f32>
    }
  }
  func.return %out : memref<64x128xf32>
}

// -----

func.func @send_mask(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @send_mask(%x) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, hbm>, %out_ref: !tile.ref<64 x 128 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
      // expected-error @+1 {{the mask must be !tile.tile<b0=8 x 128 x i1>, found !tile.tile<b0=8 x 128 x f32>}}
      pallas.send %v, %out_ref[%i, :] mask %v : !tile.tile<b0=8 x 128 x f32>, !tile.ref<64 x 128 x f32, hbm>
    }
  }
  func.return %out : memref<64x128xf32>
}

// -----

func.func @fetch_axis(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %out = pallas.call @fetch_axis(%x) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[64, 128], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, hbm>, %out_ref: !tile.ref<64 x 128 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %n = arith.constant 8 : index
      %j = tile.shift %i by %n : !tile.range<b0=8>
      // expected-error @+1 {{the axis of a copy is a range that a loop or the grid binds, not a shifted one}}
      %w = pallas.fetch %x_ref[%i, :] ahead %j depth 2 : !tile.ref<64 x 128 x f32, hbm> -> !tile.tile<b0=8 x 128 x f32>
    }
  }
  func.return %out : memref<64x128xf32>
}

// -----

func.func @beside(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{the body of pallas.call is one tile.grid, found 'tile.full' beside it}}
  %o = pallas.call @beside(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    %v = tile.full 0.0 : !tile.tile<8 x 128 x f32>
    tile.grid (%g: g0=1) in (1) {
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @two_grids(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{the body of pallas.call is one tile.grid, found 'tile.grid' beside it}}
  %o = pallas.call @two_grids(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.full 0.0 : !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
    tile.grid (%h: h0=1) in (1) {
      %v = tile.full 0.0 : !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// The semaphore of a copy is one that there is.
func.func @semaphores(%x: memref<8x128xf32>) {
  pallas.call @semaphores(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [] : (memref<8x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, hbm>, %rows: !tile.ref<8 x 128 x f32, vmem>, %moved: !tile.ref<2 x i32, semaphore>):
    tile.grid (%g: g0=1) in (1) {
      // expected-error @+1 {{index 2 is outside dimension 0 of 2 elements}}
      pallas.dma_start %x_ref[:, :] to %rows[:, :] signal %moved[2] : !tile.ref<8 x 128 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x i32, semaphore>
    }
  }
  func.return
}

// -----

func.func @no_semaphore(%x: memref<8x128xf32>) {
  pallas.call @no_semaphore(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [] : (memref<8x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, hbm>, %rows: !tile.ref<8 x 128 x f32, vmem>, %moved: !tile.ref<2 x i32, semaphore>):
    tile.grid (%g: g0=1) in (1) {
      // expected-error @+1 {{0 indices for an array of 1 dimensions}}
      pallas.dma_wait %x_ref[:, :] to %rows[:, :] signal %moved[] : !tile.ref<8 x 128 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x i32, semaphore>
    }
  }
  func.return
}

// -----

func.func @no_words(%w: !tile.tile<8 x 128 x f32>) {
  // expected-error @+1 {{pallas.bitcast reads i32 as 8 or 16 bits, found !tile.tile<8 x 128 x f32> to !tile.tile<16 x 128 x bf16>}}
  %a = pallas.bitcast %w : !tile.tile<8 x 128 x f32> to !tile.tile<16 x 128 x bf16>
  func.return
}

// -----

func.func @other_rows(%w: !tile.tile<8 x 128 x i32>) {
  // expected-error @+1 {{pallas.bitcast makes 4 rows of each, found !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x i8>}}
  %a = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x i8>
  func.return
}

// -----

func.func @types(%x: memref<16x128xf32>) {
  // expected-error @+1 {{the operands are of memref<16x128xf32>}}
  pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [] : (memref<8x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @more_prefetched_than_there_are(%n: memref<8xi32>) {
  // expected-error @+1 {{pallas.call prefetches 2 of 1 operands}}
  pallas.call @f(%n) prefetched 2 windows [<[8], () -> (0), smem>] semantics () aliases [] : (memref<8xi32>) -> () {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>):
    tile.grid () in () {
    }
  }
  func.return
}

// -----

func.func @signal() {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  // expected-error @+1 {{'pallas.dma_start': a DMA signals a semaphore, found !tile.ref<8 x 128 x f32, vmem>}}
  pallas.dma_start %a[:, :] to %a[:, :] signal %a[0, 0] : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>
  func.return
}

// -----

func.func @dma_shapes() {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{a DMA copies blocks of one shape, found !tile.tile<8 x 128 x f32> to !tile.tile<4 x 128 x f32>}}
  pallas.dma_start %a[:, :] to %a[0:4, :] signal %s[0] : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>
  func.return
}

// -----

func.func @dma_elements() {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %b = pallas.scratch : !tile.ref<8 x 128 x i32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{a DMA copies blocks of one shape, found !tile.tile<8 x 128 x f32> to !tile.tile<8 x 128 x i32>}}
  pallas.dma_start %a[:, :] to %b[:, :] signal %s[0] : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x i32, vmem>, !tile.ref<1 x i32, semaphore>
  func.return
}

// -----

// expected-error @+1 {{unknown memory space 'disk': one of vmem, smem, hbm, any, semaphore, counter}}
func.func @space() attributes {w = #pallas.window<[8], (d0) -> (d0), disk>} {
  func.return
}

// -----

// expected-error @+1 {{a block of 2 dimensions needs as many block numbers}}
func.func @numbers() attributes {w = #pallas.window<[8, 128], (d0) -> (d0), vmem>} {
  func.return
}

// -----

func.func @words_of_one(%w: !tile.tile<8 x 128 x i32>) {
  // expected-error @+1 {{pallas.bitcast reads i32 as 8 or 16 bits, found !tile.tile<8 x 128 x i32> to !tile.tile<8 x 128 x f32>}}
  %a = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<8 x 128 x f32>
  func.return
}

// -----

func.func @one_row(%w: !tile.tile<128 x i32>) {
  // expected-error @+1 {{pallas.bitcast reads i32 as 8 or 16 bits, found !tile.tile<128 x i32> to !tile.tile<256 x bf16>}}
  %a = pallas.bitcast %w : !tile.tile<128 x i32> to !tile.tile<256 x bf16>
  func.return
}

// -----

func.func @other_rank(%w: !tile.tile<8 x 128 x i32>) {
  // expected-error @+1 {{pallas.bitcast reads i32 as 8 or 16 bits, found !tile.tile<8 x 128 x i32> to !tile.tile<1 x 16 x 128 x bf16>}}
  %a = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<1 x 16 x 128 x bf16>
  func.return
}
