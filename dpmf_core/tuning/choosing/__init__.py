"""Which private method, at which epsilon, for data of one's own."""
