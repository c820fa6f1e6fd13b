"""What `normalise-accesses` and `realise-values` do to loads: their normal form, and what each kind of buffer becomes."""
