// RUN: kopt %s --split-input-file --verify-each --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,narrow-atomics)' | filecheck %s

// At most 80 lanes count in one element: nothing to check. What is returned has 64 bits again.
// CHECK-LABEL: func.func @counts
// CHECK-NOT: kopt.interval
// CHECK: %[[OUT:.+]] = host.alloc fill 0 : memref<5xi32>
// CHECK: host.launch @counts ({{.*}} = %[[OUT]]
// CHECK: [[ONE:%.+]] = tile.cast {{%.+}} : !tile.tile<b0=16 x i64> to !tile.tile<b0=16 x i32>
// CHECK-NEXT: atomic.rmw add [[ONE]], {{.*}} memref<5xi32> -> !tile.tile<b0=16 x i32>
// CHECK-NEXT: tile.cast {{%.+}} : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x i64>
// CHECK: host.call "prims.convert_element_type.default"({{.*}}) args [unit, "i64"]
func.func @counts(%bins: memref<77xi32>, %tickets: memref<77xi64>) -> memref<5xi64> {
  %out = host.alloc fill 0 : memref<5xi64>
  tile.grid (%i: b0=16) in (77) {
    %n = tile.load %bins[%i] : memref<77xi32> -> !tile.tile<b0=16 x i32>
    %one = tile.full 1 : !tile.tile<b0=16 x i64>
    %t = atomic.rmw add %one, %out[%n] : !tile.tile<b0=16 x i64>, memref<5xi64> -> !tile.tile<b0=16 x i64>
    tile.store %t, %tickets[%i] : !tile.tile<b0=16 x i64>, memref<77xi64>
  }
  func.return %out : memref<5xi64>
}

// -----

// Four blocks of 8 rows meet: 32 numbers of 2^24 are half of what fits, and leave as much for what was there.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %x: memref<32x16xi64> {kopt.interval = array<i64: -33554431, 33554431>}
// CHECK-SAME: %out: memref<16xi64> {kopt.interval = array<i64: -1073741855, 1073741855>}
func.func @sums(%x: memref<32x16xi64>, %out: memref<16xi64>) {
  tile.grid (%i: b0=8, %j: b1=16) in (32, 16) {
    %v = tile.load %x[%i, %j] : memref<32x16xi64> -> !tile.tile<b0=8 x b1=16 x i64>
    %s = tile.reduce add %v [0] : !tile.tile<b0=8 x b1=16 x i64>
    atomic.rmw add %s, %out[%j] : !tile.tile<b1=16 x i64>, memref<16xi64>
  }
  func.return
}

// -----

// The largest number stays one of those that were there.
// CHECK-LABEL: func.func @largest
// CHECK-SAME: %x: memref<32x16xi64> {kopt.interval = array<i64: -2147483647, 2147483647>}
// CHECK-SAME: %out: memref<16xi64> {kopt.interval = array<i64: -2147483647, 2147483647>}
// CHECK: atomic.rmw max {{.*}} memref<16xi32>
func.func @largest(%x: memref<32x16xi64>, %out: memref<16xi64>) {
  tile.grid (%i: b0=8, %j: b1=16) in (32, 16) {
    %v = tile.load %x[%i, %j] : memref<32x16xi64> -> !tile.tile<b0=8 x b1=16 x i64>
    %s = tile.reduce max %v [0] : !tile.tile<b0=8 x b1=16 x i64>
    atomic.rmw max %s, %out[%j] : !tile.tile<b1=16 x i64>, memref<16xi64>
  }
  func.return
}

// -----

func.func @many(%x: memref<1073741824xi1>, %out: memref<1xi64>) {
  tile.grid (%i: b0=1024) in (1073741824) {
    %large = tile.full 4 : !tile.tile<i64>
    // expected-error @+1 {{a TPU has no 64-bit integers, and updates of 'out' may not fit 32 bits: additions to one element may come to 4,194,304,000}}
    atomic.rmw add %large, %out[0] : !tile.tile<i64>, memref<1xi64>
    %larger = tile.full 3996 : !tile.tile<i64>
    atomic.rmw add %larger, %out[0] : !tile.tile<i64>, memref<1xi64>
  }
  func.return
}

// -----

func.func @often(%n: memref<1xi32>, %out: memref<1xi64>) {
  tile.grid (%i: b0=1) in (8) {
    %c = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
    %end = tile.extract %c : !tile.tile<i32> to index
    tile.for %k: b1=1 in (0, %end) {
      %one = tile.full 1 : !tile.tile<i64>
      // expected-error @+1 {{updates of 'out' may not fit 32 bits: how often it is updated is not known}}
      atomic.rmw add %one, %out[0] : !tile.tile<i64>, memref<1xi64>
    }
  }
  func.return
}
