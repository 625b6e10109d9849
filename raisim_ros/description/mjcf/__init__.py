"""MuJoCo's model files: read."""
