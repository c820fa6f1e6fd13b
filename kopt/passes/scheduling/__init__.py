"""What ``apply-schedule`` does to loops: a dimension of the grid, or one that carries in scratch memory."""
