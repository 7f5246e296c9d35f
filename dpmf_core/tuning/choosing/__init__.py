"""Choose a private method and its epsilon for your own data."""
