"""Ops that a GPU has a fast form of, a few ulp of f32 off."""

#: Says of an elementwise op on f32 that no one sees such an error in its result.
APPROXIMATE = "triton.approximate"
#: The names of the ops that may have it.
APPROXIMATE_FUNCTIONS = ("div", "log1p", "pow", "reciprocal", "sigmoid", "tan", "tanh")
