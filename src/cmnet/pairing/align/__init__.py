"""Point-to-plane ICP: of a pair, of many poses at once, of a whole group."""
