"""Images and node start: which software a node runs, why, and the text that starts it."""
