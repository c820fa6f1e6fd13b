// What torch has no form of, and hazards that a program would have.
// RUN: kopt %s --split-input-file --verify-diagnostics -t torch-py

func.func @hazard(%x: memref<8xf32>, %r: memref<8xf32>) {
  // expected-note @+2 {{symm-place puts it there}}
  // expected-error @+1 {{symm.all_reduce_out reads symmetric memory of group "tp", found memref<8xf32>}}
  symm.all_reduce_out add %x to %r group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @two_shot(%x: memref<8xf32, #symm.space<"tp">>) {
  // expected-note @+2 {{run symm-to-dps before}}
  // expected-error @+1 {{torch has no two_shot all-reduce that allocates its result}}
  %r = symm.all_reduce add %x group "tp" by two_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  func.return
}

// -----

func.func @barriers(%x: memref<8xf32, #symm.space<"tp">>, %r: memref<8xf32>) {
  // expected-error @+1 {{torch's one_shot_all_reduce_out waits at entry and exit; found barriers [entry]}}
  symm.all_reduce_out add %x to %r group "tp" by one_shot barriers [entry] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  symm.barrier group "tp"
  func.return
}

// -----

func.func @persistent() {
  // expected-error @+1 {{persistent memory is symmetric memory and the reverse, for torch; found memref<8xf32> persistent}}
  %a = host.alloc persistent "f.0" : memref<8xf32>
  func.return
}

// -----

func.func @strided(%x: memref<4x2xf32>, %r: memref<8x2xf32, strided<[1, 8]>>) {
  // expected-error @+1 {{symm.all_gather_out writes a contiguous array, found memref<8x2xf32, strided<[1, 8]>>}}
  symm.all_gather_out %x to %r group "tp" : memref<4x2xf32> to memref<8x2xf32, strided<[1, 8]>>
  func.return
}

// -----

func.func @captured() -> memref<8xf32> {
  %p = host.partition capture -> memref<8xf32> {
    %a = host.alloc : memref<8xf32>
    host.yield %a : memref<8xf32>
  }
  // expected-note @+2 {{return a copy in memory of the device's own}}
  // expected-error @+1 {{'a' is returned, but its memory is a captured partition's: later calls write it again}}
  func.return %p : memref<8xf32>
}

// -----

func.func @grid(%x: memref<64xf32>) {
  // expected-error @+1 {{'tile.grid' has no torch form}}
  tile.grid (%i: b0=16) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    tile.store %z, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}
