// RUN: kopt %s --split-input-file --verify-diagnostics -p verify-symm | filecheck %s

// Written, read by all after the entry barrier, written again after the exit barrier; views and reuse are followed.
// CHECK-LABEL: func.func @right
func.func @right(%x: memref<8xf32>, %r: memref<8xf32>) {
  %a = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  host.copy %x to %a : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  symm.all_reduce_out add %a to %r group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  %b = host.reuse %a : memref<8xf32, #symm.space<"tp">>
  host.copy %x to %b : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  symm.barrier group "tp"
  symm.all_reduce_out add %b to %r group "tp" by one_shot barriers [] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  symm.barrier group "tp"
  func.return
}

// -----

func.func @not_there(%x: memref<8xf32>, %r: memref<8xf32>) {
  // expected-note @+2 {{symm-place puts it there}}
  // expected-error @+1 {{symm.all_reduce_out reads symmetric memory of group "tp", found memref<8xf32>}}
  symm.all_reduce_out add %x to %r group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @gaps(%x: memref<8xf32, strided<[2]>, #symm.space<"tp">>, %r: memref<8xf32>) {
  // expected-note @+2 {{symm-place copies such views}}
  // expected-error @+1 {{symm.all_reduce_out reads a contiguous array of static shape, found memref<8xf32, strided<[2]>}}
  symm.all_reduce_out add %x to %r group "tp" by one_shot : memref<8xf32, strided<[2]>, #symm.space<"tp">> to memref<8xf32>
  func.return
}

// -----

func.func @entry(%x: memref<8xf32>, %r: memref<8xf32>) {
  %a = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  host.copy %x to %a : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  // expected-note @+2 {{an entry barrier is missing: symm.barrier, or 'entry' among its barriers}}
  // expected-error @+1 {{symm.all_reduce_out reads 'a' of all ranks, which may not have written it yet}}
  symm.all_reduce_out add %a to %r group "tp" by one_shot barriers [exit] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  func.return
}

// -----

// The barrier of another group is none.
func.func @exit(%x: memref<8xf32>, %r: memref<8xf32>) {
  %a = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  host.copy %x to %a : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  symm.all_reduce_out add %a to %r group "tp" by one_shot barriers [entry] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  symm.barrier group "dp"
  %b = host.reuse %a : memref<8xf32, #symm.space<"tp">>
  %v = host.reshape %b : memref<8xf32, #symm.space<"tp">> to memref<2x4xf32, #symm.space<"tp">>
  tile.grid (%i: b0=2) in (2) {
    %z = tile.full 0.0 : !tile.tile<b0=2 x 4 x f32>
    // expected-note @-2 {{an exit barrier is missing: symm.barrier, or 'exit' among the collective's barriers}}
    // expected-error @-3 {{other ranks may still read the memory of 'a' when it is written again}}
    tile.store %z, %v[%i, :] : !tile.tile<b0=2 x 4 x f32>, memref<2x4xf32, #symm.space<"tp">>
  }
  func.return
}

// -----

func.func @next_call(%a: memref<8xf32, #symm.space<"tp">>, %r: memref<8xf32>) {
  symm.all_reduce_out add %a to %r group "tp" by one_shot barriers [entry] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  // expected-note @+2 {{an exit barrier is missing}}
  // expected-error @+1 {{other ranks may still read the memory of 'a' when the next call writes it again}}
  func.return
}

// -----

func.func @returned(%a: memref<8xf32, #symm.space<"tp">>) -> memref<8xf32, #symm.space<"tp">> {
  // expected-note @+2 {{return a copy in memory of the device's own}}
  // expected-error @+1 {{'a' is returned, but its memory is symmetric: later calls write it again}}
  func.return %a : memref<8xf32, #symm.space<"tp">>
}

// -----

func.func @ids() {
  %a = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  // expected-note @+2 {{an id is one array's}}
  // expected-error @+1 {{two arrays have the id "f.0"}}
  %b = host.alloc persistent "f.0" : memref<4xf32, #symm.space<"tp">>
  func.return
}
