"""How good a fitted model is. Computed on raw data, never released."""
