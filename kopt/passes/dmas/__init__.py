"""Copies between arrays in HBM and buffers of scratch memory, as ops: what ``realise-dmas`` writes."""
