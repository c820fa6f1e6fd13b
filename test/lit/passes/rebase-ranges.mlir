// RUN: kopt %s --split-input-file --verify-each --remarks --pass-pipeline='builtin.module(functionalise-host,rebase-ranges)' 2>&1 | filecheck %s

// A grid that starts inside a block: the array is sliced, other uses of the range are shifted.
// CHECK: remark: 'x' is sliced to [5:30] in dimension 0: no block starts there
// CHECK-LABEL: func.func @part
// CHECK: [[S:%.+]] = host.slice %x [5] [25] [1] : memref<100xi32> to memref<25xi32>
// CHECK: [[N:%.+]] = host.launch @part ([[A:%.+]] = [[S]]) writes [0] : (memref<25xi32>) -> memref<25xi32>
// CHECK: tile.grid (%i: b0=8) in (25)
// CHECK: [[I:%.+]] = tile.shift %i by %{{.+}} : !tile.range<b0=8>
// CHECK: [[V:%.+]] = tile.index [[I]]
// CHECK: tile.store [[V]], [[A]][%i] : !tile.tile<b0=8 x i32>, memref<25xi32>
// CHECK: [[X:%.+]] = host.insert [[N]] into %x [5] [25] [1]
// CHECK: func.return [[X]]
func.func @part(%x: memref<100xi32>) -> memref<100xi32> {
  tile.grid (%i: b0=8) in (5 to 30) {
    %v = tile.index %i : !tile.range<b0=8>
    tile.store %v, %x[%i] : !tile.tile<b0=8 x i32>, memref<100xi32>
  }
  func.return %x : memref<100xi32>
}

// -----

// A shifted store: only the shifted array is sliced.
// CHECK-LABEL: func.func @below
// CHECK: [[S:%.+]] = host.slice %out [75, 0] [50, 64] [1, 1]
// CHECK: host.launch @below ({{%.+}} = %y, [[O:%.+]] = [[S]]) writes [1]
// CHECK: tile.load {{%.+}}[%i, :]
// CHECK: tile.store {{%.+}}, [[O]][%i, :]
func.func @below(%y: memref<50x64xf32>, %out: memref<125x64xf32>) -> memref<125x64xf32> {
  tile.grid (%i: b0=16) in (50) {
    %c = arith.constant 75 : index
    %j = tile.shift %i by %c : !tile.range<b0=16>
    %v = tile.load %y[%i, :] : memref<50x64xf32> -> !tile.tile<b0=16 x 64 x f32>
    tile.store %v, %out[%j, :] : !tile.tile<b0=16 x 64 x f32>, memref<125x64xf32>
  }
  func.return %out : memref<125x64xf32>
}

// -----

// Left alone: shifts to where a block starts, beyond the array, or several of an array that is written.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: host.slice
func.func @kept(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) -> memref<64xf32> {
  tile.grid (%i: b0=8) in (32) {
    %c16 = arith.constant 16 : index
    %c33 = arith.constant 33 : index
    %c1 = arith.constant 1 : index
    %a = tile.shift %i by %c16 : !tile.range<b0=8>
    %b = tile.shift %i by %c33 : !tile.range<b0=8>
    %d = tile.shift %i by %c1 : !tile.range<b0=8>
    %p = tile.load %x[%a] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %q = tile.load %y[%b] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    tile.store %p, %z[%d] : !tile.tile<b0=8 x f32>, memref<64xf32>
    tile.store %q, %z[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return %z : memref<64xf32>
}

// -----

// Reads of one array under several shifts: each has an operand of its own.
// CHECK-LABEL: func.func @lengths
// CHECK: %offsets_1 = host.slice %offsets [1] [32] [1] : memref<33xi32> to memref<32xi32>
// CHECK-NEXT: host.launch @lengths (%offsets_2 = %offsets, %out_2 = %out, %offsets_3 = %offsets_1)
// CHECK: tile.load %offsets_2[%i] : memref<33xi32>
// CHECK: tile.load %offsets_3[%i] : memref<32xi32>
func.func @lengths(%offsets: memref<33xi32>, %out: memref<32xi32>) -> memref<32xi32> {
  tile.grid (%i: b0=8) in (32) {
    %c1 = arith.constant 1 : index
    %j = tile.shift %i by %c1 : !tile.range<b0=8>
    %starts = tile.load %offsets[%i] : memref<33xi32> -> !tile.tile<b0=8 x i32>
    %ends = tile.load %offsets[%j] : memref<33xi32> -> !tile.tile<b0=8 x i32>
    %n = tile.sub %ends, %starts : !tile.tile<b0=8 x i32>
    tile.store %n, %out[%i] : !tile.tile<b0=8 x i32>, memref<32xi32>
  }
  func.return %out : memref<32xi32>
}

// -----

// An array that the launch yields is sliced by yielding less of it, into a new one.
// CHECK-LABEL: func.func @yielded
// CHECK: [[BASE:%.+]] = host.alloc : memref<100xf32>
// CHECK: [[PART:%.+]] = host.launch @yielded () writes [] yields (%{{.+}} : memref<20xf32>)
// CHECK: [[WHOLE:%.+]] = host.insert [[PART]] into [[BASE]] [5] [20] [1]
// CHECK: func.return [[WHOLE]]
func.func @yielded() -> memref<100xf32> {
  %new = host.launch @yielded () writes [] yields (%out : memref<100xf32>) : () -> memref<100xf32> {
    tile.grid (%i: b0=8) in (5 to 25) {
      %v = tile.full 1.0 : !tile.tile<b0=8 x f32>
      tile.store %v, %out[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>
    }
  }
  func.return %new : memref<100xf32>
}
