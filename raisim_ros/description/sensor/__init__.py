"""Sensor files: read and written."""
