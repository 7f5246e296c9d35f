"""Search over parameters, and what choosing costs."""
