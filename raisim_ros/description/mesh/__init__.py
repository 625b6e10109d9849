"""Mesh files: read, written, taken apart into convex pieces."""
