// A running counter for each of a few bins, by number: what an earlier cell left is read.
func.func @tickets_by_number(%at: memref<12xi32>) -> (memref<300xi32>, memref<12xi32>) {
  %count = host.alloc fill 0 : memref<300xi32>
  %tickets = host.alloc : memref<12xi32>
  tile.grid (%i: b0=1) in (12) ordered [0] {
    %n = tile.begin %i : !tile.range<b0=1>
    %t = tile.load %at[%n] : memref<12xi32> -> !tile.tile<i32>
    %q = tile.full 40 : !tile.tile<i32>
    %b = tile.floordiv %t, %q : !tile.tile<i32>
    %r = tile.extract %b : !tile.tile<i32> to index
    %one = tile.full 1 : !tile.tile<i32>
    %p = atomic.rmw add %one, %count[%r] : !tile.tile<i32>, memref<300xi32> -> !tile.tile<i32>
    tile.store %p, %tickets[%n] : !tile.tile<i32>, memref<12xi32>
  }
  func.return %count, %tickets : memref<300xi32>, memref<12xi32>
}
