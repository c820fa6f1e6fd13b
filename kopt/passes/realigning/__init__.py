"""What the pass ``realign-stores`` is made of: merging a block into the aligned one around it."""
