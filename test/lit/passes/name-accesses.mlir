// RUN: kopt %s --verify-each -p name-accesses | filecheck %s --check-prefix=HIDDEN
// RUN: kopt %s --verify-each -p name-accesses,cse | filecheck %s --check-prefix=MERGED
// RUN: kopt %s --verify-each -p name-accesses,cse | kopt - -p name-accesses | filecheck %s --check-prefix=MERGED

// Ids that the order of the program gives as well are not printed. Of two equal loads the first stays, with its id.
func.func @numbered(%x: memref<64xf32>, %y: memref<64xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %b = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %c = tile.load %y[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %d = tile.add %a, %b : !tile.tile<b0=16 x f32>
    %e = tile.add %d, %c : !tile.tile<b0=16 x f32>
    tile.store %e, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    atomic.rmw add %e, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}
// HIDDEN-LABEL: func.func @numbered
// HIDDEN: tile.load %x[%i] : memref
// HIDDEN: tile.load %x[%i] : memref
// HIDDEN: tile.load %y[%i] : memref
// HIDDEN: tile.store %e, %x[%i] : !tile
// HIDDEN: atomic.rmw add %e, %out[%i] : !tile
// MERGED-LABEL: func.func @numbered
// MERGED: tile.load %x[%i] : memref
// MERGED-NEXT: tile.load %y[%i] : memref
// MERGED: tile.store %e, %x[%i] access "x#2" : !tile
// MERGED: atomic.rmw add %e, %out[%i] : !tile

// Ids that are there stay; others are the next that are free.
func.func @given(%x: memref<64xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %b = tile.load %x[%i] access "x" : memref<64xf32> -> !tile.tile<b0=16 x f32>
    tile.store %a, %out[%i] access "result" : !tile.tile<b0=16 x f32>, memref<64xf32>
    tile.store %b, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}
// HIDDEN-LABEL: func.func @given
// HIDDEN: tile.load %x[%i] access "x#1" : memref
// HIDDEN: tile.load %x[%i] access "x" : memref
// HIDDEN: tile.store %a, %out[%i] access "result" : !tile
// HIDDEN: tile.store %b, %out[%i] access "out" : !tile
