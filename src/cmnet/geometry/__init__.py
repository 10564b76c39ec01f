"""Pure functions on arrays and tensors. Imports nothing of ours."""
