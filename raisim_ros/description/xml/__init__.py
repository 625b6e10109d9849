"""XML with the template language."""
