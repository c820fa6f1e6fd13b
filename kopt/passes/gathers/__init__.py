"""What `normalise-accesses` and `realise-values` do to loads: normal forms, and a way for each kind."""
