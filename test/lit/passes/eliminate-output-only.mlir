// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each --verify-roundtrip --remarks -p 'functionalise-host,eliminate-output-only,dce' | filecheck %s

// An argument that is written whole is no operand: the launch yields its new version.
// CHECK-LABEL: func.func @argument
// CHECK-NEXT: [[NEW:%.+]] = host.launch @argument (%{{.+}} = %x) writes [] yields ([[B:%.+]] : memref<100xf32>) : (memref<100xf32>) -> memref<100xf32> {
// CHECK: tile.store %{{.+}}, [[B]][%i]
// CHECK: func.return [[NEW]]
func.func @argument(%x: memref<100xf32>, %out: memref<100xf32>) -> memref<100xf32> {
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %out : memref<100xf32>
}

// -----

// Dead initialisation: fills and copies go with the operand.
// CHECK-LABEL: func.func @fills
// CHECK-NEXT: host.launch @fills (%{{.+}} = %x) writes [] yields (%{{.+}} : memref<100xf32>, %{{.+}} : memref<100xf32>)
func.func @fills(%x: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>) {
  %zeros = host.alloc fill 0.0 : memref<100xf32>
  %clone = host.call "aten.clone.default"(%x) args [unit] : (memref<100xf32>) -> (memref<100xf32>)
  // expected-remark @below {{'zeros' is returned by the launch; not an input}}
  // expected-remark @below {{'clone' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    tile.store %v, %zeros[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    tile.store %v, %clone[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %clone, %zeros : memref<100xf32>, memref<100xf32>
}

// -----

