"""Which points say the same: similarity, linkage, evidence."""
