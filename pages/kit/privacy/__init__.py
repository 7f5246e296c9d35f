"""What a release promises and costs: privacy cards, observers, accounts and purchases."""
