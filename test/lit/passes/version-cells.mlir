// RUN: kopt %s --split-input-file --verify-each -p version-cells | filecheck %s

// No visit in the first cells, and one, and two, each as a loop of a known length.
// CHECK-LABEL: @causal
// CHECK: tile.grid (%i: b0=64) in (192) {
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: %[[Z:.+]] = tile.full 0.0
// CHECK-NEXT: tile.put %[[Z]]
// CHECK: scf.if
// CHECK: tile.for %j: b2=64 in (0, 64) iter
// CHECK: tile.put
// CHECK: scf.if
// CHECK: tile.for %j_1: b3=64 in (0, 128) iter({{.*}} schedule resident unroll 2 {
// CHECK: tile.put
func.func @causal(%x: memref<192x64xf32>) -> memref<192x64xf32> {
  %out = pallas.call @f(%x) windows [<[192, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<192x64xf32>) -> memref<192x64xf32> {
  ^bb0(%x_1: !tile.ref<192 x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
    tile.grid (%i: b0=64) in (192) {
      %z = tile.full 0.0 : !tile.tile<64 x 64 x f32>
      %begin = tile.begin %i : !tile.range<b0=64>
      %r = tile.for %j: b1=64 in (0, %begin) iter(%s = %z) -> (!tile.tile<64 x 64 x f32>) schedule resident {
        %v = tile.get %x_1[%j, :] : !tile.ref<192 x 64 x f32, vmem> -> !tile.tile<b1=64 x 64 x f32>
        %plain = tile.reshape %v : !tile.tile<b1=64 x 64 x f32> to !tile.tile<64 x 64 x f32>
        %n = tile.add %s, %plain : !tile.tile<64 x 64 x f32>
        tile.yield %n : !tile.tile<64 x 64 x f32>
      }
      tile.put %r, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<192x64xf32>
}

// -----

// Neighbours that are alike share a version: their first elements differ, what they walk does not. Where they begin is
// no maximum in them.
// CHECK-LABEL: @window
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: tile.for %{{.+}} in (0, 64)
// CHECK: arith.cmpi sge
// CHECK: scf.if
// CHECK: %[[BEHIND:.+]] = arith.constant -64 : index
// CHECK-NEXT: %[[LOWER:.+]] = arith.addi %{{.+}}, %[[BEHIND]] : index
// CHECK: %[[UPPER:.+]] = arith.addi %[[LOWER]], %{{.+}} : index
// CHECK: tile.for %{{.+}} in (%[[LOWER]], %[[UPPER]])
// CHECK-NOT: scf.if
func.func @window(%x: memref<512x64xf32>) -> memref<512x64xf32> {
  %out = pallas.call @f(%x) windows [<[512, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<512x64xf32>) -> memref<512x64xf32> {
  ^bb0(%x_1: !tile.ref<512 x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
    tile.grid (%i: b0=64) in (512) {
      %z = tile.full 0.0 : !tile.tile<64 x 64 x f32>
      %begin = tile.begin %i : !tile.range<b0=64>
      %64 = arith.constant 64 : index
      %0 = arith.constant 0 : index
      %before = arith.subi %begin, %64 : index
      %first = arith.maxsi %before, %0 : index
      %end = tile.end %i : !tile.range<b0=64>
      %r = tile.for %j: b1=64 in (%first, %end) iter(%s = %z) -> (!tile.tile<64 x 64 x f32>) schedule resident {
        %v = tile.get %x_1[%j, :] : !tile.ref<512 x 64 x f32, vmem> -> !tile.tile<b1=64 x 64 x f32>
        %plain = tile.reshape %v : !tile.tile<b1=64 x 64 x f32> to !tile.tile<64 x 64 x f32>
        %n = tile.add %s, %plain : !tile.tile<64 x 64 x f32>
        tile.yield %n : !tile.tile<64 x 64 x f32>
      }
      tile.put %r, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<512x64xf32>
}

// -----

// More versions than are worth their code: the body stays as it is.
// CHECK-LABEL: @many
// CHECK-NOT: scf.if
// CHECK: tile.for %j: b1=64 in (0, %begin)
func.func @many(%x: memref<1024x64xf32>) -> memref<1024x64xf32> {
  %out = pallas.call @f(%x) windows [<[1024, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<1024x64xf32>) -> memref<1024x64xf32> {
  ^bb0(%x_1: !tile.ref<1024 x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
    tile.grid (%i: b0=64) in (1024) {
      %z = tile.full 0.0 : !tile.tile<64 x 64 x f32>
      %begin = tile.begin %i : !tile.range<b0=64>
      %r = tile.for %j: b1=64 in (0, %begin) iter(%s = %z) -> (!tile.tile<64 x 64 x f32>) schedule resident {
        %v = tile.get %x_1[%j, :] : !tile.ref<1024 x 64 x f32, vmem> -> !tile.tile<b1=64 x 64 x f32>
        %plain = tile.reshape %v : !tile.tile<b1=64 x 64 x f32> to !tile.tile<64 x 64 x f32>
        %n = tile.add %s, %plain : !tile.tile<64 x 64 x f32>
        tile.yield %n : !tile.tile<64 x 64 x f32>
      }
      tile.put %r, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<1024x64xf32>
}

// -----

// Both masks of a window's first keys: the second one holds wherever the first does, and goes. Of the first one lanes
// are left. On the diagonal neither masks anything.
// CHECK-LABEL: @implied
// CHECK: arith.cmpi sge
// CHECK: scf.if
// CHECK: tile.for
// CHECK: %[[J:.+]] = tile.broadcast %{{.+}} dims [1]
// CHECK: %[[I:.+]] = tile.broadcast %{{.+}} dims [0]
// CHECK: %[[NEAR:.+]] = tile.gt %[[J]], %[[I]]
// CHECK: %[[SEEN:.+]] = tile.select %[[NEAR]],
// CHECK-NEXT: tile.reshape %[[SEEN]]
// CHECK-NOT: tile.select
func.func @implied(%x: memref<512x64xf32>) -> memref<512x64xf32> {
  %out = pallas.call @f(%x) windows [<[512, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<512x64xf32>) -> memref<512x64xf32> {
  ^bb0(%x_1: !tile.ref<512 x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
    tile.grid (%i: b0=64) in (512) {
      %z = tile.full 0.0 : !tile.tile<64 x 64 x f32>
      %begin = tile.begin %i : !tile.range<b0=64>
      %64 = arith.constant 64 : index
      %63 = arith.constant 63 : index
      %0 = arith.constant 0 : index
      %before = arith.subi %begin, %64 : index
      %first = arith.maxsi %before, %0 : index
      %end = tile.end %i : !tile.range<b0=64>
      %r = tile.for %j: b1=64 in (%first, %end) iter(%s = %z) -> (!tile.tile<64 x 64 x f32>) schedule resident {
        %plain = tile.full 1.0 : !tile.tile<b0=64 x b1=64 x f32>
        %i1 = tile.index %i : !tile.range<b0=64>
        %j1 = tile.index %j : !tile.range<b1=64>
        %rows = tile.broadcast %i1 dims [0] : !tile.tile<b0=64 x i32> to !tile.tile<b0=64 x b1=64 x i32>
        %columns = tile.broadcast %j1 dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=64 x b1=64 x i32>
        %ago = tile.sub %rows, %columns : !tile.tile<b0=64 x b1=64 x i32>
        %width = tile.full 64 : !tile.tile<b0=64 x b1=64 x i32>
        %near = tile.lt %ago, %width : !tile.tile<b0=64 x b1=64 x i32>
        %begun = arith.subi %begin, %63 : index
        %start = arith.maxsi %begun, %0 : index
        %starts = tile.splat %start : index to !tile.tile<b0=64 x b1=64 x i32>
        %inside = tile.ge %columns, %starts : !tile.tile<b0=64 x b1=64 x i32>
        %fill = tile.full -inf : !tile.tile<b0=64 x b1=64 x f32>
        %a = tile.select %near, %plain, %fill : !tile.tile<b0=64 x b1=64 x f32>
        %b = tile.select %inside, %a, %fill : !tile.tile<b0=64 x b1=64 x f32>
        %w = tile.reshape %b : !tile.tile<b0=64 x b1=64 x f32> to !tile.tile<64 x 64 x f32>
        %n = tile.add %s, %w : !tile.tile<64 x 64 x f32>
        tile.yield %n : !tile.tile<64 x 64 x f32>
      }
      tile.put %r, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<512x64xf32>
}

// -----

// Of a version with one cell the elements of its block are constants, whatever visit of the loop it is.
// CHECK-LABEL: @elements
// CHECK: scf.if
// CHECK: tile.arange 64, 1 : !tile.tile<b0=64 x i32>
// CHECK: tile.index %{{.+}} : !tile.range
// CHECK: scf.if
// CHECK: tile.arange 128, 1 : !tile.tile<b0=64 x i32>
func.func @elements(%x: memref<192x64xf32>) -> memref<192x64xf32> {
  %out = pallas.call @f(%x) windows [<[192, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<192x64xf32>) -> memref<192x64xf32> {
  ^bb0(%x_1: !tile.ref<192 x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
    tile.grid (%i: b0=64) in (192) {
      %z = tile.full 0 : !tile.tile<64 x 32 x i32>
      %begin = tile.begin %i : !tile.range<b0=64>
      %r = tile.for %j: b1=32 in (0, %begin) iter(%s = %z) -> (!tile.tile<64 x 32 x i32>) schedule resident {
        %i1 = tile.index %i : !tile.range<b0=64>
        %j1 = tile.index %j : !tile.range<b1=32>
        %rows = tile.broadcast %i1 dims [0] : !tile.tile<b0=64 x i32> to !tile.tile<b0=64 x b1=32 x i32>
        %columns = tile.broadcast %j1 dims [1] : !tile.tile<b1=32 x i32> to !tile.tile<b0=64 x b1=32 x i32>
        %ago = tile.sub %rows, %columns : !tile.tile<b0=64 x b1=32 x i32>
        %plain = tile.reshape %ago : !tile.tile<b0=64 x b1=32 x i32> to !tile.tile<64 x 32 x i32>
        %n = tile.add %s, %plain : !tile.tile<64 x 32 x i32>
        tile.yield %n : !tile.tile<64 x 32 x i32>
      }
      %c = tile.cast %r : !tile.tile<64 x 32 x i32> to !tile.tile<64 x 32 x f32>
      %w = tile.concat %c, %c dim 1 : !tile.tile<64 x 32 x f32>, !tile.tile<64 x 32 x f32> to !tile.tile<64 x 64 x f32>
      tile.put %w, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<192x64xf32>
}
