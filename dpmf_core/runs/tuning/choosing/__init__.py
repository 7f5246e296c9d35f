"""Choose a private algorithm and its epsilon for your own data."""
