// RUN: kopt %s -t torch-py | filecheck %s

// Extents that differ from call to call are those of the arguments, in the shapes of new arrays and of views too.
// CHECK: def f(x, *, tp):
// CHECK-NEXT: rows = x.shape[0]
// CHECK: out = torch.empty((rows, 4),
// CHECK: s = torch.empty((rows, 4),
// CHECK: dist.all_reduce(s,
// CHECK: wide = s.view((rows, 1, 4))
func.func @f(%x: memref<?x4xf32>) -> memref<?x1x4xf32> attributes {tile.extents = ["rows"]} {
  %out = host.alloc {tile.extents = ["rows"]} : memref<?x4xf32>
  %r = host.call "aten.exp.default"(%x) args [unit] {tile.extents = ["rows"]} : (memref<?x4xf32>) -> (memref<?x4xf32>)
  host.copy %r to %out : memref<?x4xf32>, memref<?x4xf32>
  %s = symm.all_reduce add %out group "tp" {tile.extents = ["rows"]} : memref<?x4xf32> to memref<?x4xf32>
  %wide = host.reshape %s {tile.extents = ["rows"]} : memref<?x4xf32> to memref<?x1x4xf32>
  func.return %wide : memref<?x1x4xf32>
}
