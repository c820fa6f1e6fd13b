// RUN: kopt %s --verify-each -p 'functionalise-host,eliminate-output-only,apply-schedule,bind-buffers' | filecheck %s

// An array that a loop writes back is one in HBM, which the result takes over; the send names the loop, and the rows
// that are its own.
// CHECK: pallas.call @writeback({{.+}}) windows [{{.*}}<[512, 128], (d0) -> (0, 0), hbm>, <[512, 128], (d0) -> (0, 0), hbm>] semantics ({{.+}}) aliases [1]
// CHECK: tile.for %k
// CHECK: [[OWN:%.+]] = tile.and %own, %inside
// CHECK: pallas.send %v, %new_out[%k, :] mask [[OWN]] behind %k depth 2 : !tile.tile<b1=64 x 128 x f32>, !tile.ref<512 x 128 x f32, hbm>
func.func @writeback(%n: memref<1xi32>, %out: memref<512x128xf32>) {
  tile.grid (%i: b0=1) in (1) plan {order [i] ordered [i]
      @n = %n smem   @o = %out writeback(k)} {
    %number = tile.load %n[0] via @n : memref<1xi32> -> !tile.tile<i32>
    %first = tile.extract %number : !tile.tile<i32> to index
    tile.for %k: b1=64 in (0, %first) schedule prefetch {
      %v = tile.full 1.0 : !tile.tile<b1=64 x 128 x f32>
      %lanes = tile.index %k : !tile.range<b1=64>
      %all = tile.broadcast %lanes dims [0] : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x 128 x i32>
      %from = tile.splat %first : index to !tile.tile<b1=64 x 128 x i32>
      %own = tile.ge %all, %from : !tile.tile<b1=64 x 128 x i32>
      tile.store %v, %out[%k, :] via @o mask %own : !tile.tile<b1=64 x 128 x f32>, memref<512x128xf32>
    }
  }
  func.return
}
