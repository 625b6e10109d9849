"""Many copies of one world, stepped by threads in one call."""
