"""Handles of objects and wires, and their contacts."""
