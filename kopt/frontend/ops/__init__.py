"""torch's operations on device values, a family a file, each with its `TABLE` by torch's names."""
