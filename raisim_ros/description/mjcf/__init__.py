"""MuJoCo's model files (MJCF): compiled by MuJoCo itself, mapped to the descriptions of this package."""
