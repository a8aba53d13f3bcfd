"""`python -m gpukit`: the same as the command `gpukit`."""

from gpukit.cli import main

if __name__ == "__main__":
    main()
