// RUN: kopt %s --split-input-file --verify-each -p 'strip-mine-cells{chip=v5p}' | filecheck %s
// RUN: kopt %s --split-input-file --verify-each -p 'strip-mine-cells{chip=v6e}' | filecheck %s --check-prefix ONE
// ONE-NOT: _core

// Each of two cores has 512 rows, whose cells may run in order. Numbers of blocks stay those of the source.
// CHECK-LABEL: func.func @rows
// CHECK: tile.grid (%i_core: b1=512, %i_cell: b0=32) in (1024, 512) {
// CHECK: [[FIRST:%.+]] = tile.begin %i_core
// CHECK: %i = tile.shift %i_cell by [[FIRST]]
// CHECK-DAG: [[CORE:%.+]] = tile.id %i_core
// CHECK-DAG: [[SHARE:%.+]] = arith.constant 16 : index
// CHECK-DAG: [[BEFORE:%.+]] = arith.muli [[CORE]], [[SHARE]]
// CHECK-DAG: [[CELL:%.+]] = tile.id %i_cell
// CHECK-DAG: %n = arith.addi [[BEFORE]], [[CELL]]
// CHECK-DAG: %count = arith.constant 32 : index
// CHECK: tile.load %x_1[%i, :]
// CHECK: tile.valid %i_cell
// CHECK: tile.store %s, %out[%i]
func.func @rows(%x: memref<1024x256xf32>) -> memref<1024xf32> {
  %e = host.alloc : memref<1024xf32>
  %o = host.launch @f (%x_1 = %x, %out = %e) writes [1] : (memref<1024x256xf32>, memref<1024xf32>) -> memref<1024xf32> {
    tile.grid (%i: b0=32) in (1024) {
      %v = tile.load %x_1[%i, :] : memref<1024x256xf32> -> !tile.tile<b0=32 x 256 x f32>
      %n = tile.id %i : !tile.range<b0=32>
      %count = tile.count %i : !tile.range<b0=32>
      %valid = tile.valid %i : !tile.range<b0=32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x 256 x f32>
      tile.store %s, %out[%i] : !tile.tile<b0=32 x f32>, memref<1024xf32>
    }
  }
  func.return %o : memref<1024xf32>
}

// -----

// Three rows of lanes cannot be shared out.
// CHECK-LABEL: func.func @odd
// CHECK: tile.grid (%i: b0=32) in (384) {
func.func @odd(%x: memref<384x256xf32>) -> memref<384xf32> {
  %e = host.alloc : memref<384xf32>
  %o = host.launch @f (%x_1 = %x, %out = %e) writes [1] : (memref<384x256xf32>, memref<384xf32>) -> memref<384xf32> {
    tile.grid (%i: b0=32) in (384) {
      %v = tile.load %x_1[%i, :] : memref<384x256xf32> -> !tile.tile<b0=32 x 256 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x 256 x f32>
      tile.store %s, %out[%i] : !tile.tile<b0=32 x f32>, memref<384xf32>
    }
  }
  func.return %o : memref<384xf32>
}

// -----

// Dimensions that are ordered keep their meaning: they have other numbers.
// CHECK-LABEL: func.func @ordered
// CHECK: tile.grid (%i_core: b2=128, %j: b1=8, %i_cell: b0=32) in (256, 16, 128) ordered [1] {
func.func @ordered(%x: memref<256x16xf32>, %old: memref<256xf32>) -> memref<256xf32> {
  %o = host.launch @f (%x_1 = %x, %out = %old) writes [1] : (memref<256x16xf32>, memref<256xf32>) -> memref<256xf32> {
    tile.grid (%j: b1=8, %i: b0=32) in (16, 256) ordered [0] {
      %v = tile.load %x_1[%i, %j] : memref<256x16xf32> -> !tile.tile<b0=32 x b1=8 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x b1=8 x f32>
      %before = tile.load %out[%i] : memref<256xf32> -> !tile.tile<b0=32 x f32>
      %sum = tile.add %before, %s : !tile.tile<b0=32 x f32>
      tile.store %sum, %out[%i] : !tile.tile<b0=32 x f32>, memref<256xf32>
    }
  }
  func.return %o : memref<256xf32>
}

