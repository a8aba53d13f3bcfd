"""The Pulumi components of gpukit."""
