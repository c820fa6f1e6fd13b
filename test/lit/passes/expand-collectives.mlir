// RUN: kopt %s -p 'expand-collectives{ranks=4},verify-barriers' --split-input-file | filecheck %s --check-prefix=RING
// RUN: kopt %s -p 'expand-collectives{ranks=4 kind=one-shot},verify-barriers' --split-input-file | filecheck %s --check-prefix=SHOT

// A part travels the ring while ranks add to it, then the parts do; a place is used again when its reader has signalled.
// RING-LABEL: func.func @sum
// RING-NEXT: host.reshape %x : memref<100x5xf32> to memref<4x125xf32>
// RING-NEXT: host.call "aten.constant_pad_nd.default"({{.*}}) args [unit, [0 : i64, 899 : i64, 0 : i64, 0 : i64]
// RING-NEXT: host.reshape {{.*}} : memref<4x1024xf32> to memref<4x8x128xf32>
// RING-NEXT: pallas.call @sum_all_reduce({{.*}} collective 0 : (memref<4x8x128xf32>) -> memref<4x8x128xf32> {
// RING: %me = symm.rank group "tp"
// RING: symm.barrier group "tp" ranks 4 : i32
// RING: tile.for %piece: b1=8 in (0, 8) {
// RING: pallas.dma_wait %given[%first, %piece, :] to %sum[:, :]
// RING: tile.for %step: b2=1 in (0, 3) {
// RING: scf.if %applies {
// RING-NEXT: symm.wait %free from %right channel 0
// RING: symm.remote_copy %sum[:, :] to %inbox[%slot, :, :] on %right signal %sent[0], %received[%slot] group "tp"
// RING-NEXT: symm.remote_copy_start %copy
// RING: pallas.dma_wait %given[%part, %piece, :] to %mine[:, :]
// RING-NEXT: symm.remote_copy_wait send %copy
// RING-NEXT: symm.remote_copy_wait receive %copy
// RING: tile.add %came, %own
// RING: symm.signal %free to %left channel 0
// RING: pallas.dma_wait %sum[:, :] to %out[%me, %piece, :]
// RING: symm.remote_copy %out[%{{part.*}}, %piece, :] to %out[%{{part.*}}, %piece, :] on %right signal %passed[0], %gathered[%{{step.*}}] group "tp"
// RING: host.slice {{.*}} [0, 0] [4, 125] [1, 1]
// RING-NEXT: host.reshape {{.*}} to memref<100x5xf32>

// All parts come at once, each in its place of one of two halves, and are added in the order of ranks.
// SHOT-LABEL: func.func @sum
// SHOT: pallas.call @sum_all_reduce({{.*}} (memref<8x128xf32>) -> memref<8x128xf32> {
// SHOT: symm.barrier group "tp" ranks 4 : i32
// SHOT: pallas.dma_start %given[%piece, :] to %inbox[%half, %me, :, :]
// SHOT: symm.remote_copy %given[%piece, :] to %inbox[%half, %me, :, :] on %other signal %sent[0], %received[%half, %me]
// SHOT: symm.remote_copy %given[%piece, :] to %inbox[%half, %other{{.*}}, :, :] on %other{{.*}} signal %sent[0], %received[%half, %other{{.*}}]
// SHOT: tile.reduce add %parts [0]
func.func @sum(%x: memref<100x5xf32>) -> memref<100x5xf32> {
  %s = symm.all_reduce add %x group "tp" : memref<100x5xf32> to memref<100x5xf32>
  func.return %s : memref<100x5xf32>
}

// -----

// An algorithm of one shot is one; 16-bit floats are combined in f32; an average is a sum that is divided.
// RING-LABEL: func.func @average
// RING: tile.cast {{.*}} : !tile.tile<4 x 16 x 128 x bf16> to !tile.tile<4 x 16 x 128 x f32>
// RING: tile.reduce add %parts [0]
// RING: tile.div
// RING: tile.cast %average{{.*}} to !tile.tile<16 x 128 x bf16>
func.func @average(%x: memref<10x10xbf16>) -> memref<10x10xbf16> {
  %s = symm.all_reduce add %x group "tp" by one_shot : memref<10x10xbf16> to memref<10x10xbf16>
  %a = symm.all_reduce avg %s group "tp" : memref<10x10xbf16> to memref<10x10xbf16>
  func.return %a : memref<10x10xbf16>
}
