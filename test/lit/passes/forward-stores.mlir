// RUN: kopt %s --split-input-file -p forward-stores --remarks 2>&1 | filecheck %s

// What the cell stored is not loaded again, also inside a loop that does not write it.
// CHECK: remark: 'tmp' is not read: the cell has just stored this block
// CHECK-LABEL: func.func @inside
// CHECK: tile.store %v, %tmp[%i, :]
// CHECK-NEXT: tile.for
// CHECK-NEXT: tile.add %a, %v
func.func @inside(%x: memref<1000x8xf32>, %out: memref<1000x8xf32>) {
  %tmp = host.alloc : memref<1000x8xf32>
  tile.grid (%i: b0=128, %j: b1=64) in (1000, 640) {
    %v = tile.load %x[%i, :] : memref<1000x8xf32> -> !tile.tile<b0=128 x 8 x f32>
    %jb = tile.begin %j : !tile.range<b1=64>
    %je = tile.end %j : !tile.range<b1=64>
    tile.store %v, %tmp[%i, :] : !tile.tile<b0=128 x 8 x f32>, memref<1000x8xf32>
    %s = tile.for %k: b2=8 in (%jb, %je) iter(%a = %v) -> (!tile.tile<b0=128 x 8 x f32>) {
      %w = tile.load %tmp[%i, :] : memref<1000x8xf32> -> !tile.tile<b0=128 x 8 x f32>
      %n = tile.add %a, %w : !tile.tile<b0=128 x 8 x f32>
      tile.yield %n : !tile.tile<b0=128 x 8 x f32>
    }
    tile.store %s, %out[%i, :] : !tile.tile<b0=128 x 8 x f32>, memref<1000x8xf32>
  }
  func.return
}

// -----

// A loop that writes the array, other indices, a view of it and a mask are in the way; the last store counts.
// CHECK-LABEL: func.func @between
// CHECK: tile.for
// CHECK-NEXT: tile.load %tmp[0, %i]
// CHECK: tile.load %tmp[0, %i]
// CHECK: tile.load %tmp[2, %i]
// CHECK: tile.store %w2, %tmp[2, %i]
// CHECK-NEXT: tile.store %w2, %out
// CHECK: tile.load %tmp[2, %i]
// CHECK: tile.load %flat[%i]
func.func @between(%x: memref<4x64xf32>, %out: memref<4x64xf32>) {
  %tmp = host.alloc : memref<4x64xf32>
  %flat = host.reshape %tmp : memref<4x64xf32> to memref<256xf32>
  tile.grid (%i: b0=64) in (64) {
    %z = arith.constant 0 : index
    %four = arith.constant 4 : index
    %v = tile.load %x[0, %i] : memref<4x64xf32> -> !tile.tile<b0=64 x f32>
    tile.store %v, %tmp[0, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    tile.for %k: b1=1 in (%z, %four) {
      %w = tile.load %tmp[0, %i] : memref<4x64xf32> -> !tile.tile<b0=64 x f32>
      %d = tile.add %w, %v : !tile.tile<b0=64 x f32>
      tile.store %d, %tmp[0, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    }
    %w1 = tile.load %tmp[0, %i] : memref<4x64xf32> -> !tile.tile<b0=64 x f32>
    %w2 = tile.load %tmp[2, %i] : memref<4x64xf32> -> !tile.tile<b0=64 x f32>
    tile.store %w1, %tmp[2, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    tile.store %w2, %tmp[2, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    %w3 = tile.load %tmp[2, %i] : memref<4x64xf32> -> !tile.tile<b0=64 x f32>
    tile.store %w3, %out[0, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    %m = tile.lt %v, %w3 : !tile.tile<b0=64 x f32>
    tile.store %v, %tmp[2, %i] mask %m : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    %w4 = tile.load %tmp[2, %i] : memref<4x64xf32> -> !tile.tile<b0=64 x f32>
    tile.store %w4, %flat[%i] : !tile.tile<b0=64 x f32>, memref<256xf32>
    tile.store %w4, %tmp[0, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
    %w5 = tile.load %flat[%i] : memref<256xf32> -> !tile.tile<b0=64 x f32>
    tile.store %w5, %out[1, %i] : !tile.tile<b0=64 x f32>, memref<4x64xf32>
  }
  func.return
}

// -----

// Arguments may share memory, and other cells may update atomically.
// CHECK-LABEL: func.func @shared
// CHECK: %w = tile.load %x[%i]
// CHECK: %u = tile.load %count[%i]
func.func @shared(%x: memref<64xf32>, %y: memref<64xf32>) {
  %count = host.alloc fill 0.0 : memref<64xf32>
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %y[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
    %e = tile.exp %v : !tile.tile<b0=64 x f32>
    tile.store %e, %x[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    tile.store %v, %y[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    %w = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
    tile.store %w, %count[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    atomic.rmw add %w, %count[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    %u = tile.load %count[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
    tile.store %u, %y[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
  }
  func.return
}
