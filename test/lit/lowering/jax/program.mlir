// Host programs as JAX code: what one rank does, and the program over a mesh.
// RUN: kopt %s -t jax-py --entry layer | filecheck %s --check-prefix=LAYER
// RUN: kopt %s -t jax-py --entry groups | filecheck %s --check-prefix=GROUPS
// RUN: kopt %s -t jax-py --entry alone | filecheck %s --check-prefix=ALONE
// RUN: kopt %s -p 'expand-collectives{ranks=4 group=x}' -t jax-py --entry gather | filecheck %s --check-prefix=GATHER

// LAYER: """layer: a program of the ranks of a mesh, emitted by kopt."""
// LAYER-EMPTY:
// LAYER-NEXT: import jax
// LAYER-NEXT: import jax.numpy as jnp
// LAYER-NEXT: from jax.sharding import PartitionSpec as P
// LAYER: def layer_of_rank(x, w):
// LAYER-NEXT: h = jnp.matmul(x, w, precision="highest").astype(jnp.float32)
// LAYER-NEXT: s = jax.lax.psum(h, "tp")
// LAYER-NEXT: m = jax.lax.pmax(s, "tp")
// LAYER-NEXT: return m
// LAYER: def layer(x, w, *, mesh, in_specs=P("tp"), out_specs=P("tp")):
// LAYER-NEXT: """Arrays of all ranks, over a mesh that has the axis tp."""
// LAYER-NEXT: program = jax.shard_map(layer_of_rank, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
// LAYER-NEXT: return program(x, w)
func.func @layer(%x: memref<8x64xf32>, %w: memref<64x64xf32>) -> memref<8x64xf32> {
  %h = host.call "aten.mm.default"(%x, %w) args [unit, unit] : (memref<8x64xf32>, memref<64x64xf32>) -> (memref<8x64xf32>)
  %s = symm.all_reduce add %h group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>
  symm.barrier group "tp"
  %m = symm.all_reduce max %s group "tp" : memref<8x64xf32> to memref<8x64xf32>
  func.return %m : memref<8x64xf32>
}

// Groups are axes of the mesh, as long as shapes say; what has no dimension is the same on all ranks.
// GROUPS: def groups_of_rank(x, c):
// GROUPS-NEXT: g = jax.lax.all_gather(x, "tp", tiled=True)
// GROUPS-NEXT: t = jax.lax.all_to_all(g, "dp", 0, 0, tiled=True)
// GROUPS-NEXT: r = jax.lax.psum_scatter(t, "tp", tiled=True)
// GROUPS-NEXT: a = jax.lax.pmean(c, "dp")
// GROUPS: def groups(x, c, *, mesh, in_specs=(P(("tp", "dp")), P()), out_specs=(P(("tp", "dp")), P())):
// GROUPS-NEXT: """Arrays of all ranks, over a mesh that has the axes tp, dp."""
// GROUPS-NEXT: if mesh.shape["tp"] != 4:
// GROUPS-NEXT: raise ValueError(f"groups is for 4 ranks along 'tp', found {mesh.shape}")
func.func @groups(%x: memref<2x8xf32>, %c: memref<f32>) -> (memref<2x8xf32>, memref<f32>) {
  %g = symm.all_gather %x group "tp" : memref<2x8xf32> to memref<8x8xf32>
  %t = symm.all_to_all %g group "dp" : memref<8x8xf32> to memref<8x8xf32>
  %r = symm.reduce_scatter %t group "tp" : memref<8x8xf32> to memref<2x8xf32>
  %a = symm.all_reduce avg %c group "dp" : memref<f32> to memref<f32>
  func.return %r, %a : memref<2x8xf32>, memref<f32>
}

// ALONE: def alone(x):
// ALONE-NEXT: e = jnp.exp(x)
// ALONE-NEXT: return e
func.func @alone(%x: memref<8xf32>) -> memref<8xf32> {
  %e = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  func.return %e : memref<8xf32>
}

// A kernel's copies are Pallas's; a rank is named along its group's axis.
// GATHER: def gather_all_gather_kernel(given_ref, out_ref, loaded_ref, sent_ref, received_ref):
// GATHER-NEXT: me = jax.lax.axis_index("x")
// GATHER: barrier = pltpu.get_barrier_semaphore()
// GATHER-NEXT: for other in range(1, 4):
// GATHER-NEXT: pl.semaphore_signal(barrier, device_id={"x": (rank + other) % 4})
// GATHER-NEXT: pl.semaphore_wait(barrier, 3)
// GATHER: copy = pltpu.make_async_remote_copy(
// GATHER-NEXT: out_ref.at[part, :, :],
// GATHER-NEXT: out_ref.at[part, :, :],
// GATHER-NEXT: sent_ref.at[0],
// GATHER-NEXT: received_ref.at[step],
// GATHER-NEXT: device_id={"x": right},
// GATHER-NEXT: )
// GATHER-NEXT: copy.start()
// GATHER-NEXT: copy.wait_send()
// GATHER-NEXT: copy.wait_recv()
// GATHER: pltpu.SemaphoreType.DMA((3,))
// GATHER: compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), collective_id=0),
// GATHER: if mesh.shape["x"] != 4:
func.func @gather(%x: memref<8x128xf32>) -> memref<32x128xf32> {
  %g = symm.all_gather %x group "x" : memref<8x128xf32> to memref<32x128xf32>
  func.return %g : memref<32x128xf32>
}
