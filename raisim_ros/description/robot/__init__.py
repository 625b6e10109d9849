"""Robots as plain data: links and joints, and the tree of bodies that the engine takes."""
