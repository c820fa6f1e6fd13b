"""What ``materialize-accumulators`` makes of one target of atomic updates."""
