// Loops: grids, sequential loops that carry values, first and last visits.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @grids(%x: memref<100x64xf32>) {
  // CHECK: tile.grid (%i: b0=16, %j: b1=8) in (100, 2 to 64) {
  tile.grid (%i: b0=16, %j: b1=8) in (100, 2 to 64) {
    %v = tile.load %x[%i, %j] : memref<100x64xf32> -> !tile.tile<b0=16 x b1=8 x f32>
    // CHECK: tile.store
    // CHECK-NEXT: {{^}}  }
    tile.store %v, %x[%i, %j] : !tile.tile<b0=16 x b1=8 x f32>, memref<100x64xf32>
  }
  // CHECK: tile.grid (%p: b2=16, %q: b3=8, %r: b4=1) in (100, 64, 3) reduce [1, 2] ordered [0] attributes {note = "kept"} {
  tile.grid (%p: b2=16, %q: b3=8, %r: b4=1) in (100, 64, 3) reduce [1, 2] ordered [0] attributes {note = "kept"} {
  }
  // CHECK: tile.grid () in () {
  tile.grid () in () {
  }
  // CHECK: tile.grid (%e: b5=4) in (0) {
  tile.grid (%e: b5=4) in (0) {
  }
  func.return
}

func.func @extents(%x: memref<?x64xf32>) {
  // CHECK: %m = tile.dim %x 0 : memref<?x64xf32>
  %m = tile.dim %x 0 : memref<?x64xf32>
  // CHECK-NEXT: %n = tile.dim %x 0 multiple 16 {note = "kept"} : memref<?x64xf32>
  %n = tile.dim %x 0 multiple 16 {note = "kept"} : memref<?x64xf32>
  // CHECK-NEXT: tile.grid (%i: b0=16, %j: b1=8, %k: b2=16) in (%m, 2 to 64, %n) {
  tile.grid (%i: b0=16, %j: b1=8, %k: b2=16) in (%m, 2 to 64, %n) {
  }
  // CHECK: %o = tile.extent "x.size(0)"
  %o = tile.extent "x.size(0)"
  // CHECK-NEXT: %p = tile.extent "x.size(0)" multiple 16 {note = "kept"}
  %p = tile.extent "x.size(0)" multiple 16 {note = "kept"}
  func.return
}

func.func @loops(%x: memref<100x64xf32>, %n: index) {
  tile.grid (%i: b0=16) in (100) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    // CHECK: tile.for %k: b1=8 in (0, 64) iter(%a = %z, %b = %z) -> (!tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>) {
    %r, %s = tile.for %k: b1=8 in (0, 64) iter(%a = %z, %b = %z) -> (!tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>) {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=16 x b1=8 x f32>
      %t = tile.reduce add %v [1] : !tile.tile<b0=16 x b1=8 x f32>
      %u = tile.add %a, %t : !tile.tile<b0=16 x f32>
      // CHECK: tile.yield %u, %a : !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>
      tile.yield %u, %a : !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>
    }
    // CHECK: tile.for %l: b2=8 in (%n, 64) schedule prefetch attributes {note = "kept"} {
    tile.for %l: b2=8 in (%n, 64) schedule prefetch attributes {note = "kept"} {
      %v = tile.load %x[%i, %l] : memref<100x64xf32> -> !tile.tile<b0=16 x b2=8 x f32>
      // CHECK: tile.store
      // CHECK-NEXT: {{^}}    }
      tile.store %v, %x[%i, %l] : !tile.tile<b0=16 x b2=8 x f32>, memref<100x64xf32>
    }
    // CHECK: tile.for %m: b3=1 in (0, %n) {
    tile.for %m: b3=1 in (0, %n) {
    }
    // CHECK: tile.for %o: b4=4 in (-8, %n) {
    tile.for %o: b4=4 in (-8, %n) {
    }
  }
  func.return
}

func.func @visits(%x: memref<100xf32>) {
  tile.grid (%i: b0=16, %k: b1=8) in (100, 64) reduce [1] {
    // CHECK: tile.when first(%k) {
    tile.when first(%k) {
      %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
      tile.store %z, %x[%i] : !tile.tile<b0=16 x f32>, memref<100xf32>
    }
    // CHECK: tile.when last(%i, %k) attributes {note = "kept"} {
    tile.when last(%i, %k) attributes {note = "kept"} {
    }
  }
  func.return
}
