"""Topics and services of wires."""
