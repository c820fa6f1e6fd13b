// RUN: kopt %s --split-input-file --verify-each -p distribute-loops | filecheck %s

// Loops over columns become programs, also from inside of a loop to a computed bound, which stays.
// CHECK-LABEL: func.func @columns
// CHECK: tile.grid (%g: b0=1, %n: b2=64) in (16, 768) {
// CHECK: tile.for %m: b1=64 in (0, %count) {
// CHECK-NEXT: %v = tile.load %x[%m, %n]
// CHECK-NOT: tile.for
func.func @columns(%x: memref<4096x768xf32>, %lengths: memref<16xi32>, %out: memref<4096x768xf32>) {
  tile.grid (%g: b0=1) in (16) {
    %i = tile.begin %g : !tile.range<b0=1>
    %length = tile.load %lengths[%i] : memref<16xi32> -> !tile.tile<i32>
    %count = tile.extract %length : !tile.tile<i32> to index
    tile.for %m: b1=64 in (0, %count) {
      tile.for %n: b2=64 in (0, 768) {
        %v = tile.load %x[%m, %n] : memref<4096x768xf32> -> !tile.tile<b1=64 x b2=64 x f32>
        tile.store %v, %out[%m, %n] : !tile.tile<b1=64 x b2=64 x f32>, memref<4096x768xf32>
      }
    }
  }
  func.return
}

// -----

// RUN: kopt %s --split-input-file --verify-each -p 'distribute-loops{outermost=true}' | filecheck %s --check-prefix CORES
// For the cores of a TPU they are the first dimension. What is in no loop of computed bounds is left to plans.
// CORES-LABEL: func.func @columns
// CORES: tile.grid (%n: b2=64, %g: b0=1) in (768, 16) {
// CORES: tile.for %m: b1=64 in (0, %count) {
// CORES-NEXT: %v = tile.load %x[%m, %n]
// CORES-NOT: tile.for
// CORES-LABEL: func.func @plain
// CORES: tile.grid (%i: b0=8) in (64) {
// CORES: tile.for %j: b1=64 in (0, 256) {
// CHECK-LABEL: func.func @plain
// CHECK: tile.grid (%i: b0=8, %j: b1=64) in (64, 256) {
func.func @plain(%x: memref<64x256xf32>, %y: memref<64x256xf32>) {
  tile.grid (%i: b0=8) in (64) {
    tile.for %j: b1=64 in (0, 256) {
      %v = tile.load %x[%i, %j] : memref<64x256xf32> -> !tile.tile<b0=8 x b1=64 x f32>
      tile.store %v, %y[%i, %j] : !tile.tile<b0=8 x b1=64 x f32>, memref<64x256xf32>
    }
  }
  func.return
}

// -----

// What the launch reads and writes, what is summed up before, and stores by other blocks leave a loop as it is.
// CHECK-LABEL: func.func @kept
// CHECK: tile.grid (%i: b0=8) in (64) {
// CHECK: tile.for %j: b1=64
// CHECK: tile.grid (%a: b2=8) in (64) {
// CHECK: tile.for %b: b3=64
// CHECK: tile.grid (%c: b4=8) in (64) {
// CHECK: tile.for %d: b5=64
func.func @kept(%x: memref<64x256xf32>, %y: memref<64x256xf32>, %row: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) {
    tile.for %j: b1=64 in (0, 256) {
      %v = tile.load %x[%i, %j] : memref<64x256xf32> -> !tile.tile<b0=8 x b1=64 x f32>
      tile.store %v, %x[%i, %j] : !tile.tile<b0=8 x b1=64 x f32>, memref<64x256xf32>
    }
  }
  tile.grid (%a: b2=8) in (64) {
    %all = tile.load %x[%a, :] : memref<64x256xf32> -> !tile.tile<b2=8 x 256 x f32>
    %sum = tile.reduce add %all [1] : !tile.tile<b2=8 x 256 x f32>
    tile.for %b: b3=64 in (0, 256) {
      %wide = tile.broadcast %sum dims [0] : !tile.tile<b2=8 x f32> to !tile.tile<b2=8 x b3=64 x f32>
      tile.store %wide, %y[%a, %b] : !tile.tile<b2=8 x b3=64 x f32>, memref<64x256xf32>
    }
  }
  tile.grid (%c: b4=8) in (64) {
    tile.for %d: b5=64 in (0, 256) {
      %v = tile.load %x[%c, %d] : memref<64x256xf32> -> !tile.tile<b4=8 x b5=64 x f32>
      %last = tile.reduce add %v [1] : !tile.tile<b4=8 x b5=64 x f32>
      tile.store %last, %row[%c] : !tile.tile<b4=8 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

// Dimensions that are summed over, or that run in order, leave loops as they are.
// CHECK-LABEL: func.func @summed
// CHECK: tile.grid (%i: b0=8) in (64) reduce [0] {
// CHECK-NEXT: tile.for %j: b1=64
// CHECK: tile.grid (%a: b2=8) in (64) ordered [0] {
// CHECK-NEXT: tile.for %b: b3=64
func.func @summed(%x: memref<64x256xf32>, %y: memref<64x256xf32>) {
  tile.grid (%i: b0=8) in (64) reduce [0] {
    tile.for %j: b1=64 in (0, 256) {
      %v = tile.load %x[%i, %j] : memref<64x256xf32> -> !tile.tile<b0=8 x b1=64 x f32>
      tile.store %v, %y[%i, %j] : !tile.tile<b0=8 x b1=64 x f32>, memref<64x256xf32>
    }
  }
  tile.grid (%a: b2=8) in (64) ordered [0] {
    tile.for %b: b3=64 in (0, 256) {
      %v = tile.load %x[%a, %b] : memref<64x256xf32> -> !tile.tile<b2=8 x b3=64 x f32>
      tile.store %v, %y[%a, %b] : !tile.tile<b2=8 x b3=64 x f32>, memref<64x256xf32>
    }
  }
  func.return
}
