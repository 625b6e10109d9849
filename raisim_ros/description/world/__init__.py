"""World files: their elements as plain data, read and written."""
