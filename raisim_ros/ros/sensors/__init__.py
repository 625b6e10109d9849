"""Topics and services of sensors."""
