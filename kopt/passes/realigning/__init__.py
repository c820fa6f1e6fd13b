"""What the passes for blocks that begin anywhere are made of: aligned blocks to cut them out of, or to merge them into."""
