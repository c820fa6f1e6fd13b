// RUN: kopt %s | kopt | filecheck %s

// CHECK: attributes {tile.open = [#tile.open<b0>, #tile.open<b1, b3 : least 16 most 4096 observed sized>, #tile.open<b2 : wanted 64 pinned>]}
func.func @f() attributes {tile.open = [#tile.open<b0>,
    #tile.open<b1, b3 : observed least 16 sized most 4096>, #tile.open<b2 : pinned wanted 64>]} {
  func.return
}
