"""What differential privacy costs a matrix factorisation, exactly accounted."""
