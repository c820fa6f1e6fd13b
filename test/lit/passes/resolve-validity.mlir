// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(resolve-validity)' | filecheck %s

// Lanes that a reshape merged are masked where they are combined; what drops the tag leaves defined lanes behind.
// CHECK-LABEL: func.func @merged
// CHECK: [[K:%.+]] = tile.valid %i
// CHECK-NEXT: [[P:%.+]] = tile.reshape [[K]] : !tile.tile<b0=4 x i1> to !tile.tile<4 x i1>
// CHECK: [[D:%.+]] = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=4 x 6 x f32> to !tile.tile<4 x 6 x f32>
// CHECK: [[F:%.+]] = tile.reshape [[D]]
// CHECK-DAG: [[B:%.+]] = tile.broadcast [[P]] dims [0]
// CHECK: [[N:%.+]] = tile.reshape [[B]] : !tile.tile<4 x 6 x i1> to !tile.tile<24 x i1>
// CHECK: [[S:%.+]] = tile.select [[N]], [[F]],
// CHECK: tile.reduce max [[S]] [0]
// CHECK: [[T:%.+]] = tile.select [[N]], [[F]],
// CHECK: tile.scan mul [[T]] dim 0
func.func @merged(%x: memref<13x6xf32>) {
  tile.grid (%i: b0=4) in (13) {
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %m = tile.reduce max %f [0] : !tile.tile<24 x f32>
    %c = tile.scan mul %f dim 0 : !tile.tile<24 x f32>
  }
  func.return
}

// -----

// A block that divides the rows hides nothing.
// CHECK-LABEL: func.func @full
// CHECK-NOT: tile.valid
// CHECK-NOT: tile.select
func.func @full(%x: memref<12x6xf32>) {
  tile.grid (%i: b0=4) in (12) {
    %v = tile.load %x[%i, :] : memref<12x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %m = tile.reduce max %f [0] : !tile.tile<24 x f32>
    %k = tile.valid_lanes %f : !tile.tile<24 x f32> to !tile.tile<24 x i1>
  }
  func.return
}

// -----

// Stores, updates and loads by such lanes go by the valid ones only.
// CHECK-LABEL: func.func @written
// CHECK: tile.load %y[{{%.+}}] mask [[N:%.+]] :
// CHECK: tile.store {{%.+}}, %y[{{%.+}}] mask [[N]] :
func.func @written(%n: memref<13x6xi32>, %y: memref<90xf32>) {
  tile.grid (%i: b0=4) in (13) {
    %v = tile.load %n[%i, :] : memref<13x6xi32> -> !tile.tile<b0=4 x 6 x i32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x i32> to !tile.tile<24 x i32>
    %one = tile.full 1 : !tile.tile<24 x i32>
    %next = tile.add %f, %one : !tile.tile<24 x i32>
    %o = tile.load %y[%next] : memref<90xf32> -> !tile.tile<24 x f32>
    tile.store %o, %y[%next] : !tile.tile<24 x f32>, memref<90xf32>
  }
  func.return
}

// -----

// Loops carry, and branches give, the validity beside the values.
// CHECK-LABEL: func.func @carried
// CHECK: [[R:%.+]], [[RV:%.+]] = tile.for %k: b1=2 in (0, 5) iter(%a = {{%.+}}, [[A:%.+]] = {{%.+}})
// CHECK: [[AND:%.+]] = tile.and [[A]], [[N:%.+]] :
// CHECK: tile.yield {{%.+}}, [[AND]]
// CHECK: scf.if %c -> (!tile.tile<24 x f32>, !tile.tile<24 x i1>)
// CHECK: scf.yield [[R]], [[RV]]
// CHECK: scf.yield %f, [[N]]
func.func @carried(%x: memref<13x6xf32>, %c: i1) {
  tile.grid (%i: b0=4) in (13) {
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %z = tile.full 0.0 : !tile.tile<24 x f32>
    %r = tile.for %k: b1=2 in (0, 5) iter(%a = %z) -> (!tile.tile<24 x f32>) {
      %s = tile.add %a, %f : !tile.tile<24 x f32>
      tile.yield %s : !tile.tile<24 x f32>
    }
    %e = scf.if %c -> (!tile.tile<24 x f32>) {
      scf.yield %r : !tile.tile<24 x f32>
    } else {
      scf.yield %f : !tile.tile<24 x f32>
    }
    %m = tile.reduce max %e [0] : !tile.tile<24 x f32>
  }
  func.return
}

// -----

