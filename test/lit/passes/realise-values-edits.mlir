// RUN: kopt %s --verify-each -p 'realise-values,cse,dce' | filecheck %s
// RUN: kopt %s --verify-each -p 'realise-values,cse,dce,plan-accesses,verify-plan' | filecheck %s --check-prefix=AFTER

// Plans that a person wrote: the same embedding by a product, and by a DMA a row. The last plan says what comes of it.
// CHECK-LABEL: func.func @by_product
// CHECK: tile.grid (%i: b0=16) in (64) {
// CHECK: [[T:%.+]] = tile.load %table[:, :] : memref<300x256xf32> -> !tile.tile<300 x 256 x f32>
// CHECK: tile.take_along [[T]], {{%.+}} dim 0
// CHECK-LABEL: func.func @by_rows
// CHECK: tile.load %{{table.*}}[%{{.+}}, :] : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
// AFTER-LABEL: func.func @by_product
// AFTER: = %table window
// AFTER-LABEL: func.func @by_rows
// AFTER: = %{{table.*}} rows
func.func @by_product(%a: memref<64xi32>, %b: memref<300x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @by_product (%ids = %a, %table = %b) writes [] yields (%out : memref<64x256xf32>) : (memref<64xi32>, memref<300x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @t = %table one_hot} {
      %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %table[%n, :] via @t : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}
func.func @by_rows(%a: memref<64xi32>, %b: memref<300x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @by_rows (%ids = %a, %table = %b) writes [] yields (%out : memref<64x256xf32>) : (memref<64xi32>, memref<300x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @t = %table rows} {
      %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %table[%n, :] via @t : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// A label's logit from the row that another access has, or by a DMA of its own; the row's buffer says nothing yet.
// CHECK-LABEL: func.func @label
// CHECK: tile.grid (%i: b0=16) in (64) {
// CHECK: [[R:%.+]] = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=16 x 1000 x f32>
// CHECK: tile.take_along [[R]], {{%.+}} dim 1
// CHECK-LABEL: func.func @label_by_rows
// CHECK: [[R:%.+]] = tile.load %x_1[%{{.+}}, :] : memref<64x1000xf32> -> !tile.tile<b0=16 x 1000 x f32>
// CHECK: tile.take_along [[R]], {{%.+}} dim 1
// AFTER-LABEL: func.func @label
// AFTER: @x = %x window(i) x2
// AFTER-LABEL: func.func @label_by_rows
// AFTER: = %x window(i) x2
// AFTER: = %x_1 rows
func.func @label(%a: memref<64x1000xf32>, %b: memref<64xi32>) -> memref<64xf32> {
  %r = host.launch @label (%x = %a, %labels = %b) writes [] yields (%out : memref<64xf32>) : (memref<64x1000xf32>, memref<64xi32>) -> memref<64xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @row = %x window @x = %x pick from @row} {
      %row = tile.load %x[%i, :] via @row : memref<64x1000xf32> -> !tile.tile<b0=16 x 1000 x f32>
      %m = tile.reduce max %row [1] : !tile.tile<b0=16 x 1000 x f32>
      %k = tile.index %i : !tile.range<b0=16>
      %n = tile.load %labels[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%k, %n] via @x : memref<64x1000xf32> -> !tile.tile<b0=16 x f32>
      %d = tile.sub %m, %v : !tile.tile<b0=16 x f32>
      tile.store %d, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
  }
  func.return %r : memref<64xf32>
}
func.func @label_by_rows(%a: memref<64x1000xf32>, %b: memref<64xi32>) -> memref<64xf32> {
  %r = host.launch @label_by_rows (%x = %a, %labels = %b) writes [] yields (%out : memref<64xf32>) : (memref<64x1000xf32>, memref<64xi32>) -> memref<64xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x rows} {
      %row = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=16 x 1000 x f32>
      %m = tile.reduce max %row [1] : !tile.tile<b0=16 x 1000 x f32>
      %k = tile.index %i : !tile.range<b0=16>
      %n = tile.load %labels[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%k, %n] via @x : memref<64x1000xf32> -> !tile.tile<b0=16 x f32>
      %d = tile.sub %m, %v : !tile.tile<b0=16 x f32>
      tile.store %d, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
  }
  func.return %r : memref<64xf32>
}

// Sums of rows by a product, by a loop on the chip, or by a loop of DMAs.
// CHECK-LABEL: func.func @product
// CHECK: tile.dot %hot
// CHECK-LABEL: func.func @loop
// CHECK: tile.for %{{.+}}: r0=1
// CHECK-NOT: space
// CHECK-LABEL: func.func @dmas
// CHECK: tile.load %{{.+}} {space = "hbm"}
// CHECK: tile.store %{{.+}} {space = "hbm"}
// AFTER-LABEL: func.func @product
// AFTER: = %out window
// AFTER-LABEL: func.func @dmas
// AFTER: = %out row_dma
func.func @product(%a: memref<64xi32>, %b: memref<64x256xf32>, %c: memref<384x256xf32>) -> memref<384x256xf32> {
  %r = host.launch @product (%n = %a, %v = %b, %out = %c) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<384x256xf32>) -> memref<384x256xf32> {
    tile.grid (%i: b0=64) in (64) plan {order [i] @out = %out one_hot} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=64 x i32>
      %x = tile.load %v[%i, :] : memref<64x256xf32> -> !tile.tile<b0=64 x 256 x f32>
      atomic.rmw add %x, %out[%rows, :] via @out : !tile.tile<b0=64 x 256 x f32>, memref<384x256xf32>
    }
  }
  func.return %r : memref<384x256xf32>
}
func.func @loop(%a: memref<64xi32>, %b: memref<64x256xf32>, %c: memref<384x256xf32>) -> memref<384x256xf32> {
  %r = host.launch @loop (%n = %a, %v = %b, %out = %c) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<384x256xf32>) -> memref<384x256xf32> {
    tile.grid (%i: b0=64) in (64) plan {order [i] @out = %out row_loop} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=64 x i32>
      %x = tile.load %v[%i, :] : memref<64x256xf32> -> !tile.tile<b0=64 x 256 x f32>
      atomic.rmw add %x, %out[%rows, :] via @out : !tile.tile<b0=64 x 256 x f32>, memref<384x256xf32>
    }
  }
  func.return %r : memref<384x256xf32>
}
func.func @dmas(%a: memref<64xi32>, %b: memref<64x256xf32>, %c: memref<384x256xf32>) -> memref<384x256xf32> {
  %r = host.launch @dmas (%n = %a, %v = %b, %out = %c) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<384x256xf32>) -> memref<384x256xf32> {
    tile.grid (%i: b0=64) in (64) plan {order [i] @out = %out row_dma} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=64 x i32>
      %x = tile.load %v[%i, :] : memref<64x256xf32> -> !tile.tile<b0=64 x 256 x f32>
      atomic.rmw add %x, %out[%rows, :] via @out : !tile.tile<b0=64 x 256 x f32>, memref<384x256xf32>
    }
  }
  func.return %r : memref<384x256xf32>
}
