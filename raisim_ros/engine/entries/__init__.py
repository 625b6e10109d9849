"""From entries of a world description to objects in a world, and back."""
