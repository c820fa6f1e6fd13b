// What no pipeline has looked at is looked at before it is printed: hazards of symmetric memory too.
// RUN: kopt %s --split-input-file --verify-diagnostics -t torch-py

func.func @hazard(%x: memref<8xf32>, %r: memref<8xf32>) {
  // expected-note @+2 {{symm-place puts it there}}
  // expected-error @+1 {{symm.all_reduce_out reads symmetric memory of group "tp", found memref<8xf32>}}
  symm.all_reduce_out add %x to %r group "tp" by one_shot : memref<8xf32> to memref<8xf32>
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
