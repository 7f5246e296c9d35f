"""The source papers' figures, tables and claims."""
