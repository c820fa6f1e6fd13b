"""What ``order-grid`` does to one launch: permute its grid, make its cells take turns, split it."""
