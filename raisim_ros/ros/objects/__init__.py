"""Topics, frames and commands of objects."""
