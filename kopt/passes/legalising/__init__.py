"""What ``legalise-element-types`` does to element types: casts on the host, f16 held in f32, integers in 32 bits."""
