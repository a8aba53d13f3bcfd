"""`gpukit drill`: a whole preset, from nothing, in the sandbox: real engine, real Kubernetes, a job over every GPU, and nothing left at the end."""
