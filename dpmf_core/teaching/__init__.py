"""Lessons, their mathematics, the glossary, and what the small demonstrations compute."""
