// Ops of the host: storage, views, calls, launches.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @storage(%x: memref<10x100xf32>) {
  // CHECK: host.alloc : memref<4xf32>
  %a = host.alloc : memref<4xf32>
  // CHECK-NEXT: host.alloc fill -inf {note = "kept"} : memref<4x0xbf16>
  %b = host.alloc fill -inf {note = "kept"} : memref<4x0xbf16>
  // CHECK-NEXT: host.alloc fill 7 : memref<i32>
  %c = host.alloc fill 7 : memref<i32>
  // CHECK-NEXT: host.reshape %x {note = "kept"} : memref<10x100xf32> to memref<1000xf32>
  %d = host.reshape %x {note = "kept"} : memref<10x100xf32> to memref<1000xf32>
  // CHECK-NEXT: host.permute %x [1, 0] {note = "kept"} : memref<10x100xf32> to memref<100x10xf32, strided<[1, 100]>>
  %e = host.permute %x [1, 0] {note = "kept"} : memref<10x100xf32> to memref<100x10xf32, strided<[1, 100]>>
  // CHECK-NEXT: %s = host.slice %x [0, 8] [10, 16] [1, 2] {note = "kept"} : memref<10x100xf32> to memref<10x16xf32, strided<[100, 2], offset: 8>>
  %s = host.slice %x [0, 8] [10, 16] [1, 2] {note = "kept"} : memref<10x100xf32> to memref<10x16xf32, strided<[100, 2], offset: 8>>
  // CHECK-NEXT: host.expand %x {note = "kept"} : memref<10x100xf32> to memref<4x10x100xf32, strided<[0, 100, 1]>>
  %f = host.expand %x {note = "kept"} : memref<10x100xf32> to memref<4x10x100xf32, strided<[0, 100, 1]>>
  // CHECK-NEXT: %v = host.alloc : memref<10x16xbf16>
  %v = host.alloc : memref<10x16xbf16>
  // CHECK-NEXT: host.copy %v to %s {note = "kept"} : memref<10x16xbf16>, memref<10x16xf32, strided<[100, 2], offset: 8>>
  host.copy %v to %s {note = "kept"} : memref<10x16xbf16>, memref<10x16xf32, strided<[100, 2], offset: 8>>
  // CHECK-NEXT: %w = host.alloc
  %w = host.alloc : memref<10x16xf32>
  // CHECK-NEXT: host.insert %w into %x [0, 8] [10, 16] [1, 2] {note = "kept"} : memref<10x16xf32>, memref<10x100xf32>
  %g = host.insert %w into %x [0, 8] [10, 16] [1, 2] {note = "kept"} : memref<10x16xf32>, memref<10x100xf32>
  func.return
}

func.func @calls(%x: memref<10x100xf32>) {
  // CHECK: host.call "aten.sum.dim_IntList"(%x) args [unit, [1 : i64], false] {note = "kept"} : (memref<10x100xf32>) -> (memref<10xf32>)
  %a = host.call "aten.sum.dim_IntList"(%x) args [unit, [1 : i64], false] {note = "kept"} : (memref<10x100xf32>) -> (memref<10xf32>)
  // CHECK-NEXT: host.call "aten.add.Tensor"(%x, %x) args [unit, unit, 2 : i64] {keywords = ["alpha"]} :
  %two = host.call "aten.add.Tensor"(%x, %x) args [unit, unit, 2 : i64] {keywords = ["alpha"]} : (memref<10x100xf32>, memref<10x100xf32>) -> (memref<10x100xf32>)
  // CHECK-NEXT: host.call "aten.cat.default"(%x, %x) args {{\[\[}}unit, unit], 0 : i64] : (memref<10x100xf32>, memref<10x100xf32>) -> (memref<20x100xf32>)
  %b = host.call "aten.cat.default"(%x, %x) args [[unit, unit], 0 : i64] : (memref<10x100xf32>, memref<10x100xf32>) -> (memref<20x100xf32>)
  // CHECK-NEXT: host.call "aten.arange.default"() args [8 : i64] : () -> (memref<8xi64>)
  %c = host.call "aten.arange.default"() args [8 : i64] : () -> (memref<8xi64>)
  func.return
}

