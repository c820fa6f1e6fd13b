// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,unroll-single-trip-loops)' | filecheck %s

// 100 columns in one block of 128: the load moves with the rows' loop alone.
// CHECK-LABEL: @columns
// CHECK: tile.for %k: b0=8 in (0, %n) {
// CHECK-NEXT: %m = tile.whole 100 : !tile.range<b1=128>
// CHECK-NEXT: %v = tile.load %{{.*}}[%k, %m]
// CHECK-NEXT: tile.store %v
func.func @columns(%x: memref<64x100xf32>, %bounds: memref<1xi32>, %out: memref<64x100xf32>) {
  tile.grid (%g: b9=1) in (1) {
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    tile.for %k: b0=8 in (0, %n) {
      tile.for %m: b1=128 in (0, 100) {
        %v = tile.load %x[%k, %m] : memref<64x100xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.store %v, %out[%k, %m] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x100xf32>
      }
    }
  }
  func.return
}

// -----

// Two visits; one of 64 lanes, which no DMA copies; one that begins later; one that asks.
// CHECK-LABEL: @stay
// CHECK: tile.for %a: b1=128 in (0, 200)
// CHECK: tile.for %b: b2=64 in (0, 50)
// CHECK: tile.for %c: b3=128 in (128, 200)
// CHECK: tile.for %d: b4=128 in (0, 100)
func.func @stay(%x: memref<64x200xf32>, %bounds: memref<1xi32>, %out: memref<64x200xf32>) {
  tile.grid (%g: b9=1) in (1) {
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    tile.for %k: b0=8 in (0, %n) {
      tile.for %a: b1=128 in (0, 200) {
        %v = tile.load %x[%k, %a] : memref<64x200xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.store %v, %out[%k, %a] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x200xf32>
      }
      tile.for %b: b2=64 in (0, 50) {
        %v = tile.load %x[%k, %b] : memref<64x200xf32> -> !tile.tile<b0=8 x b2=64 x f32>
        tile.store %v, %out[%k, %b] : !tile.tile<b0=8 x b2=64 x f32>, memref<64x200xf32>
      }
      tile.for %c: b3=128 in (128, 200) {
        %v = tile.load %x[%k, %c] : memref<64x200xf32> -> !tile.tile<b0=8 x b3=128 x f32>
        tile.store %v, %out[%k, %c] : !tile.tile<b0=8 x b3=128 x f32>, memref<64x200xf32>
      }
      tile.for %d: b4=128 in (0, 100) {
        tile.when first(%d) {
          %v = tile.load %x[%k, %d] : memref<64x200xf32> -> !tile.tile<b0=8 x b4=128 x f32>
          tile.store %v, %out[%k, %d] : !tile.tile<b0=8 x b4=128 x f32>, memref<64x200xf32>
        }
      }
    }
  }
  func.return
}

// -----

// The only block is number 0 and begins at 0, also for what stands at the end of the grid's body.
// CHECK-LABEL: @numbers
// CHECK: %m = tile.whole 100 : !tile.range<b1=128>
// CHECK-NEXT: %id = arith.constant 0 : index
// CHECK-NEXT: %begin = arith.constant 0 : index
// CHECK-NEXT: %end = arith.constant 100 : index
// CHECK-NEXT: %v = tile.load %{{.*}}[%id, %begin]
// CHECK-NEXT: tile.store %v, %{{.*}}[%id, %end]
func.func @numbers(%x: memref<64x128xf32>, %out: memref<64x128xf32>) {
  tile.grid (%g: b9=1) in (1) {
    tile.for %m: b1=128 in (0, 100) {
      %id = tile.id %m : !tile.range<b1=128>
      %begin = tile.begin %m : !tile.range<b1=128>
      %end = tile.end %m : !tile.range<b1=128>
      %v = tile.load %x[%id, %begin] : memref<64x128xf32> -> !tile.tile<f32>
      tile.store %v, %out[%id, %end] : !tile.tile<f32>, memref<64x128xf32>
    }
  }
  func.return
}

// -----

// Blocks of scratch memory come without a DMA: of any size they are no more than a visit's.
// CHECK-LABEL: func.func @scratch
// CHECK-NEXT: host.launch @scratch () writes [] : () -> () {
// CHECK-NEXT: tile.grid (%g: b9=1) in (1) {
// CHECK-NEXT: %r = pallas.scratch : !tile.ref<8 x 56 x f32, vmem>
// CHECK-NEXT: %b = tile.whole 50 : !tile.range<b2=56>
// CHECK-NEXT: %v = tile.get %r[:, %b] : !tile.ref<8 x 56 x f32, vmem> -> !tile.tile<8 x b2=56 x f32>
// CHECK-NEXT: %w = tile.exp %v : !tile.tile<8 x b2=56 x f32>
// CHECK-NEXT: tile.put %w, %r[:, %b] : !tile.tile<8 x b2=56 x f32>, !tile.ref<8 x 56 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @scratch(%bounds: memref<1xi32>, %out: memref<64x200xf32>) {
  tile.grid (%g: b9=1) in (1) {
    %r = pallas.scratch : !tile.ref<8 x 56 x f32, vmem>
    tile.for %b: b2=56 in (0, 50) {
      %v = tile.get %r[:, %b] : !tile.ref<8 x 56 x f32, vmem> -> !tile.tile<8 x b2=56 x f32>
      %w = tile.exp %v : !tile.tile<8 x b2=56 x f32>
      tile.put %w, %r[:, %b] : !tile.tile<8 x b2=56 x f32>, !tile.ref<8 x 56 x f32, vmem>
    }
  }
  func.return
}
