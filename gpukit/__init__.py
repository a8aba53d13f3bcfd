"""Infrastructure as code for GPU clusters: decide, check, show and build."""

__version__ = "0.1.0"
