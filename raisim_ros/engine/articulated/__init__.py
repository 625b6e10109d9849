"""Handles of articulated systems."""
