"""A viewer for browsers: one scene, fed by a World of the same process or by a running node."""
