"""Widgets whose values the session and the address hold."""
