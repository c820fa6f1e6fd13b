"""Every elementwise function at special values: zeros of both signs, infinities, NaN, extremes, halves."""
