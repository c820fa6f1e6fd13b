// Words of plans beyond the examples: how axes are named, where schedules stand, every access.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// Clauses stand in any order; a range's tag names it too; `ordered` and `parallel` say the same.
// CHECK-LABEL: @clauses
func.func @clauses(%x: memref<64x64xf32>, %idx: memref<64xi32>) {
  // CHECK: tile.grid (%i: b0=16, %j: b1=16) in (64, 64) reduce [1] plan {order [i, j] parallel [i] assume [%x in -3 to 4, %idx in 0 to 9] warps 8 stages 3 walk(dim 0 of %idx: w0=8, passes) views [%idx pad, %x permute pad]
  // CHECK-NEXT: {{^}}      @in = %x window(i, w0)
  // CHECK-NEXT: {{^}}      loop w0 walk unroll 4 stages 2} attributes {note = "kept"} {
  tile.grid (%i: b0=16, %j: b1=16) in (64, 64) reduce [1] plan {
      warps 8 loop w0 walk stages 2 unroll 4
      @in = %x window(b0, w0) x1
      assume [%x in -3 to 4, idx in 0 to 9] stages 3 walk(dim 0 of %idx: w0=8, passes)
      views [%idx pad, %x permute pad] order [i, b1] ordered [b1]} attributes {note = "kept"} {
    %v = tile.load %x[%i, %j] via @in {space = "hbm"} : memref<64x64xf32> -> !tile.tile<b0=16 x b1=16 x f32>
  }
  func.return
}

// An axis whose range shares its name with another, or is named like a tag, is written by its tag.
// CHECK-LABEL: @names
func.func @names(%x: memref<64x64xf32>) {
  // CHECK: tile.grid (%b1: b0=16) in (64) plan {order [b0, b1, b2, row] parallel [b0, b1, b2, row]
  // CHECK-NEXT: @x = %x window(b0, b2, b1)} {
  tile.grid (%b1: b0=16) in (64) plan {order [b0, b1, b2, row] parallel [b0, b1, b2, row] @x = %x window(b0, b2, b1)} {
    tile.for %k: b1=16 in (0, 64) schedule grid {
      %v = tile.load %x[%b1, %k] via @x : memref<64x64xf32> -> !tile.tile<b0=16 x b1=16 x f32>
    }
    tile.for %k: b2=16 in (0, 64) schedule grid {
    }
    tile.for %row: b3=16 in (0, 64) schedule grid {
    }
  }
  func.return
}

// A schedule that the plan says goes to its loop; a jagged loop has none of its own.
// CHECK-LABEL: @schedules
func.func @schedules(%x: memref<64x64xf32>, %n: memref<64xi32>) {
  // CHECK: plan {order [i] parallel [i]
  // CHECK-NEXT: @n = %n smem whole
  // CHECK-NEXT: loop j prefetch} {
  tile.grid (%i: b0=16) in (64) plan {order [i] loop k resident unroll 2 loop j prefetch loop l grid @n = %n smem whole} {
    // CHECK: tile.for %k: b1=16 in (0, 64) schedule resident unroll 2 {
    tile.for %k: b1=16 in (0, 64) {
    }
    // CHECK: tile.for %l: b2=16 in (0, 64) schedule grid {
    tile.for %l: b2=16 in (0, 64) schedule grid {
    }
    %lengths = tile.load %n[%i] via @n : memref<64xi32> -> !tile.tile<b0=16 x i32>
    jagged.for %j: b3=16 in %lengths {
    }
  }
  func.return
}

// CHECK-LABEL: @accesses
func.func @accesses(%x: memref<64xi32>, %y: memref<64xi32>) {
  // CHECK: plan {order [i] parallel [i]
  // CHECK-NEXT: @x = %x pointer vec 4 cache cg
  // CHECK-NEXT: @y = %y atomic vec 4 scope gpu} {
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x pointer vec 4 cache cg @y = %y atomic vec 4 scope gpu} {
    %m = tile.valid %i : !tile.range<b0=16>
    // CHECK: tile.load %x[%i] via @x mask %m other 1 pad 2 : memref<64xi32>
    %v = tile.load %x[%i] via @x mask %m other 1 pad 2 : memref<64xi32> -> !tile.tile<b0=16 x i32>
    // CHECK: tile.store %v, %x[%i] via @x mask %m :
    tile.store %v, %x[%i] via @x mask %m : !tile.tile<b0=16 x i32>, memref<64xi32>
    // CHECK: atomic.rmw add %v, %y[%v] via @y mask %m ordering acquire {note = "kept"} :
    atomic.rmw add %v, %y[%v] via @y mask %m ordering acquire {note = "kept"} : !tile.tile<b0=16 x i32>, memref<64xi32>
    // CHECK: atomic.cas %v, %v, %y[%i] via @y :
    %old = atomic.cas %v, %v, %y[%i] via @y : !tile.tile<b0=16 x i32>, memref<64xi32>
  }
  func.return
}

// CHECK-LABEL: @empty
func.func @empty() {
  // CHECK: tile.grid () in () plan {order []} {
  tile.grid () in () plan {order []} {
  }
  func.return
}

// CHECK-LABEL: @by_itself
// CHECK-SAME: some = #tile.plan<order [i] parallel [i] @x = %x window(i) x3 loop k grid via [%x = @x, %x#2 = @x]>
// CHECK-SAME: schedule = #tile.schedule<resident peel(full | ragged)>
func.func @by_itself() attributes {some = #tile.plan<order [i] @x = %x window(i) x3 loop k grid via [%x = @x, %x#2 = @x]>, schedule = #tile.schedule<resident peel(full | ragged)>} {
  func.return
}
