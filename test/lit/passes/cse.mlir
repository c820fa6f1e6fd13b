// RUN: kopt %s -p 'cse' | filecheck %s

// Equal loads are one until something is stored, which may be to the same array.
// CHECK-LABEL: func.func @loads
func.func @loads(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    // CHECK: %a = tile.load %x[%i]
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    // CHECK-NEXT: %c = tile.add %a, %a
    %b = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %c = tile.add %a, %b : !tile.tile<b0=16 x f32>
    // CHECK-NEXT: tile.store %c, %y[%i]
    tile.store %c, %y[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    // CHECK-NEXT: %d = tile.load %x[%i]
    %d = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    // CHECK-NEXT: %f = tile.add %d, %d
    %e = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %f = tile.add %d, %e : !tile.tile<b0=16 x f32>
    // What was computed without reading is known for good.
    // CHECK-NEXT: %h = tile.mul %f, %c
    %g = tile.add %a, %b : !tile.tile<b0=16 x f32>
    %h = tile.mul %f, %g : !tile.tile<b0=16 x f32>
    // CHECK-NEXT: tile.store %h, %y[%i]
    tile.store %h, %y[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    // A load that nothing uses is dead.
    // CHECK-NEXT: }
    %unused = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}

// Reads of a loop's body are not those around it, and what a loop writes ends what is known after it.
// CHECK-LABEL: func.func @loops
func.func @loops(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    // CHECK: %a = tile.load %x[%i]
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    // CHECK: tile.for
    tile.for %k: b1=1 in (0, 4) {
      // CHECK-NEXT: %b = tile.load %x[%i]
      %b = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
      %c = tile.add %b, %a : !tile.tile<b0=16 x f32>
      tile.store %c, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
    // CHECK: %d = tile.load %x[%i]
    %d = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    tile.store %d, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}