// -----

// Cores have rows of their own already, by another dimension.
// CHECK-LABEL: func.func @apart
// CHECK: tile.grid (%j: b1=128, %i: b0=32) in (256, 128) {
func.func @apart(%x: memref<256x16xf32>) -> memref<256xf32> {
  %e = host.alloc : memref<256xf32>
  %o = host.launch @f (%x_1 = %x, %out = %e) writes [1] : (memref<256x16xf32>, memref<256xf32>) -> memref<256xf32> {
    tile.grid (%j: b1=128, %i: b0=32) in (256, 128) {
      %b = tile.begin %j : !tile.range<b1=128>
      %r = tile.shift %i by %b : !tile.range<b0=32>
      %v = tile.load %x_1[%r, :] : memref<256x16xf32> -> !tile.tile<b0=32 x 16 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x 16 x f32>
      tile.store %s, %out[%r] : !tile.tile<b0=32 x f32>, memref<256xf32>
    }
  }
  func.return %o : memref<256xf32>
}

// -----

// The last block has lanes that are not valid.
// CHECK-LABEL: func.func @ragged
// CHECK: tile.grid (%i: b0=32) in (1000) {
func.func @ragged(%x: memref<1024x16xf32>, %old: memref<1024xf32>) -> memref<1024xf32> {
  %o = host.launch @f (%x_1 = %x, %out = %old) writes [1] : (memref<1024x16xf32>, memref<1024xf32>) -> memref<1024xf32> {
    tile.grid (%i: b0=32) in (1000) {
      %v = tile.load %x_1[%i, :] : memref<1024x16xf32> -> !tile.tile<b0=32 x 16 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x 16 x f32>
      tile.store %s, %out[%i] : !tile.tile<b0=32 x f32>, memref<1024xf32>
    }
  }
  func.return %o : memref<1024xf32>
}

// -----

// Which visit is the first one of the range, cells of it do not tell.
// CHECK-LABEL: func.func @first
// CHECK: tile.grid (%i: b0=32) in (256) reduce [0] {
func.func @first(%old: memref<256xf32>) -> memref<256xf32> {
  %o = host.launch @f (%out = %old) writes [0] : (memref<256xf32>) -> memref<256xf32> {
    tile.grid (%i: b0=32) in (256) reduce [0] {
      tile.when first(%i) {
        %one = tile.full 1.0 : !tile.tile<b0=32 x f32>
        tile.store %one, %out[%i] : !tile.tile<b0=32 x f32>, memref<256xf32>
      }
    }
  }
  func.return %o : memref<256xf32>
}

// -----

// A loop stores a block part by part, which could be in rows of two cores by all that is known of its numbers.
// CHECK-LABEL: func.func @parts
// CHECK: tile.grid (%i: b0=32) in (256) {
func.func @parts(%x: memref<256x16xf32>, %old: memref<256xf32>) -> memref<256xf32> {
  %o = host.launch @f (%x_1 = %x, %out = %old) writes [1] : (memref<256x16xf32>, memref<256xf32>) -> memref<256xf32> {
    tile.grid (%i: b0=32) in (256) {
      %b = tile.begin %i : !tile.range<b0=32>
      %e = tile.end %i : !tile.range<b0=32>
      tile.for %j: b1=16 in (%b, %e) {
        %v = tile.load %x_1[%j, :] : memref<256x16xf32> -> !tile.tile<b1=16 x 16 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b1=16 x 16 x f32>
        tile.store %s, %out[%j] : !tile.tile<b1=16 x f32>, memref<256xf32>
      }
    }
  }
  func.return %o : memref<256xf32>
}
