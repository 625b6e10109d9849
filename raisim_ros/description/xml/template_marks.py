"""What gives a text a meaning in the template language."""

THIS_DIR = "[THIS_DIR]"
MARKS = ("@@", "{", "}", THIS_DIR)
