"""Two parts: where they may belong together, how exactly, and how sure that is."""
