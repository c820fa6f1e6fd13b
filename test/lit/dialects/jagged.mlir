// Loops over extents that differ from item to item.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @sums(%data: memref<1000xf32>, %starts: memref<100xi32>, %lens: memref<100xi32>, %out: memref<100xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %lengths = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %begins = tile.load %starts[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %zero = tile.full 0.0 : !tile.tile<b0=8 x f32>
    // CHECK: %sum = jagged.for %k: b1=16 in %lengths iter(%a = %zero) -> (!tile.tile<b0=8 x f32>) {
    %sum = jagged.for %k: b1=16 in %lengths iter(%a = %zero) -> (!tile.tile<b0=8 x f32>) {
      // CHECK-NEXT: %has = jagged.valid %k of %lengths {note = "kept"} : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %has = jagged.valid %k of %lengths {note = "kept"} : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      // CHECK-NEXT: %r = jagged.rows %k from %begins {note = "kept"} : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %r = jagged.rows %k from %begins {note = "kept"} : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      // CHECK-NEXT: tile.load %data[%r] : memref<1000xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %v = tile.load %data[%r] : memref<1000xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %one = tile.cast %has : !tile.tile<b0=8 x b1=16 x i1> to !tile.tile<b0=8 x b1=16 x f32>
      %s = tile.reduce add %one [1] : !tile.tile<b0=8 x b1=16 x f32>
      %next = tile.add %a, %s : !tile.tile<b0=8 x f32>
      // CHECK: tile.yield %next : !tile.tile<b0=8 x f32>
      tile.yield %next : !tile.tile<b0=8 x f32>
    }
    // CHECK: jagged.for %l: b2=4 in %lengths attributes {note = "kept"} {
    jagged.for %l: b2=4 in %lengths attributes {note = "kept"} {
    }
    tile.store %sum, %out[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>
  }
  func.return
}
