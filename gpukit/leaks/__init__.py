"""What of a stack still exists after a destroy, and costs money."""
