// Ops on ranges.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @ranges(%x: memref<100xf32>) {
  tile.grid (%i: b0=16) in (100) {
    // CHECK: %i.begin = tile.begin %i : !tile.range<b0=16>
    %i.begin = tile.begin %i : !tile.range<b0=16>
    // CHECK-NEXT: tile.end %i : !tile.range<b0=16>
    %e = tile.end %i : !tile.range<b0=16>
    // CHECK-NEXT: tile.id %i {note = "kept"} : !tile.range<b0=16>
    %n = tile.id %i {note = "kept"} : !tile.range<b0=16>
    // CHECK-NEXT: tile.count %i : !tile.range<b0=16>
    %c = tile.count %i : !tile.range<b0=16>
    // CHECK-NEXT: tile.block_size %i {note = "kept"} : !tile.range<b0=16>
    %z = tile.block_size %i {note = "kept"} : !tile.range<b0=16>
    // CHECK-NEXT: tile.valid_count %i : !tile.range<b0=16>
    %k = tile.valid_count %i : !tile.range<b0=16>
    // CHECK-NEXT: tile.index %i {note = "kept"} : !tile.range<b0=16>
    %l = tile.index %i {note = "kept"} : !tile.range<b0=16>
    // CHECK-NEXT: tile.valid %i : !tile.range<b0=16>
    %v = tile.valid %i : !tile.range<b0=16>
    // CHECK-NEXT: %[[S:.*]] = tile.shift %i by %i.begin {note = "kept"} : !tile.range<b0=16>
    %s = tile.shift %i by %i.begin {note = "kept"} : !tile.range<b0=16>
    // CHECK-NEXT: tile.index %[[S]] : !tile.range<b0=16>
    %t = tile.index %s : !tile.range<b0=16>
    // CHECK-NEXT: tile.whole 100 {note = "kept"} : !tile.range<w0=128>
    %w = tile.whole 100 {note = "kept"} : !tile.range<w0=128>
  }
  func.return
}
