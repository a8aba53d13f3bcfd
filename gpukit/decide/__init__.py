"""The decisions: each module chooses one thing and says why."""
