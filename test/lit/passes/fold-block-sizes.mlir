// RUN: kopt %s -p 'fold-block-sizes' | filecheck %s

// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: memref<100xi32>, %y: memref<64xi32>) {
  tile.grid (%i: b0=16, %j: b1=32) in (100, 64) {
    // CHECK: %n = arith.constant 16 : index
    %n = tile.block_size %i : !tile.range<b0=16>
    // A block may be ragged: its valid lanes are counted when it runs.
    // CHECK-NEXT: %[[BEGIN:.*]] = tile.begin %i : !tile.range<b0=16>
    // CHECK-NEXT: %[[END:.*]] = tile.end %i : !tile.range<b0=16>
    // CHECK-NEXT: %{{.*}} = arith.subi %[[END]], %[[BEGIN]] : index
    %v = tile.valid_count %i : !tile.range<b0=16>
    // Blocks that divide the extent are full.
    // CHECK-NEXT: %w = arith.constant 32 : index
    %w = tile.valid_count %j : !tile.range<b1=32>
    // So is the distance between the ends of one, where the source asks for these.
    // CHECK-NEXT: tile.begin %j
    // CHECK-NEXT: tile.end %j
    // CHECK-NEXT: %d = arith.constant 32 : index
    %b = tile.begin %j : !tile.range<b1=32>
    %e = tile.end %j : !tile.range<b1=32>
    %d = arith.subi %e, %b : index
    // CHECK-NEXT: tile.begin %i
    // CHECK-NEXT: tile.end %i
    // CHECK-NEXT: %{{.*}} = arith.subi
    %c = tile.begin %i : !tile.range<b0=16>
    %f = tile.end %i : !tile.range<b0=16>
    %g = arith.subi %f, %c : index
    %o = arith.addi %d, %g : index
    %r = arith.addi %n, %v : index
    %s = arith.addi %r, %o : index
    %t = arith.addi %s, %w : index
    %u = tile.splat %t : index to !tile.tile<b0=16 x i32>
    tile.store %u, %x[%i] : !tile.tile<b0=16 x i32>, memref<100xi32>
  }
  func.return
}
