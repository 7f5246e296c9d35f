"""The runs of a page: requests, progress, estimates of time, and tables along epsilon."""
