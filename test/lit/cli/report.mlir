// The chips' compilers report on IR files; what a target refuses is part of the report.
// REQUIRES: triton, torch
// RUN: kopt report %s --target triton:sm90,triton:gfx942 | filecheck %s
// RUN: kopt report %s --target triton:sm80 --json > %t
// RUN: filecheck %s --check-prefix=JSON --input-file=%t
// RUN: kopt report %s --target triton:sm80 --compare %t | filecheck %s --check-prefix=SAME
// RUN: not kopt report %s --target triton:sm90 --compare %t 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not kopt report %s --target triton:sm80 --compare %s 2>&1 | filecheck %s --check-prefix=NO-JSON
// RUN: kopt run %s --target triton:interpret --check | filecheck %s --check-prefix=AGREES
// RUN: not kopt report %s --target triton:sm12 2>&1 | filecheck %s --check-prefix=CHIP
// RUN: not kopt report %s --target reference 2>&1 | filecheck %s --check-prefix=NONE

// CHECK: triton:sm90 triton:gfx942
// CHECK: {{^}}legal {{.*}}yes {{.*}}yes
// CHECK: {{^}}registers
// CHECK: {{^}}compile seconds
// CHECK: {{^}}predicted ms
// CHECK: triton:sm90: chosen: order i; {{[0-9]+}} warp
// CHECK: triton:sm90: next thing to try:

// JSON: "target": "triton:sm80"
// JSON: "legal": true
// JSON: "shared_bytes":
// JSON: "predicted_ms":
// JSON: "predicted_low_ms":
// JSON: "next":

// SAME: triton:sm80: nothing differs
// OTHER: error: '{{.*}}' has no report for 'triton:sm90'; it has triton:sm80
// NO-JSON: error: '{{.*}}report.mlir' is no JSON

// AGREES: triton:interpret: {{.*}} ms
// AGREES: check: result 0 agrees with the reference

// CHIP: error: unknown target 'triton:sm12'
// NONE: error: target 'reference' has no compiler to report on
func.func @double(%x: memref<100xf32>) -> memref<100xf32> {
  %out = host.alloc : memref<100xf32>
  tile.grid (%i: b0=32) in (100) {
    %a = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    %s = tile.add %a, %a : !tile.tile<b0=32 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %out : memref<100xf32>
}
