"""Every shell step of the GitHub workflow runs as it stands, against the sandbox's cloud and a fake code host."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from gpukit.cli.new import app
from tests.new.fake_code_host import TOKEN, FakeHost

pytestmark = [pytest.mark.engine, pytest.mark.slow]


class Runner:
    """Runs the `run` steps of a job in bash, as the code host's runner would."""

    def __init__(self, project: Path, environment: dict[str, str]) -> None:
        self.project = project
        self.environment = environment
        self.jobs = yaml.safe_load((project / ".github" / "workflows" / "gpukit.yml").read_text())["jobs"]

    def run(self, job: str, **variables: str) -> tuple[int, str]:
        """Return the exit code of the first step that fails, or 0, and everything that was said."""
        summary, output = self.project / "summary-page.md", self.project / "outputs"
        summary.write_text("")
        output.write_text("")
        said = ""
        for step in self.jobs[job]["steps"]:
            if "run" not in step or step["name"] == "Install":
                continue
            outputs = dict(line.split("=", 1) for line in output.read_text().splitlines() if "=" in line)
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=self.project,
                env={
                    **self.environment, "GATES": "replace,delete,finding:error", "STATUS": outputs.get("status", ""),
                    "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), **variables,
                },
                capture_output=True, text=True, check=False, timeout=600,
            )  # fmt: skip
            said += f"== {step['name']} -> {done.returncode}\n{done.stdout}{done.stderr}"
            if done.returncode != 0:
                return done.returncode, said
        return 0, said

    @property
    def summary(self) -> str:
        return (self.project / "summary-page.md").read_text()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory) -> Iterator[dict[str, str]]:
    from gpukit_sandbox.sandbox import Sandbox

    box = Sandbox(f"ci-{os.getpid()}")
    box.up()
    yield box.environment()
    box.down(purge=True)


def test_the_workflow_runs_from_pull_request_to_destroy(tmp_path: Path, sandbox: dict[str, str]) -> None:
    project = tmp_path / "demo"
    made = CliRunner().invoke(app, [str(project), "--template", "gpu-single-node", "--ci", "github"])
    assert made.exit_code == 0, made.output
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-qm", "base")
    fake = FakeHost()
    environment = {
        **sandbox, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{sandbox['PATH']}", "BASE": "main", "STACK": "dev",
        "GITHUB_TOKEN": TOKEN, "GITHUB_REPOSITORY": "org/repo", "GITHUB_REF": "refs/pull/3/merge", "GITHUB_API_URL": fake.url,
    }  # fmt: skip
    runner = Runner(project, environment)
    subprocess.run(["pulumi", "stack", "init", "dev"], cwd=project, env=environment, check=True, capture_output=True)
    # The engine writes the salt of the stack into its file.
    git(project, "commit", "-qam", "salt")
    try:
        # A first pull request: everything is created.
        code, said = runner.run("offline")
        assert code == 0, said
        assert runner.summary.startswith("**No changes** on `dev`")
        code, said = runner.run("preview")
        assert code == 0, said
        assert "**Changes** on `dev`" in fake.comments[0]["body"]

        # Merged: it is built, and the next preview updates the same comment.
        code, said = runner.run("deploy")
        assert code == 0, said
        code, said = runner.run("preview")
        assert code == 0, said
        assert len(fake.comments) == 1
        assert "**No changes** on `dev`" in fake.comments[0]["body"]
        code, said = runner.run("drift")
        assert code == 0, said

        # A change that replaces the network is refused by both previews, and the comment says so.
        stack = project / "Pulumi.dev.yaml"
        network = "    environment: dev\n    network: {cidr: 10.200.0.0/16}\n"
        stack.write_text(stack.read_text().replace("    environment: dev\n", network))
        code, said = runner.run("offline")
        assert code == 4, said
        assert runner.summary.startswith("**Refused** on `dev`: gate replace")
        code, said = runner.run("preview")
        assert code == 4, said
        assert "**Refused** on `dev`: gate replace" in fake.comments[0]["body"]
        git(project, "checkout", "-q", "Pulumi.dev.yaml")

        # The end: a stack that is there goes, one that is not there is no mistake.
        code, said = runner.run("destroy-ephemeral", STACK="pr-17")
        assert code == 0, said
        assert "nothing to destroy" in said
    finally:
        subprocess.run(
            ["pulumi", "destroy", "--yes", "--skip-preview", "--stack", "dev"], cwd=project, env=environment,
            capture_output=True, check=False,
        )  # fmt: skip
        fake.close()
