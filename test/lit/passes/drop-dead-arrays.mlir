// RUN: kopt %s --split-input-file -p drop-dead-arrays,dce --remarks 2>&1 | filecheck %s

// Nothing reads the array, its view or its copy: stores, copies and what they were made for are gone.
// CHECK: remark: 'tmp' is never read: it is neither stored to nor allocated
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: tile.grid (%i: b0=64) in (64) {
// CHECK-NEXT: %v = tile.load %x[%i]
// CHECK-NEXT: tile.store %v, %out[%i]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @dead(%x: memref<64xf32>, %out: memref<64xf32>) {
  %tmp = host.call "aten.clone.default"(%x) args [unit] : (memref<64xf32>) -> (memref<64xf32>)
  %rows = host.reshape %tmp : memref<64xf32> to memref<8x8xf32>
  %last = host.alloc : memref<8x8xf32>
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
    %e = tile.exp %v : !tile.tile<b0=64 x f32>
    tile.store %e, %tmp[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    atomic.rmw add %e, %tmp[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    tile.store %v, %out[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
  }
  host.copy %rows to %last : memref<8x8xf32>, memref<8x8xf32>
  func.return
}

// -----

// Read through a view, returned, updated for the old value, or an argument: kept.
// CHECK-LABEL: func.func @alive
// CHECK: tile.store %v, %seen
// CHECK: tile.store %v, %given
// CHECK: atomic.rmw add %v, %counter
// CHECK: tile.store %v, %x
func.func @alive(%x: memref<64xf32>, %out: memref<64xf32>) -> memref<8x8xf32> {
  %seen = host.alloc : memref<64xf32>
  %view = host.reshape %seen : memref<64xf32> to memref<8x8xf32>
  %given = host.alloc : memref<64xf32>
  %back = host.reshape %given : memref<64xf32> to memref<8x8xf32>
  %counter = host.alloc fill 0.0 : memref<64xf32>
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %view[0, 0] : memref<8x8xf32> -> !tile.tile<f32>
    tile.store %v, %seen[0] : !tile.tile<f32>, memref<64xf32>
    tile.store %v, %given[0] : !tile.tile<f32>, memref<64xf32>
    %old = atomic.rmw add %v, %counter[0] : !tile.tile<f32>, memref<64xf32> -> !tile.tile<f32>
    tile.store %v, %x[0] : !tile.tile<f32>, memref<64xf32>
  }
  func.return %back : memref<8x8xf32>
}
