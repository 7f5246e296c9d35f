"""Widgets with values that the session and the address hold."""
