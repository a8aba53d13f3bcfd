"""The offline preview: what a stack would make, compared with another revision, without engine or credentials."""
