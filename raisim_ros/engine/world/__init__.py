"""The World and its parts."""
