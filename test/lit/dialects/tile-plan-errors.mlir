// What plans refuse, each at its place.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @kind(%x: memref<64xf32>) {
  // expected-error @+1 {{unknown kind of buffer: 'windw'; did you mean 'window'?; there are window, resident, prefetch}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x windw(i)} {
  }
  func.return
}

// -----

func.func @word(%x: memref<64xf32>) {
  // expected-error @+1 {{unknown word of 'window': 'vec'; there are address, accumulate}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) vec 8} {
  }
  func.return
}

// -----

func.func @no_words(%x: memref<64xf32>) {
  // expected-error @+1 {{unknown word of 'resident': 'vec'; there are none}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x resident vec 8} {
  }
  func.return
}

// -----

func.func @choice(%x: memref<64xf32>) {
  // expected-error @+1 {{unknown 'evict': 'never'; there are first, last}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x pointer evict never} {
  }
  func.return
}

// -----

func.func @number(%x: memref<64xf32>) {
  // expected-error @+1 {{expected a positive number: vec n}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x pointer vec 0} {
  }
  func.return
}

// -----

func.func @axes_of_word(%x: memref<64xf32>) {
  // expected-error @+1 {{expected '(': accumulate(axis, …)}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) accumulate i} {
  }
  func.return
}

// -----

func.func @ahead(%x: memref<64xf32>) {
  // expected-error @+1 {{expected ',': prefetch(axis, n)}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x rows prefetch(i)} {
  }
  func.return
}

// -----

func.func @depth(%x: memref<64xf32>) {
  // expected-error @+1 {{a buffer is at least one deep: x1}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) x0} {
  }
  func.return
}

// -----

func.func @depth_twice(%x: memref<64xf32>) {
  // expected-error @+1 {{'x3' says 'depth' a second time}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) x2 x3} {
  }
  func.return
}

// -----

func.func @clause(%x: memref<64xf32>) {
  // expected-error @+1 {{unknown clause of a plan: 'warp'; did you mean 'warps'?; there are order, parallel}}
  tile.grid (%i: b0=16) in (64) plan {order [i] warp 8} {
  }
  func.return
}

// -----

func.func @no_order() {
  // expected-error @+1 {{a plan has the order of its axes, outermost first: order [i, j]}}
  tile.grid (%i: b0=16) in (64) plan {warps 8} {
  }
  func.return
}

// -----

func.func @two_orders() {
  // expected-error @+1 {{'order' stands twice}}
  tile.grid (%i: b0=16) in (64) plan {order [i] order [i]} {
  }
  func.return
}

// -----

func.func @parallel_and_ordered() {
  // expected-error @+1 {{an axis is either parallel or ordered}}
  tile.grid (%i: b0=16) in (64) plan {order [i] parallel [i] ordered [i]} {
  }
  func.return
}

// -----

func.func @parallel_elsewhere() {
  // expected-error @+1 {{'j' is not in the order [i]}}
  tile.grid (%i: b0=16, %j: b1=16) in (64, 64) plan {order [i] parallel [j]} {
  }
  func.return
}

// -----

func.func @axis(%x: memref<64xf32>) {
  // expected-error @+1 {{no range of the grid is named 'k'; there are i (b0), j (b1), w}}
  tile.grid (%i: b0=16) in (64) plan {order [i] walk(dim 0 of %x: w=8, online) @x = %x window(i, k)} {
    tile.for %j: b1=16 in (0, 64) {
    }
  }
  func.return
}

// -----

func.func @missing_axis() {
  // expected-error @+1 {{plan: the order [b0] lacks the grid's axis 'b1'}}
  tile.grid (%i: b0=16, %j: b1=16) in (64, 64) plan {order [i]} {
  }
  func.return
}

// -----

func.func @axis_twice() {
  // expected-error @+1 {{the axis 'b0' stands twice in the order}}
  tile.grid (%i: b0=16) in (64) plan {order [i, b0]} {
  }
  func.return
}

// -----

func.func @undefined() {
  // expected-error @+1 {{%x is not defined}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i)} {
  }
  func.return
}

// -----

func.func @undefined_name() {
  // expected-error @+1 {{%x is not defined}}
  tile.grid (%i: b0=16) in (64) plan {order [i] assume [x in 0 to 4]} {
  }
  func.return
}

// -----

func.func @no_array(%n: index) {
  // expected-error @+1 {{a plan is of arrays, found index}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @n = %n smem} {
  }
  func.return
}

// -----

func.func @two_buffers(%x: memref<64xf32>) {
  // expected-error @+1 {{two buffers are named @x}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) @x = %x resident} {
  }
  func.return
}

// -----

func.func @link(%x: memref<64x64xf32>) {
  // expected-error @+1 {{@x: 'address @n' names no other buffer of the plan}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x rows address @n} {
  }
  func.return
}

// -----

func.func @link_to_itself(%x: memref<64x64xf32>) {
  // expected-error @+1 {{@x: 'from @x' names no other buffer of the plan}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x pick from @x} {
  }
  func.return
}

// -----

func.func @families(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{'@y = %y pointer' is of gpu alone, and '@x = %x window(i)' is not}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) @y = %y pointer} {
  }
  func.return
}

// -----

func.func @nothing_assumed(%x: memref<64xi32>) {
  // expected-error @+1 {{no number of %x is from 4 to below 4}}
  tile.grid (%i: b0=16) in (64) plan {order [i] assume [%x in 4 to 4]} {
  }
  func.return
}

// -----

func.func @walked_dimension(%x: memref<64xi32>) {
  // expected-error @+1 {{plan: memref<64xi32> has no dimension 1 to walk}}
  tile.grid (%i: b0=16) in (64) plan {order [i] walk(dim 1 of %x: b1=8, online)} {
  }
  func.return
}

