"""The stack file: its types, its reading, its schema."""
