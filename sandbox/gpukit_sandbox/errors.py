"""What goes wrong around the sandbox, in words for people; the exit code says the kind."""


class SandboxError(Exception):
    """A part of the sandbox does not do its work. Exit code 3."""

    exit_code = 3

    def __init__(self, problem: str, *, why: str = "", fix: str = "") -> None:
        """Keep the sentence, its reason and its remedy apart so that every renderer shows all three."""
        super().__init__(problem)
        self.problem = problem
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        """Return the three lines that people read."""
        lines = [self.problem]
        if self.why:
            lines.append(f"  why:  {self.why}")
        if self.fix:
            lines.append(f"  fix:  {self.fix}")
        return "\n".join(lines)


class MissingTool(SandboxError):
    """A tool is neither on PATH nor in the cache and cannot be built here."""


class PartFailed(SandboxError):
    """A process of the sandbox did not become ready or ended by itself; the message holds the end of its log."""


class UnknownName(SandboxError):
    """A tool, a sandbox or a fault of that name does not exist. Exit code 2."""

    exit_code = 2