// -----

func.func @walked_tag(%x: memref<64xi32>) {
  // expected-error @+1 {{the walk 'b0' has the tag of a range of the grid}}
  tile.grid (%i: b0=16) in (64) plan {order [b0] walk(dim 0 of %x: b0=8, online)} {
  }
  func.return
}

// -----

func.func @view(%x: memref<64xi32>) {
  // expected-error @+1 {{unknown view: 'transpose'; there are permute, pad, slice, cast, fill}}
  tile.grid (%i: b0=16) in (64) plan {order [i] views [%x transpose]} {
  }
  func.return
}

// -----

func.func @way_to_walk(%x: memref<64xi32>) {
  // expected-error @+1 {{unknown way to walk: 'twice'; there are online, passes}}
  tile.grid (%i: b0=16) in (64) plan {order [i] walk(dim 0 of %x: b1=8, twice)} {
  }
  func.return
}

// -----

func.func @via_in_plan(%x: memref<64xi32>) {
  // expected-error @+1 {{in a grid, each access names its buffer itself: tile.load … via @x}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i) via [%x = @x]} {
  }
  func.return
}

// -----

func.func @unserved(%x: memref<64xf32>) {
  // expected-error @+1 {{plan: @x serves no access of %x: none has 'via @x'}}
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i)} {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}

// -----

func.func @no_plan(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    // expected-error @+1 {{'via @x' names a buffer of a plan, and no grid around tile.load has one}}
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}

// -----

func.func @no_buffer(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i)} {
    // expected-error @+1 {{'via @y' names no buffer of the plan; there are @x}}
    %v = tile.load %x[%i] via @y : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}

// -----

func.func @other_array(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window(i)} {
    // expected-error @+1 {{@x is a buffer of %x, and tile.load is of %y}}
    %v = tile.load %y[%i] via @x : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}

// -----

func.func @only_reads(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x smem} {
    %v = tile.full 0.0 : !tile.tile<b0=16 x f32>
    // expected-error @+1 {{@x is a buffer of kind 'smem', which only reads: not for tile.store}}
    tile.store %v, %x[%i] via @x : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}

// -----

func.func @only_writes(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x accumulate over(i)} {
    // expected-error @+1 {{@x is a buffer of kind 'accumulate', which only writes: not for tile.load}}
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}

// -----

func.func @schedule() {
  tile.grid (%i: b0=16) in (64) {
    // expected-error @+1 {{unknown schedule of loops: 'fast'; there are grid, resident, prefetch, emit_pipeline, walk}}
    tile.for %k: b1=8 in (0, 64) schedule fast {
    }
  }
  func.return
}

// -----

func.func @peel() {
  tile.grid (%i: b0=16) in (64) {
    // expected-error @+1 {{'resident peel(full | full)' peels no two different parts}}
    tile.for %k: b1=8 in (0, 64) schedule resident peel(full | full) {
    }
  }
  func.return
}

// -----

func.func @part() {
  tile.grid (%i: b0=16) in (64) {
    // expected-error @+1 {{unknown part of a loop: 'half'; there are full, diagonal, ragged}}
    tile.for %k: b1=8 in (0, 64) schedule resident peel(full | half) {
    }
  }
  func.return
}

// -----

func.func @unroll() {
  tile.grid (%i: b0=16) in (64) {
    // expected-error @+1 {{expected a positive number: unroll n}}
    tile.for %k: b1=8 in (0, 64) schedule resident unroll 0 {
    }
  }
  func.return
}

// -----

func.func @two_schedules() {
  // expected-error @+1 {{a loop has two schedules: one in the plan, one of its own}}
  tile.grid (%i: b0=16) in (64) plan {order [i] loop k grid} {
    tile.for %k: b1=8 in (0, 64) schedule resident {
    }
  }
  func.return
}

// -----

func.func @schedule_in_plan() {
  // expected-error @+1 {{plan: the schedule of 'b1' stands at its loop}}
  "tile.grid"() <{lower = array<i64: 0>, operandSegmentSizes = array<i32: 0, 0>, upper = array<i64: 64>, plan = #tile.plan<order [b0] loop b1 grid>}> ({
  ^bb0(%i: !tile.range<b0=16>):
    tile.for %k: b1=8 in (0, 64) {
    }
    tile.yield
  }) : () -> ()
  func.return
}

// -----

func.func @operand_by_number(%x: memref<64xf32>) {
  // expected-error @+1 {{plan: names operand %1 of 1}}
  "tile.grid"(%x) <{lower = array<i64: 0>, operandSegmentSizes = array<i32: 0, 1>, upper = array<i64: 64>, plan = #tile.plan<order [b0] @x = %1 window(b0)>}> ({
  ^bb0(%i: !tile.range<b0=16>):
    tile.yield
  }) : (memref<64xf32>) -> ()
  func.return
}

// -----

func.func @operand_without_plan(%x: memref<64xf32>) {
  // expected-error @+1 {{tile.grid has planned arrays, and no plan}}
  "tile.grid"(%x) <{lower = array<i64: 0>, operandSegmentSizes = array<i32: 0, 1>, upper = array<i64: 64>}> ({
  ^bb0(%i: !tile.range<b0=16>):
    tile.yield
  }) : (memref<64xf32>) -> ()
  func.return
}

// -----

// expected-error @+1 {{the axis 'b0' stands twice in the order}}
func.func @plan_by_itself() attributes {p = #tile.plan<order [b0, b0]>} {
  func.return
}

// -----

// expected-error @+1 {{'grid peel(full)' peels no two different parts}}
func.func @schedule_by_itself() attributes {p = #tile.schedule<grid peel(full)>} {
  func.return
}
