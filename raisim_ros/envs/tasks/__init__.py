"""The registered tasks."""
