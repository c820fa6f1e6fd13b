// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses{loop-type=grid},apply-schedule,legalise-element-types,bind-buffers,realise-dmas,software-pipeline{chip=v5p}' -t pallas-py | filecheck %s
// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses{loop-type=resident},apply-schedule,legalise-element-types,bind-buffers,realise-dmas,software-pipeline{chip=v5p}' -t pallas-py | filecheck %s --check-prefix=RESIDENT
// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses{loop-type=fori},apply-schedule,legalise-element-types,bind-buffers,realise-dmas,software-pipeline{chip=v5p}' -t pallas-py | filecheck %s --check-prefix=FORI
// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses{loop-type=pipeline},apply-schedule,legalise-element-types,bind-buffers,realise-dmas,software-pipeline{chip=v5p}' -t pallas-py | filecheck %s --check-prefix=PIPELINE

// CHECK: def sums_kernel(x_ref, out_ref, a_ref):
// CHECK-NEXT: k = pl.program_id(1)
// CHECK-NEXT: k_begin = k * 256
// CHECK: @pl.when(k == 0)
// CHECK: a_ref[...] = z
// CHECK: v = x_ref[...]  # loops.mlir:
// CHECK: @pl.when(k == 2)
// CHECK: out_ref[...] = r
// CHECK: def sums(x):
// CHECK-NEXT: out = pl.pallas_call(
// CHECK-NEXT: sums_kernel,
// CHECK-NEXT: grid=(3, 3),
// CHECK-NEXT: in_specs=[pl.BlockSpec((128, 256), lambda i, k: (i, k))],
// CHECK-NEXT: out_specs=pl.BlockSpec((128,), lambda i, k: (i,)),
// CHECK-NEXT: out_shape=jax.ShapeDtypeStruct((300,), jnp.float32),
// CHECK-NEXT: scratch_shapes=[pltpu.VMEM((128,), jnp.float32)],
// CHECK-NEXT: compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
// CHECK-NEXT: name="sums",
// CHECK-NEXT: )(x)
// CHECK-NEXT: return out

// RESIDENT: def k_body(k, a):
// RESIDENT-NEXT: k_begin = k * 256
// RESIDENT-NEXT: v = x_ref[:, pl.ds(pl.multiple_of(k_begin, 256), 256)]
// RESIDENT: return n
// RESIDENT: r = jax.lax.fori_loop(0, 3, k_body, z, unroll=3)
// RESIDENT: in_specs=[pl.BlockSpec((128, 768), lambda i: (i, 0))],

// FORI: pltpu.make_async_copy(
// FORI-NEXT: x_ref.at[pl.ds(pl.multiple_of(i_begin, 128), 128), 0:256],
// FORI-NEXT: x_buffer_ref.at[0, :, :],
// FORI-NEXT: x_arrived_ref.at[0],
// FORI-NEXT: ).start()
// FORI: def k_body(k, a):
// FORI: slot = k & 1
// FORI: @pl.when(more)
// FORI: ).start()
// FORI: ).wait()
// FORI-NEXT: v = x_buffer_ref[slot, :, :]
// FORI: x_2 = jnp.pad(x, [(0, 84), (0, 68)])
// FORI: scratch_shapes=[pltpu.VMEM((2, 128, 256), jnp.float32), pltpu.SemaphoreType.DMA((2,))],
// FORI: )(pltpu.with_memory_space_constraint(x_2, pltpu.HBM))

// PIPELINE: def sums_kernel(x_ref, out_ref, a_ref):
// PIPELINE-NEXT: i = pl.program_id(0)
// PIPELINE: a_ref[...] = z
// PIPELINE: def k_body(x_block):
// PIPELINE-NEXT: k = pl.program_id(0)
// PIPELINE-NEXT: k_begin = k * 256
// PIPELINE-NEXT: a = a_ref[...]
// PIPELINE-NEXT: v = x_block[...]
// PIPELINE: a_ref[...] = n
// PIPELINE: pltpu.emit_pipeline(
// PIPELINE-NEXT: k_body,
// PIPELINE-NEXT: grid=(3,),
// PIPELINE-NEXT: in_specs=[pl.BlockSpec((128, 256), lambda k: (i, k))],
// PIPELINE-NEXT: )(x_ref)
// PIPELINE-NEXT: r = a_ref[...]
// PIPELINE: x_2 = jnp.pad(x, [(0, 84), (0, 68)])
// PIPELINE: in_specs=[pl.BlockSpec(memory_space=pltpu.HBM)],
// PIPELINE: )(pltpu.with_memory_space_constraint(x_2, pltpu.HBM))
func.func @sums(%x: memref<300x700xf32>) -> memref<300xf32> {
  %out = host.alloc : memref<300xf32>
  tile.grid (%i: b0=128) in (300) {
    %z = tile.full 0.0 : !tile.tile<b0=128 x f32>
    %r = tile.for %k: b1=256 in (0, 700) iter(%a = %z) -> (!tile.tile<b0=128 x f32>) {
      %v = tile.load %x[%i, %k] : memref<300x700xf32> -> !tile.tile<b0=128 x b1=256 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=128 x b1=256 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=128 x f32>
      tile.yield %n : !tile.tile<b0=128 x f32>
    }
    tile.store %r, %out[%i] : !tile.tile<b0=128 x f32>, memref<300xf32>
  }
  func.return %out : memref<300xf32>
}
