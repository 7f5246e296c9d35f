"""What pages share; no page itself."""
