// RUN: kopt %s -p 'functionalise-host,eliminate-output-only,insert-masks,plan-accesses,apply-schedule,legalise-element-types,bind-buffers' -t pallas-py | filecheck %s

// The condition of the next visit is the first of the carried values.
// CHECK: def while_body(carry):
// CHECK: _, a = carry
// CHECK: b = a + a
// CHECK: return (jnp.asarray({{.+}}, jnp.int32), b)
// CHECK: _, r = jax.lax.while_loop(lambda carry: carry[0] != 0, while_body, (jnp.asarray({{.+}}, jnp.int32), v))
// CHECK: out_ref[...] = r
func.func @f(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %out = host.alloc : memref<8x128xf32>
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i, :] : memref<8x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %limit = tile.full 100.0 : !tile.tile<f32>
    %s = tile.reduce add %v [0, 1] : !tile.tile<b0=8 x 128 x f32>
    %c = tile.lt %s, %limit : !tile.tile<f32>
    %go = tile.extract %c : !tile.tile<i1> to i1
    %r = tile.while %go iter(%a = %v) -> (!tile.tile<b0=8 x 128 x f32>) {
      %b = tile.add %a, %a : !tile.tile<b0=8 x 128 x f32>
      %t = tile.reduce add %b [0, 1] : !tile.tile<b0=8 x 128 x f32>
      %d = tile.lt %t, %limit : !tile.tile<f32>
      %more = tile.extract %d : !tile.tile<i1> to i1
      tile.yield %more, %b : i1, !tile.tile<b0=8 x 128 x f32>
    }
    tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<8x128xf32>
  }
  func.return %out : memref<8x128xf32>
}
