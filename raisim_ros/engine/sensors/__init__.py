"""Sensors, and what colour cameras see."""
