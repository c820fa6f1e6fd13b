// What atomic updates refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @kind(%x: memref<8xf32>, %v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{atomic.rmw knows add, max, min, and, or, xor, xchg, found 'mul'}}
  atomic.rmw mul %v, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  func.return
}

// -----

func.func @bits(%x: memref<8xf32>, %v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{atomic.rmw xor needs integers, found f32}}
  atomic.rmw xor %v, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  func.return
}

// -----

func.func @ordering(%x: memref<8xf32>, %v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{atomic.rmw knows the orderings relaxed, acquire, release, acq_rel, found "seq_cst"}}
  atomic.rmw add %v, %x[:] ordering seq_cst : !tile.tile<8 x f32>, memref<8xf32>
  func.return
}

// -----

func.func @block(%x: memref<8xf32>, %v: !tile.tile<4 x f32>) {
  // expected-error @+1 {{the index list addresses !tile.tile<8 x f32>, found !tile.tile<4 x f32>}}
  atomic.rmw add %v, %x[:] : !tile.tile<4 x f32>, memref<8xf32>
  func.return
}

// -----

func.func @cas(%x: memref<8xi32>, %v: !tile.tile<8 x i32>, %e: !tile.tile<8 x i64>) {
  // expected-error @+1 {{atomic.cas compares, swaps and gives one type}}
  %p = atomic.cas %e, %v, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  func.return
}

// -----

func.func @truth(%x: memref<8xi1>, %v: !tile.tile<8 x i1>) {
  // expected-error @+1 {{atomic.rmw add needs numbers, found i1}}
  atomic.rmw add %v, %x[:] : !tile.tile<8 x i1>, memref<8xi1>
  func.return
}

// -----

func.func @mask(%x: memref<8xi32>, %v: !tile.tile<8 x i32>, %m: !tile.tile<4 x i1>) {
  // expected-error @+1 {{the mask must be !tile.tile<8 x i1>, found !tile.tile<4 x i1>}}
  atomic.rmw add %v, %x[:] mask %m : !tile.tile<8 x i32>, memref<8xi32>
  func.return
}
