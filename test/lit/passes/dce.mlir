// RUN: kopt %s -p 'dce' | filecheck %s

// What nothing uses goes, and what it alone used; reads too. What stores need stays, through loops.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    // CHECK: %a = tile.load %x[%i]
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    // CHECK-NOT: tile.neg
    // CHECK-NOT: tile.load
    %b = tile.load %y[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %c = tile.neg %b : !tile.tile<b0=16 x f32>
    %d = tile.neg %c : !tile.tile<b0=16 x f32>
    // CHECK: tile.store %a, %y[%i]
    tile.store %a, %y[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}

// Cells that only read are dead with all that they hold.
// CHECK-LABEL: func.func @cells
// CHECK-NEXT: func.return
func.func @cells(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}
