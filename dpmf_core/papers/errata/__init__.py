"""What does not hold in the sources: each erratum with both computations."""
