// A copy to a rank that the barrier's group has not.
builtin.module {
  func.func @no_receive_wait(%x: memref<8x128xf32>) -> memref<8x128xf32> {
    %o = pallas.call @no_receive_wait(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
    ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
      tile.grid (%g: g0=7) in (7) {
        %me = symm.rank group "tp"
        %one = arith.constant 1 : index
        %two = arith.constant 2 : index
        %three = arith.constant 3 : index
        %far = arith.addi %me, %one : index
        %back = arith.addi %me, %two : index
        %left = arith.remui %back, %three : index
        %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
        symm.barrier group "tp" ranks 3 : i32
        tile.for %s: s0=7 in (0, 4) {
          %n = tile.id %s : !tile.range<s0=7>
          tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
          %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %back signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
          symm.remote_copy_start %t
          symm.remote_copy_wait send %t
          %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
          symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
          symm.wait %free from %back channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        }
      }
    }
    func.return %o : memref<8x128xf32>
  }
}
