// A target's whole pipeline by its name, and the pipeline as text, which runs again.

// RUN: kopt %s -p pallas-v6e -t pallas-py | filecheck %s --check-prefix=PALLAS
// RUN: kopt %s --pass-pipeline='builtin.module(triton-sm90,cse)' -t triton-py | filecheck %s --check-prefix=TRITON
// RUN: kopt %s -p reference --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: kopt --show-pipelines | filecheck %s --check-prefix=LIST
// RUN: not kopt %s -p pallas-v6 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not kopt %s -p 'cse,pallas-v6e{chip=v5e}' 2>&1 | filecheck %s --check-prefix=OPTION

// PALLAS: pl.pallas_call
// TRITON: @triton.jit

// DUMP: Pass Manager with 4 passes:
// DUMP-NEXT: {{^}}builtin.module(choose-block-sizes,verify-accesses,verify-index-widths,mask-rmw-scatter){{$}}
// DUMP-NEXT: builtin.module {

// LIST: {{^}}pallas-tpu7x {{.*}} passes
// LIST: {{^}}reference {{.*}} 4 passes
// LIST: {{^}}triton-sm90 {{.*}} passes

// UNKNOWN: <pass-pipeline>:1:1: error: unknown pass or pipeline 'pallas-v6'; did you mean 'pallas-v6e'?
// OPTION: <pass-pipeline>:1:16: error: pipeline 'pallas-v6e' has no options; only its passes have
func.func @f(%x: memref<256x256xf32>, %y: memref<256x256xf32>) {
  tile.grid (%i: b0=8) in (256) {
    %v = tile.load %x[%i, :] : memref<256x256xf32> -> !tile.tile<b0=8 x 256 x f32>
    tile.store %v, %y[%i, :] : !tile.tile<b0=8 x 256 x f32>, memref<256x256xf32>
  }
  func.return
}
