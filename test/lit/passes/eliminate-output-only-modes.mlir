// RUN: kopt %s --verify-each --remarks -p 'functionalise-host,eliminate-output-only{mode=donate}' | filecheck %s --check-prefix=DONATE
// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only{mode=donate},plan-accesses,apply-schedule,legalise-element-types,bind-buffers' | filecheck %s --check-prefix=HBM
// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only{mode=off},plan-accesses,apply-schedule,legalise-element-types,bind-buffers' | filecheck %s --check-prefix=OFF
// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only{mode=swap},plan-accesses,apply-schedule,legalise-element-types,bind-buffers' | filecheck %s --check-prefix=RETURN
// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only,plan-accesses,apply-schedule,legalise-element-types,bind-buffers' | filecheck %s --check-prefix=RETURN
// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only{mode=donate},plan-accesses,apply-schedule,legalise-element-types,bind-buffers' -t pallas-py | filecheck %s --check-prefix=PYTHON

// Donated: memory only. A fill is dead, so what is donated is not filled; an argument is given as it is.
// DONATE-LABEL: func.func @f
// DONATE-NEXT: [[T:%.+]] = host.alloc : memref<1024x256xf32>
// DONATE-NEXT: host.launch @f (%{{.+}} = %x, %{{.+}} = [[T]], %{{.+}} = %out) writes [1, 2] donates [1, 2] :

// HBM-LABEL: func.func @f
// HBM: [[T:%.+]] = host.alloc : memref<1024x256xf32>
// HBM-NEXT: pallas.call @f(%x, [[T]], %out) windows [<[8, 256], (d0) -> (d0, 0), vmem>, <[1024, 256], (d0) -> (0, 0), hbm>, <[1024, 256], (d0) -> (0, 0), hbm>, <[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [1, 2]
// HBM-NOT: tile.get %t
// HBM-NOT: %old

// OFF-LABEL: func.func @f
// OFF: [[T:%.+]] = host.alloc fill 0.0
// OFF-NEXT: pallas.call @f(%x, [[T]], %out) windows [<[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [1, 2]

// RETURN-LABEL: func.func @f
// RETURN-NEXT: pallas.call @f(%x) windows [<[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1, -1]

// PYTHON: def f(x, out):
// PYTHON: pl.BlockSpec(memory_space=pltpu.HBM)
// PYTHON: input_output_aliases={1: 0, 2: 1}
func.func @f(%x: memref<1024x256xf32>, %out: memref<1024x256xf32>) -> (memref<1024x256xf32>, memref<1024x256xf32>) {
  %t = host.alloc fill 0.0 : memref<1024x256xf32>
  tile.grid (%i: b0=8) in (1024) {
    %v = tile.load %x[%i, :] : memref<1024x256xf32> -> !tile.tile<b0=8 x 256 x f32>
    tile.store %v, %t[%i, :] : !tile.tile<b0=8 x 256 x f32>, memref<1024x256xf32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 256 x f32>, memref<1024x256xf32>
  }
  func.return %t, %out : memref<1024x256xf32>, memref<1024x256xf32>
}
