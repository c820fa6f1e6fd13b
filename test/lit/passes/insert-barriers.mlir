// RUN: kopt %s --split-input-file --verify-each -p insert-barriers | filecheck %s

// What one loop stores the next one loads: each visit of that finds it all.
// CHECK-LABEL: func.func @next_loop
// CHECK: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: triton.barrier
// CHECK-NEXT: tile.for
// CHECK-NOT: triton.barrier
func.func @next_loop(%x: memref<256xf32>, %out: memref<256xf32>) {
  triton.launch @f (%h = %x, %o = %out) grid (1) num_warps 4 num_stages 1 {
    tile.for %i: b0=32 in (0, 256) {
      %v = tile.full 1 : !tile.tile<b0=32 x f32>
      tile.store %v, %h[%i] : !tile.tile<b0=32 x f32>, memref<256xf32>
    }
    tile.for %j: b1=64 in (0, 256) {
      %w = tile.load %h[%j] : memref<256xf32> -> !tile.tile<b1=64 x f32>
      tile.store %w, %o[%j] : !tile.tile<b1=64 x f32>, memref<256xf32>
    }
  }
  func.return
}

// -----

// A visit of the loop loads what the one before has stored.
// CHECK-LABEL: func.func @next_visit
// CHECK: tile.for
// CHECK-NEXT: triton.barrier
// CHECK-NEXT: %v = tile.load
// CHECK-NEXT: %s = tile.reduce
// CHECK: triton.barrier
// CHECK-NEXT: tile.store
func.func @next_visit(%x: memref<8xf32>) {
  triton.launch @f (%h = %x) grid (1) num_warps 4 num_stages 1 {
    tile.for %i: b0=1 in (0, 4) {
      %v = tile.load %h[:] : memref<8xf32> -> !tile.tile<8 x f32>
      %s = tile.reduce max %v [0] : !tile.tile<8 x f32>
      %w = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<8 x f32>
      tile.store %w, %h[:] : !tile.tile<8 x f32>, memref<8xf32>
    }
  }
  func.return
}

// -----

// A thread that computes its lanes and stores them in place needs no other.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: triton.barrier
func.func @in_place(%x: memref<256xf32>) {
  triton.launch @f (%h = %x) grid (4) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 256) : !tile.range<b0=64>
    %v = tile.load %h[%i] : memref<256xf32> -> !tile.tile<b0=64 x f32>
    %w = tile.exp %v : !tile.tile<b0=64 x f32>
    tile.store %w, %h[%i] : !tile.tile<b0=64 x f32>, memref<256xf32>
  }
  func.return
}

// -----

// A branch that accesses has the barrier, for programs that take it.
// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK-NEXT: triton.barrier
// CHECK-NEXT: tile.store
func.func @branch(%x: memref<256xf32>, %c: i1) {
  triton.launch @f (%h = %x) grid (4) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %pid, %c0 : index
    %v = tile.load %h[64] : memref<256xf32> -> !tile.tile<f32>
    %w = tile.broadcast %v dims [] : !tile.tile<f32> to !tile.tile<64 x f32>
    scf.if %first {
      tile.store %w, %h[32:96] : !tile.tile<64 x f32>, memref<256xf32>
    }
  }
  func.return
}
