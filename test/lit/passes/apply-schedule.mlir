// RUN: kopt %s --verify-each -p apply-schedule --split-input-file --verify-diagnostics | filecheck %s

// A loop of schedule grid is a dimension; what it carries is scratch memory. The plan stays.
// CHECK-LABEL: func.func @reduction
// CHECK: [[A:%.+]] = pallas.scratch : !tile.ref<8 x f32, vmem>
// CHECK-NEXT: tile.grid (%i: b0=8, %k: b1=128) in (64, 300) reduce [1] plan {order [i, k] parallel [i]
// CHECK-NEXT: @x = %a window(i, k) x2
// CHECK: tile.when first(%k) {
// CHECK: tile.load %a[%i, %k] via @x
// CHECK: tile.when last(%k) {
func.func @reduction(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @reduction (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) plan {order [i, k] parallel [i]
        @x = %a window(i, k) x2
        @out = %b window(i) x2} {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 300) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) schedule grid {
        %v = tile.load %a[%i, %k] via @x : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %n = tile.add %c, %s : !tile.tile<b0=8 x f32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }
      tile.store %r, %b[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %new : memref<64xf32>
}

// -----

// A pipeline carries nothing.
// CHECK-LABEL: func.func @pipeline
// CHECK: [[A:%.+]] = pallas.scratch : !tile.ref<8 x f32, vmem>
// CHECK: tile.put {{%.+}}, [[A]][:]
// CHECK: tile.for %k: b1=128 in (0, 300) schedule emit_pipeline {
// CHECK-NEXT: tile.get [[A]][:]
func.func @pipeline(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @pipeline (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 300) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) schedule emit_pipeline {
        %v = tile.load %a[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %n = tile.add %c, %s : !tile.tile<b0=8 x f32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }
      tile.store %r, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %new : memref<64xf32>
}

// -----

func.func @no_dimension(%x: memref<64x300xf32>, %n: index, %out: memref<64x300xf32>) -> memref<64x300xf32> {
  %new = host.launch @no_dimension (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64x300xf32>) -> memref<64x300xf32> {
    tile.grid (%i: b0=8) in (64) {
      // expected-error @+1 {{the loop cannot be a dimension of the grid: it reads what it writes}}
      tile.for %k: b1=128 in (0, 300) schedule grid {
        %v = tile.load %b[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.store %v, %b[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x300xf32>
      }
    }
  }
  func.return %new : memref<64x300xf32>
}
