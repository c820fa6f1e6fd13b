// RUN: kopt %s --split-input-file --verify-diagnostics -p verify-index-widths | filecheck %s

// What fits 32 bits, is not known, or follows from the numbers of a loop that is itself longer, is left as it is.
// CHECK-LABEL: func.func @right
// CHECK: arith.muli %fits
// CHECK: arith.muli %known
// CHECK: arith.addi %begin
func.func @right(%n: memref<1xi32>, %out: memref<3000000000xi32>) {
  tile.grid (%i: b0=4, %j: b1=4) in (1000, 3000000000) {
    %factor = arith.constant 2000000 : index
    %fits = tile.begin %i : !tile.range<b0=4>
    %product = arith.muli %fits, %factor : index
    %zero = arith.constant 0 : index
    %tile = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
    %known = tile.extract %tile : !tile.tile<i32> to index
    %unknown = arith.muli %known, %factor : index
    %begin = tile.begin %j : !tile.range<b1=4>
    %later = arith.addi %begin, %factor : index
    %again = arith.muli %later, %factor : index
  }
  func.return
}

// -----

func.func @product(%out: memref<8xi32>) {
  tile.grid (%i: b0=4) in (8) {
    %factor = arith.constant 1073741824 : index
    %begin = tile.begin %i : !tile.range<b0=4>
    // expected-error @+1 {{a loop's number is computed in 32 bits, and this one goes from 0 to 4294967296}}
    %product = arith.muli %begin, %factor : index
  }
  func.return
}
