"""What the passes for blocks that begin anywhere are made of: cutting from aligned blocks, merging into those."""
