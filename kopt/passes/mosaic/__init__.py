"""What the pass ``expand-for-mosaic`` is made of: one file a family of ops."""
