"""Ask the real account, read-only, whether a plan can be built."""
