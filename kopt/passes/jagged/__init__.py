"""What the passes ``raise-jagged`` and ``lower-jagged`` are made of."""