// What is sorted has its valid lanes first, as many as there were.
// CHECK-LABEL: func.func @sorted
// CHECK: [[C:%.+]] = tile.reduce add {{%.+}} [0] : !tile.tile<8 x i32>
// CHECK: [[B:%.+]] = tile.broadcast [[C]] dims [] : !tile.tile<i32> to !tile.tile<8 x i32>
// CHECK: [[V:%.+]] = tile.lt {{%.+}}, [[B]]
// CHECK: tile.select [[V]], %o,
func.func @sorted(%x: memref<13x2xf32>) {
  tile.grid (%i: b0=4) in (13) {
    %v = tile.load %x[%i, :] : memref<13x2xf32> -> !tile.tile<b0=4 x 2 x f32>
    %t = tile.transpose %v [1, 0] : !tile.tile<b0=4 x 2 x f32>
    %f = tile.reshape %t : !tile.tile<2 x b0=4 x f32> to !tile.tile<8 x f32>
    %o, %n = tile.sort %f dim 0 : !tile.tile<8 x f32>
    %m = tile.reduce max %o [0] : !tile.tile<8 x f32>
  }
  func.return
}

// -----

// A kernel's own combination passes by lanes that nothing is in: it combines beside the values whether a lane is one.
// CHECK-LABEL: func.func @combined
// CHECK-NEXT: tile.grid (%i: b0=4) in (13) {
// CHECK-NEXT: %0 = tile.valid %i : !tile.range<b0=4>
// CHECK-NEXT: %1 = tile.reshape %0 : !tile.tile<b0=4 x i1> to !tile.tile<4 x i1>
// CHECK-NEXT: %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
// CHECK-NEXT: %v_1 = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=4 x 6 x f32> to !tile.tile<4 x 6 x f32>
// CHECK-NEXT: %f = tile.reshape %v_1 : !tile.tile<4 x 6 x f32> to !tile.tile<24 x f32>
// CHECK-NEXT: %2 = tile.broadcast %1 dims [0] : !tile.tile<4 x i1> to !tile.tile<4 x 6 x i1>
// CHECK-NEXT: %3 = tile.reshape %2 : !tile.tile<4 x 6 x i1> to !tile.tile<24 x i1>
// CHECK-NEXT: %g = tile.full 1.0 : !tile.tile<24 x f32>
// CHECK-NEXT: %4 = tile.full 1 : !tile.tile<24 x i32>
// CHECK-NEXT: %5 = tile.full 0 : !tile.tile<24 x i32>
// CHECK-NEXT: %6 = tile.select %3, %4, %5 : !tile.tile<24 x i32>
// CHECK-NEXT: %r, %r_1, %7 = tile.associative_reduce %f, %g, %6 dim 0 : !tile.tile<24 x f32>, !tile.tile<24 x f32>, !tile.tile<24 x i32> {
// CHECK-NEXT: ^bb0(%a: !tile.tile<f32>, %b: !tile.tile<f32>, %8: !tile.tile<i32>, %c: !tile.tile<f32>, %d: !tile.tile<f32>, %9: !tile.tile<i32>):
// CHECK-NEXT: %10 = tile.full 0 : !tile.tile<i32>
// CHECK-NEXT: %11 = tile.ne %8, %10 : !tile.tile<i32>
// CHECK-NEXT: %12 = tile.ne %9, %10 : !tile.tile<i32>
// CHECK-NEXT: %13 = tile.select %11, %a, %c : !tile.tile<f32>
// CHECK-NEXT: %14 = tile.select %12, %13, %a : !tile.tile<f32>
// CHECK-NEXT: %15 = tile.select %11, %b, %d : !tile.tile<f32>
// CHECK-NEXT: %16 = tile.select %12, %15, %b : !tile.tile<f32>
// CHECK-NEXT: %17 = tile.or %8, %9 : !tile.tile<i32>
// CHECK-NEXT: tile.yield %14, %16, %17 : !tile.tile<f32>, !tile.tile<f32>, !tile.tile<i32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @combined(%x: memref<13x6xf32>) {
  tile.grid (%i: b0=4) in (13) {
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %g = tile.full 1.0 : !tile.tile<24 x f32>
    %r:2 = tile.associative_reduce %f, %g dim 0 : !tile.tile<24 x f32>, !tile.tile<24 x f32> {
    ^bb0(%a: !tile.tile<f32>, %b: !tile.tile<f32>, %c: !tile.tile<f32>, %d: !tile.tile<f32>):
      tile.yield %a, %b : !tile.tile<f32>, !tile.tile<f32>
    }
  }
  func.return
}
