func.func @no_multiple_of_extents() {
  %m = tile.extent "x.size(0)" multiple 3
  func.return
}
