// RUN: kopt %s --split-input-file -p reduce-expanded-updates | filecheck %s

// Lanes that meet are combined first, in f32, and masked ones change nothing. The view has no use left.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: host.expand
// CHECK: %[[WIDE:.*]] = tile.cast %v : !tile.tile<b0=8 x b1=16 x bf16> to !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %[[ZERO:.*]] = tile.full 0.0
// CHECK-NEXT: %[[KEPT:.*]] = tile.select %m, %[[WIDE]], %[[ZERO]]
// CHECK-NEXT: %[[SUM:.*]] = tile.reduce add %[[KEPT]] [0]
// CHECK-NEXT: %[[ROUNDED:.*]] = tile.cast %[[SUM]] : !tile.tile<b1=16 x f32> to !tile.tile<b1=16 x bf16>
// CHECK-NEXT: atomic.rmw add %[[ROUNDED]], %out[0, %j] : !tile.tile<b1=16 x bf16>, memref<1x40xbf16>
func.func @sums(%x: memref<37x40xbf16>, %k: memref<37x40xi1>, %out: memref<1x40xbf16>) {
  %wide = host.expand %out : memref<1x40xbf16> to memref<37x40xbf16, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
    %v = tile.load %x[%i, %j] : memref<37x40xbf16> -> !tile.tile<b0=8 x b1=16 x bf16>
    %m = tile.load %k[%i, %j] : memref<37x40xi1> -> !tile.tile<b0=8 x b1=16 x i1>
    atomic.rmw add %v, %wide[%i, %j] mask %m : !tile.tile<b0=8 x b1=16 x bf16>, memref<37x40xbf16, strided<[0, 1]>>
  }
  func.return
}

// -----

// An exchange does not commute: it stays.
// CHECK-LABEL: func.func @last
// CHECK: atomic.rmw xchg %v, %wide[%i, %j]
func.func @last(%x: memref<37x40xf32>, %out: memref<1x40xf32>) {
  %wide = host.expand %out : memref<1x40xf32> to memref<37x40xf32, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
    %v = tile.load %x[%i, %j] : memref<37x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    atomic.rmw xchg %v, %wide[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
  }
  func.return
}

// -----

// One row of the view, by number: nothing meets.
// CHECK-LABEL: func.func @one
// CHECK: atomic.rmw max %v, %out[0, %j]
func.func @one(%x: memref<40xi32>, %out: memref<1x40xi32>) {
  %wide = host.expand %out : memref<1x40xi32> to memref<37x40xi32, strided<[0, 1]>>
  tile.grid (%j: b1=16) in (40) {
    %v = tile.load %x[%j] : memref<40xi32> -> !tile.tile<b1=16 x i32>
    atomic.rmw max %v, %wide[3, %j] : !tile.tile<b1=16 x i32>, memref<37x40xi32, strided<[0, 1]>>
  }
  func.return
}
