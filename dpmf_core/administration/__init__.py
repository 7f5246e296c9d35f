"""What a server's operator sees and does."""
