"""Training on Lightning (extra: train)."""
