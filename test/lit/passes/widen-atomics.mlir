// RUN: kopt %s --split-input-file --verify-diagnostics -p widen-atomics | filecheck %s
// RUN: kopt %s --split-input-file -p 'widen-atomics{chip=sm80}' | filecheck %s --check-prefix=OLD

// Few additions meet in an element: 16-bit floats are added to as they are where the chip can, else in f32, unrounded.
// CHECK-LABEL: func.func @few
// CHECK: atomic.rmw add %n, %out[%i] : !tile.tile<b0=8 x bf16>, memref<20xbf16>
// OLD-LABEL: func.func @few
// OLD-NEXT: %out_wide = host.alloc : memref<20xf32>
// OLD-NEXT: host.copy %out to %out_wide : memref<20xbf16>, memref<20xf32>
// OLD: atomic.rmw add %v, %out_wide[%i] : !tile.tile<b0=8 x f32>, memref<20xf32>
// OLD: host.copy %out_wide to %out : memref<20xf32>, memref<20xbf16>
// OLD-NEXT: func.return
func.func @few(%x: memref<20xf32>, %out: memref<20xbf16>) {
  tile.grid (%i: b0=8, %s: b1=1) in (20, 16) {
    %v = tile.load %x[%i] : memref<20xf32> -> !tile.tile<b0=8 x f32>
    %n = tile.cast %v : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    atomic.rmw add %n, %out[%i] : !tile.tile<b0=8 x bf16>, memref<20xbf16>
  }
  func.return
}

// -----

// Many may meet: a 17th cell, or computed rows.
// CHECK-LABEL: func.func @many
// CHECK: host.copy %a to %a_wide
// CHECK: host.copy %b to %b_wide
func.func @many(%a: memref<20xf16>, %b: memref<20xbf16>, %rows: memref<20xi32>) {
  tile.grid (%i: b0=8, %s: b1=1) in (20, 17) {
    %v = tile.full 1.0 : !tile.tile<b0=8 x f16>
    atomic.rmw add %v, %a[%i] : !tile.tile<b0=8 x f16>, memref<20xf16>
  }
  tile.grid (%j: b2=8) in (20) {
    %n = tile.load %rows[%j] : memref<20xi32> -> !tile.tile<b2=8 x i32>
    %w = tile.full 1.0 : !tile.tile<b2=8 x bf16>
    atomic.rmw add %w, %b[%n] : !tile.tile<b2=8 x bf16>, memref<20xbf16>
  }
  func.return
}

// -----

// Every access of the grid goes to the wider array; 32 bits stay as they are.
// CHECK-LABEL: func.func @accesses
// CHECK-NOT: %y_wide
// CHECK: [[V:%v.*]] = tile.load %x_wide[%i] : memref<20xi32> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: tile.cast [[V]]
// CHECK: [[O:%.+]] = atomic.rmw max {{%.+}}, %x_wide[%i] ordering acquire : !tile.tile<b0=8 x i32>, memref<20xi32> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: tile.cast [[O]]
// CHECK: tile.store {{%.+}}, %x_wide[%i]
// CHECK: [[C:%.+]] = atomic.cas {{%.+}}, {{%.+}}, %x_wide[%i]
func.func @accesses(%x: memref<20xi8>, %y: memref<20xi32>) {
  tile.grid (%i: b0=8) in (20) {
    %v = tile.load %x[%i] : memref<20xi8> -> !tile.tile<b0=8 x i8>
    %old = atomic.rmw max %v, %x[%i] ordering acquire : !tile.tile<b0=8 x i8>, memref<20xi8> -> !tile.tile<b0=8 x i8>
    tile.store %old, %x[%i] : !tile.tile<b0=8 x i8>, memref<20xi8>
    %c = atomic.cas %v, %old, %x[%i] : !tile.tile<b0=8 x i8>, memref<20xi8>
    %one = tile.full 1 : !tile.tile<b0=8 x i32>
    atomic.rmw add %one, %y[%i] : !tile.tile<b0=8 x i32>, memref<20xi32>
  }
  func.return
}

// -----

// A plan's buffers are of the array that is accessed then; those of others stay.
// CHECK-LABEL: func.func @planned
// CHECK-NEXT: %a_wide = host.alloc : memref<20xi32>
// CHECK-NEXT: host.copy %a to %a_wide : memref<20xi8>, memref<20xi32>
// CHECK-NEXT: tile.grid (%i: b0=8) in (20) plan {order [i] parallel [i]
// CHECK-NEXT: @a = %a_wide pointer
// CHECK-NEXT: @b = %b pointer} {
// CHECK-NEXT: %v = tile.load %b[%i] via @b : memref<20xi32> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: %n = tile.cast %v : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x i8>
// CHECK-NEXT: %n_1 = tile.cast %n : !tile.tile<b0=8 x i8> to !tile.tile<b0=8 x i32>
// CHECK-NEXT: atomic.rmw max %n_1, %a_wide[%i] via @a : !tile.tile<b0=8 x i32>, memref<20xi32>
// CHECK-NEXT: }
// CHECK-NEXT: host.copy %a_wide to %a : memref<20xi32>, memref<20xi8>
// CHECK-NEXT: func.return
func.func @planned(%a: memref<20xi8>, %b: memref<20xi32>) {
  tile.grid (%i: b0=8) in (20) plan {order [i] parallel [i]
      @a = %a pointer
      @b = %b pointer} {
    %v = tile.load %b[%i] via @b : memref<20xi32> -> !tile.tile<b0=8 x i32>
    %n = tile.cast %v : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x i8>
    atomic.rmw max %n, %a[%i] via @a : !tile.tile<b0=8 x i8>, memref<20xi8>
  }
  func.return
}
