// RUN: kopt %s --verify-each --remarks -p 'set-eviction-policies{policies=first,none}' 2>&1 | filecheck %s
// RUN: kopt %s --verify-each --remarks -p 'set-eviction-policies{policies=last}' 2>&1 | filecheck %s --check-prefix=ALL
// RUN: kopt %s --verify-each --remarks -p 'set-eviction-policies{drop=true}' 2>&1 | filecheck %s --check-prefix=DROP
// RUN: kopt %s --remarks -p 'set-eviction-policies{policies=first,last,last}' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: kopt %s -p 'set-eviction-policies{policies=first,none},convert-tile-to-triton' -t triton-py | filecheck %s --check-prefix=TEXT

// Loads without a policy of their own are counted; a target without such caches says so once.
// COUNT: remark: config key 'load_eviction_policies' has 3 policies, for 2 loads
// DROP: remark: eviction policies of loads have no meaning here
// DROP-NOT: eviction
// CHECK: tile.load %x[%i] {eviction = "evict_first"}
// CHECK: tile.load %x[%i] {eviction = "evict_last"}
// CHECK: tile.load %y[%i] : memref
// ALL: tile.load %x[%i] {eviction = "evict_last"}
// ALL: tile.load %x[%i] {eviction = "evict_last"}
// ALL: tile.load %y[%i] {eviction = "evict_last"}
// TEXT: a = tl.load({{.*}}, eviction_policy="evict_first")
// TEXT: b = tl.load({{.*}}, eviction_policy="evict_last")
// TEXT: c = tl.load({{[^v]*}})
func.func @loads(%x: memref<128xf32>, %y: memref<128xf32>, %out: memref<128xf32>) {
  tile.grid (%i: b0=64) in (128) {
    %a = tile.load %x[%i] : memref<128xf32> -> !tile.tile<b0=64 x f32>
    %b = tile.load %x[%i] {eviction = "evict_last"} : memref<128xf32> -> !tile.tile<b0=64 x f32>
    %c = tile.load %y[%i] : memref<128xf32> -> !tile.tile<b0=64 x f32>
    %s = tile.add %a, %b : !tile.tile<b0=64 x f32>
    %t = tile.add %s, %c : !tile.tile<b0=64 x f32>
    tile.store %t, %out[%i] : !tile.tile<b0=64 x f32>, memref<128xf32>
  }
  func.return
}
