"""Search over parameters, and the cost of choosing."""
