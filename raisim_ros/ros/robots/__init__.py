"""Topics and commands of robots."""
