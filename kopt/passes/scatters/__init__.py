"""What `normalise-accesses` and `realise-values` do to updates: arrays as rows, and a way for each kind."""
