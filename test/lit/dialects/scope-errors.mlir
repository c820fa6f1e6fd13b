// Values and tags out of scope.
// RUN: kopt %s --split-input-file --verify-diagnostics
// RUN: not kopt %s --split-input-file 2>&1 | filecheck %s

func.func @before(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    // expected-error @+1 {{operand #0 of 'tile.exp' (%v) is used before its definition}}
    %e = "tile.exp"(%v) : (!tile.tile<b0=8 x f32>) -> !tile.tile<b0=8 x f32>
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @escapes(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.full 0.0 : !tile.tile<f32>
  }
  // expected-error @+1 {{%v is not defined}}
  tile.store %v, %x[0] : !tile.tile<f32>, memref<8xf32>
  func.return
}

// -----

func.func @unbound() {
  // expected-error @+1 {{the tag 'b0' of !tile.tile<b0=8 x f32> (%v) is bound by no range}}
  %v = tile.full 0.0 : !tile.tile<b0=8 x f32>
  func.return
}

// -----

func.func @after() {
  // CHECK: error: the tag 'b0' of !tile.tile<b0=8 x f32> (%v) is used outside the loop that binds it
  // CHECK: note: %i is defined at {{.*}}scope-errors.mlir:[[# @LINE + 1]]:3
  tile.grid (%i: b0=8) in (8) {
  }
  // expected-error @+1 {{the tag 'b0' of !tile.tile<b0=8 x f32> (%v) is used outside the loop that binds it}}
  %v = tile.full 0.0 : !tile.tile<b0=8 x f32>
  func.return
}

// -----

// The block of an inner loop does not outlive it.
func.func @carried() {
  tile.grid (%i: b0=8) in (8) {
    tile.for %k: b1=4 in (0, 8) {
    }
    // expected-error @+1 {{the tag 'b1' of !tile.tile<b1=4 x f32> (%z) is used outside the loop that binds it}}
    %z = tile.full 0.0 : !tile.tile<b1=4 x f32>
  }
  func.return
}

// -----

func.func @twice() {
  tile.grid (%i: b0=8) in (8) {
  }
  // expected-error @+1 {{the tag 'b0' is bound twice: rename the range (%j) to a tag of its own}}
  tile.grid (%j: b0=8) in (8) {
  }
  func.return
}

// -----

func.func @whole_twice() {
  %v = tile.whole 100 : !tile.range<w0=128>
  // expected-error @+1 {{the tag 'w0' is bound twice: rename the range (%w) to a tag of its own}}
  %w = tile.whole 100 : !tile.range<w0=128>
  func.return
}

// -----

// Functions have tags of their own, and a shifted range is the range that it shifts.
func.func @fine(%n: index) {
  tile.grid (%i: b0=8) in (8) {
    %s = tile.shift %i by %n : !tile.range<b0=8>
    %v = tile.full 0.0 : !tile.tile<b0=8 x f32>
  }
  func.return
}
func.func @fine_too() {
  tile.grid (%i: b0=16) in (8) {
    %w = tile.whole 100 : !tile.range<w0=128>
    %v = tile.full 0.0 : !tile.tile<b0=16 x w0=128 x f32>
  }
  func.return
}

// -----

// expected-error @+1 {{a function is one block, found 2: its control flow is that of scf and tile}}
func.func @blocks(%x: memref<8xf32>) -> memref<8xf32> {
  func.return %x : memref<8xf32>
^bb1:
  func.return %x : memref<8xf32>
}

// -----

// A launch takes its arrays as operands: of what stands around it, it sees nothing.
func.func @around_a_launch(%x: memref<64xf32>, %y: memref<64xf32>) -> memref<64xf32> {
  %q = host.launch @k (%a = %x, %b = %y) writes [1] : (memref<64xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      // expected-error @+1 {{operand #0 of 'tile.load' (%x) is defined outside of 'host.launch', which sees no values from around it}}
      %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
      tile.store %v, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %q : memref<64xf32>
}

// -----

func.func @around_a_program(%x: memref<64xf32>) {
  %c = arith.constant 3 : index
  triton.launch @k (%a = %x) grid (1) num_warps 4 num_stages 2 {
    // expected-error @+1 {{operand #1 of 'tile.load' (%c) is defined outside of 'triton.launch', which sees no values from around it}}
    %v = tile.load %a[%c] : memref<64xf32> -> !tile.tile<f32>
    tile.store %v, %a[0] : !tile.tile<f32>, memref<64xf32>
  }
  func.return
}
