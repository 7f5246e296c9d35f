"""What every package may use: errors, paths, registries, texts of figures, documents."""