// A tuple of empties, one of which is kept: results keep their places.
// CHECK-LABEL: func.func @tuple
// CHECK: [[B:%.+]], [[A:%.+]], [[C:%.+]] = host.launch @tuple (%{{.+}} = %x, %{{.+}} = %b) writes [1] yields (%{{.+}} : memref<100xf32>, %{{.+}} : memref<100xi32>)
// CHECK: func.return [[A]], [[B]], [[C]]
func.func @tuple(%x: memref<100xf32>, %b: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<100xi32>) {
  %a = host.alloc : memref<100xf32>
  %c = host.alloc : memref<100xi32>
  // expected-remark @below {{'a' is returned by the launch; not an input}}
  // expected-remark @below {{'b' is read at line 49; kept as input}}
  // expected-remark @below {{'c' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    %w = tile.load %b[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    %n = tile.index %i : !tile.range<b0=32>
    tile.store %v, %a[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    tile.store %w, %b[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    tile.store %n, %c[%i] : !tile.tile<b0=32 x i32>, memref<100xi32>
  }
  func.return %a, %b, %c : memref<100xf32>, memref<100xf32>, memref<100xi32>
}

// -----

// Written through a view: the view's new version is yielded and taken back to the whole.
// CHECK-LABEL: func.func @view
// CHECK-NEXT: [[N:%.+]] = host.launch @view () writes [] yields (%{{.+}} : memref<100xf32>)
// CHECK: [[R:%.+]] = host.reshape [[N]] : memref<100xf32> to memref<10x10xf32>
// CHECK: func.return [[R]]
func.func @view() -> memref<10x10xf32> {
  %out = host.alloc fill 1.0 : memref<10x10xf32>
  %flat = host.reshape %out : memref<10x10xf32> to memref<100xf32>
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x f32>
    tile.store %v, %flat[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %out : memref<10x10xf32>
}

// -----

// Read through a view.
// CHECK-LABEL: func.func @read_through_view
// CHECK: host.launch @read_through_view (%{{.+}} = %v) writes [0] :
func.func @read_through_view(%out: memref<10x10xf32>) -> memref<10x10xf32> {
  %v = host.reshape %out : memref<10x10xf32> to memref<100xf32>
  // expected-remark @below {{'out' is read at line 85 through 'v'; kept as input}}
  tile.grid (%i: b0=32) in (100) {
    %a = tile.load %v[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    tile.store %a, %v[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %out : memref<10x10xf32>
}

// -----

// An empty partly written keeps the rest unspecified; anything else keeps its elements.
// CHECK-LABEL: func.func @partly
// CHECK: host.launch @partly (%{{.+}} = %zeros) writes [0] yields (%{{.+}} : memref<100xf32>)
func.func @partly() -> (memref<100xf32>, memref<100xf32>) {
  %empty = host.alloc : memref<100xf32>
  %zeros = host.alloc fill 0.0 : memref<100xf32>
  // expected-remark @below {{'empty' is returned by the launch; not an input (what it had was never set; the store at line 103 leaves out element [90])}}
  // expected-remark @below {{'zeros' keeps elements from before the launch: the store at line 104 leaves out element [90]; kept as input}}
  tile.grid (%i: b0=32) in (90) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x f32>
    tile.store %v, %empty[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    tile.store %v, %zeros[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %empty, %zeros : memref<100xf32>, memref<100xf32>
}

// -----

// Conditional and masked writes.
// CHECK-LABEL: func.func @conditional
// CHECK: host.launch @conditional (%{{.+}} = %a, %{{.+}} = %b) writes [0, 1] :
func.func @conditional(%a: memref<100xf32>, %b: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>) {
  // expected-remark @below {{'a' keeps elements from before the launch: the store at line 124 is under a condition; kept as input}}
  // expected-remark @below {{'b' keeps elements from before the launch: the store at line 126 is masked; kept as input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x f32>
    %m = tile.full true : !tile.tile<b0=32 x i1>
    %n = tile.id %i : !tile.range<b0=32>
    %one = arith.constant 1 : index
    %c = arith.cmpi slt, %n, %one : index
    scf.if %c {
      tile.store %v, %a[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    }
    tile.store %v, %b[%i] mask %m : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %a, %b : memref<100xf32>, memref<100xf32>
}

// -----

// A read after the cell's own store sees nothing from before; a read of another place does.
// CHECK-LABEL: func.func @read_after_write
// CHECK: host.launch @read_after_write (%{{.+}} = %b) writes [0] yields (%{{.+}} : memref<100xf32>)
func.func @read_after_write(%a: memref<100xf32>, %b: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>) {
  // expected-remark @below {{'a' is returned by the launch; not an input}}
  // expected-remark @below {{'b' is read at line 146; kept as input}}
  tile.grid (%i: b0=10) in (100) {
    %v = tile.full 2.0 : !tile.tile<b0=10 x f32>
    tile.store %v, %a[%i] : !tile.tile<b0=10 x f32>, memref<100xf32>
    %w = tile.load %a[%i] : memref<100xf32> -> !tile.tile<b0=10 x f32>
    tile.store %w, %b[%i] : !tile.tile<b0=10 x f32>, memref<100xf32>
    %zero = arith.constant 0 : index
    %s = tile.shift %i by %zero : !tile.range<b0=10>
    %u = tile.load %b[%s] : memref<100xf32> -> !tile.tile<b0=10 x f32>
    tile.store %u, %b[%s] : !tile.tile<b0=10 x f32>, memref<100xf32>
  }
  func.return %a, %b : memref<100xf32>, memref<100xf32>
}

// -----

// Arguments that the caller may give one tensor for: each version is its own array, so nothing is lost.
// CHECK-LABEL: func.func @aliasing
// CHECK: host.launch @aliasing (%{{.+}} = %x) writes [] yields (%{{.+}} : memref<100xf32>)
func.func @aliasing(%x: memref<100xf32>, %y: memref<100xf32>) -> memref<100xf32> {
  // expected-remark @below {{'y' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    tile.store %v, %y[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %y : memref<100xf32>
}

// -----

// Two launches share a buffer: the second reads what the first wrote, and one that is overwritten unread goes.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT: [[A:%.+]] = host.launch @shared_0 () writes [] yields
// CHECK: host.launch @shared_1 (%{{.+}} = [[A]]) writes [] yields
// CHECK-NOT: host.launch @shared_2
// CHECK: host.launch @shared_3
func.func @shared(%out: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>) {
  %t = host.alloc : memref<100xf32>
  %u = host.alloc : memref<100xf32>
  // expected-remark @below {{'t' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x f32>
    tile.store %v, %t[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%j: b1=32) in (100) {
    %v = tile.load %t[%j] : memref<100xf32> -> !tile.tile<b1=32 x f32>
    tile.store %v, %out[%j] : !tile.tile<b1=32 x f32>, memref<100xf32>
  }
  // expected-remark @below {{'u' is returned by the launch; not an input}}
  tile.grid (%k: b2=32) in (100) {
    %v = tile.full 2.0 : !tile.tile<b2=32 x f32>
    tile.store %v, %u[%k] : !tile.tile<b2=32 x f32>, memref<100xf32>
  }
  // expected-remark @below {{'u' is returned by the launch; not an input}}
  tile.grid (%l: b3=32) in (100) {
    %v = tile.full 3.0 : !tile.tile<b3=32 x f32>
    tile.store %v, %u[%l] : !tile.tile<b3=32 x f32>, memref<100xf32>
  }
  func.return %out, %u : memref<100xf32>, memref<100xf32>
}

// -----

// Halves written by two launches: neither slice is read.
// CHECK-LABEL: func.func @halves
// CHECK: [[BASE:%.+]] = host.alloc : memref<100xf32>
// CHECK-NOT: host.slice
// CHECK: [[L:%.+]] = host.launch @halves_0 () writes [] yields (%{{.+}} : memref<60xf32
// CHECK: host.insert [[L]] into [[BASE]]
func.func @halves() -> memref<100xf32> {
  %out = host.alloc : memref<100xf32>
  %l = host.slice %out [0] [60] [1] : memref<100xf32> to memref<60xf32, strided<[1]>>
  %h = host.slice %out [60] [40] [1] : memref<100xf32> to memref<40xf32, strided<[1], offset: 60>>
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (60) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x f32>
    tile.store %v, %l[%i] : !tile.tile<b0=32 x f32>, memref<60xf32, strided<[1]>>
  }
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%j: b1=32) in (40) {
    %v = tile.full 3.0 : !tile.tile<b1=32 x f32>
    tile.store %v, %h[%j] : !tile.tile<b1=32 x f32>, memref<40xf32, strided<[1], offset: 60>>
  }
  func.return %out : memref<100xf32>
}

// -----

// One half leaves the other as it is filled.
// CHECK-LABEL: func.func @half
// CHECK: host.alloc fill 0.0 : memref<100xf32>
func.func @half() -> memref<100xf32> {
  %out = host.alloc fill 0.0 : memref<100xf32>
  %l = host.slice %out [0] [60] [1] : memref<100xf32> to memref<60xf32, strided<[1]>>
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (60) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x f32>
    tile.store %v, %l[%i] : !tile.tile<b0=32 x f32>, memref<60xf32, strided<[1]>>
  }
  func.return %out : memref<100xf32>
}

// -----

// No elements.
// CHECK-LABEL: func.func @zero_size
// CHECK: host.launch @zero_size () writes [] yields (%{{.+}} : memref<0x4xf32>)
func.func @zero_size(%out: memref<0x4xf32>) -> memref<0x4xf32> {
  // expected-remark @below {{'out' is returned by the launch; not an input}}
  tile.grid (%i: b0=32) in (0) {
    %v = tile.full 2.0 : !tile.tile<b0=32 x 4 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=32 x 4 x f32>, memref<0x4xf32>
  }
  func.return %out : memref<0x4xf32>
}

// -----

// Updated in place: kept.
// Added to atomically: kept, without a word until there are accumulators.
// CHECK-LABEL: func.func @in_place
// CHECK: host.launch @in_place (%{{.+}} = %x, %{{.+}} = %y) writes [0, 1] :
func.func @in_place(%x: memref<100xf32>, %y: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>) {
  // expected-remark @below {{'x' is read at line 264; kept as input}}
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    %w = tile.exp %v : !tile.tile<b0=32 x f32>
    tile.store %w, %x[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
    atomic.rmw add %v, %y[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %x, %y : memref<100xf32>, memref<100xf32>
}
