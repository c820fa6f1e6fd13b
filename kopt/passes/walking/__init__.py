"""What ``walk-dims`` is made of: loops over a dimension, and what they accumulate."""
