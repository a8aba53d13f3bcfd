"""What a change would do, in the terms people decide by: one model, three readers, four renderers, gates."""
