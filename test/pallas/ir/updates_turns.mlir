// Tickets, the last exchange, the first to swap: the cells run in the order they are written in.
func.func @turns(%x: memref<6x128xi32>, %lock: memref<1xi32>) -> (memref<6xi32>, memref<128xi32>, memref<6xi32>, memref<128xi32>) {
  %count = host.alloc fill 10 : memref<1xi32>
  %tickets = host.alloc : memref<6xi32>
  %last = host.alloc : memref<128xi32>
  %won = host.alloc : memref<6xi32>
  %mixed = host.alloc fill 0 : memref<128xi32>
  tile.grid (%i: b0=1) in (6) ordered [0] {
    %n = tile.begin %i : !tile.range<b0=1>
    %one = tile.full 3 : !tile.tile<i32>
    %v = tile.load %x[%n, :] : memref<6x128xi32> -> !tile.tile<128 x i32>
    %t = atomic.rmw add %one, %count[0] : !tile.tile<i32>, memref<1xi32> -> !tile.tile<i32>
    tile.store %t, %tickets[%n] : !tile.tile<i32>, memref<6xi32>
    atomic.rmw xchg %v, %last[:] : !tile.tile<128 x i32>, memref<128xi32>
    %free = tile.full 7 : !tile.tile<i32>
    %o = atomic.cas %free, %t, %lock[0] : !tile.tile<i32>, memref<1xi32>
    tile.store %o, %won[%n] : !tile.tile<i32>, memref<6xi32>
    atomic.rmw add %v, %mixed[:] : !tile.tile<128 x i32>, memref<128xi32>
    %m = tile.full 200 : !tile.tile<128 x i32>
    atomic.rmw min %m, %mixed[:] : !tile.tile<128 x i32>, memref<128xi32>
  }
  func.return %tickets, %last, %won, %mixed : memref<6xi32>, memref<128xi32>, memref<6xi32>, memref<128xi32>
}
