"""How `symm` collectives become kernels whose ranks copy to each other's memory."""
