"""What `normalise-accesses` and `realise-values` do to updates: arrays as rows, and what each kind of buffer becomes."""