func.func @launches(%x: memref<100xf32>, %y: memref<100xf32>) -> memref<100xf32> {
  // CHECK: %z = host.launch @double (%a = %x, %b = %y) writes [1] : (memref<100xf32>, memref<100xf32>) -> memref<100xf32> attributes {note = "kept"} {
  %z = host.launch @double (%a = %x, %b = %y) writes [1] : (memref<100xf32>, memref<100xf32>) -> memref<100xf32> attributes {note = "kept"} {
    // CHECK-NEXT: tile.grid (%i: b0=16) in (100) {
    tile.grid (%i: b0=16) in (100) {
      %v = tile.load %a[%i] : memref<100xf32> -> !tile.tile<b0=16 x f32>
      %w = tile.add %v, %v : !tile.tile<b0=16 x f32>
      tile.store %w, %b[%i] : !tile.tile<b0=16 x f32>, memref<100xf32>
    }
  }
  // CHECK: host.launch @nothing () writes [] : () -> () {
  host.launch @nothing () writes [] : () -> () {
  }
  func.return %z : memref<100xf32>
}

func.func @new_arrays(%x: memref<100xf32>, %y: memref<100xf32>) {
  // CHECK: %a = host.launch @fills () writes [] yields (%b : memref<4xf32>) : () -> memref<4xf32> {
  %a = host.launch @fills () writes [] yields (%b : memref<4xf32>) : () -> memref<4xf32> {
    // CHECK-NEXT: tile.grid
    tile.grid (%i: b0=4) in (4) {
      %v = tile.full 1.0 : !tile.tile<b0=4 x f32>
      tile.store %v, %b[%i] : !tile.tile<b0=4 x f32>, memref<4xf32>
    }
  }
  // CHECK: %p, %q, %r = host.launch @all (%c = %x, %d = %y) writes [0, 1] donates [1] yields (%e : memref<4xf32>) : (memref<100xf32>, memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<4xf32>) {
  %p, %q, %r = host.launch @all (%c = %x, %d = %y) writes [0, 1] donates [1] yields (%e : memref<4xf32>) : (memref<100xf32>, memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<4xf32>) {
  }
  func.return
}

func.func @planned(%x: memref<8x4xf32>, %s: memref<8x4xf32, #symm.space<"tp">>) -> memref<8x4xf32> {
  // CHECK: %a = host.alloc persistent "f.0" fill 1.0 {note = "kept"} : memref<8x4xf32, #symm.space<"tp">>
  %a = host.alloc persistent "f.0" fill 1.0 {note = "kept"} : memref<8x4xf32, #symm.space<"tp">>
  // CHECK-NEXT: %e = host.alloc : memref<8x4xf32>
  %e = host.alloc : memref<8x4xf32>
  // CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %e {note = "kept"} : (memref<8x4xf32>) to memref<8x4xf32>
  host.call_out "aten.exp.default"(%x) args [unit] to %e {note = "kept"} : (memref<8x4xf32>) to memref<8x4xf32>
  // CHECK-NEXT: %b = host.reuse %e fill 2.0 {note = "kept"} : memref<8x4xf32>
  %b = host.reuse %e fill 2.0 {note = "kept"} : memref<8x4xf32>
  // CHECK-NEXT: host.free %b {note = "kept"} : memref<8x4xf32>
  host.free %b {note = "kept"} : memref<8x4xf32>
  // CHECK-NEXT: %y = host.partition capture static (%s : memref<8x4xf32, #symm.space<"tp">>) -> memref<8x4xf32> attributes {note = "kept"} {
  %y = host.partition capture static (%s : memref<8x4xf32, #symm.space<"tp">>) -> memref<8x4xf32> attributes {note = "kept"} {
  // CHECK-NEXT: %z = host.alloc : memref<8x4xf32>
    %z = host.alloc : memref<8x4xf32>
  // CHECK-NEXT: host.yield {note = "kept"} %z : memref<8x4xf32>
    host.yield {note = "kept"} %z : memref<8x4xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: host.partition capture {
  host.partition capture {
  // CHECK-NEXT: host.copy %x to %y : memref<8x4xf32>, memref<8x4xf32>
    host.copy %x to %y : memref<8x4xf32>, memref<8x4xf32>
  // CHECK-NEXT: }
  }
  func.return %y : memref<8x4xf32>
}
