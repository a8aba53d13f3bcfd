"""`gpukit report`: the pull-request comment from the engine's own preview, with gates; `report post` keeps it up."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    import datetime

    from gpukit.report.change import Numbers
    from gpukit.report.code_hosts import GitHub, GitLab
    from gpukit.report.pipeline import Report, ReportFormat

EXIT_BAD_INPUT = 2
EXIT_NO_SERVICE = 3
EXIT_REFUSED = 4

app = typer.Typer(
    name="report",
    help="Say what a change would do, from the engine's own preview, and refuse it where a gate says so.",
    invoke_without_command=True,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def report(
    context: typer.Context,
    sources: Annotated[
        list[Path] | None,
        typer.Option("--from", help="What `pulumi preview --json` wrote, or its events; repeat for several stacks."),
    ] = None,
    stacks: Annotated[
        list[str] | None,
        typer.Option("--stack", help="Name of the stack of each --from; without it, the name in the preview."),
    ] = None,
    stack_files: Annotated[
        list[Path] | None,
        typer.Option("--stack-file", help="Stack file of each --from: gives the numbers after, findings and budget."),
    ] = None,
    plan_before: Annotated[
        Path | None, typer.Option(help="`gpukit plan --json` of the base, where the state carries no totals.")
    ] = None,
    plan_after: Annotated[Path | None, typer.Option(help="`gpukit plan --json` of the change.")] = None,
    findings: Annotated[Path | None, typer.Option(help="`gpukit check --json` of the change.")] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            help="Gates: replace,delete,danger,unknown,cost>N,cost-month>N,cost-delta>N,gpus>N,finding:GK1234."
        ),
    ] = "",
    base: Annotated[
        str | None, typer.Option(help="Git revision that the allow list, its owners and the numbers before come from.")
    ] = None,
    allow_file: Annotated[str, typer.Option(help="Path of the allow list in the repository.")] = ".gpukit/allow.yaml",
    form: Annotated[str, typer.Option("--format", help="markdown, text, json or summary.")] = "markdown",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here and not to stdout.")] = None,
    limit: Annotated[int, typer.Option(help="Most characters of a comment.", min=2_000)] = 60_000,
    today: Annotated[str | None, typer.Option(help="Day for the allow list's dates, YYYY-MM-DD.")] = None,
) -> None:
    """
    Write the report of one or several stacks.

    Exit codes: 0 fine, 2 unreadable input or bad usage, 4 a gate refused; then the reason is the first line.
    """
    if context.invoked_subcommand is not None:
        return
    if not sources:
        _stop("--from is missing: name what `pulumi preview --json` wrote")
    from gpukit.preview.gate_files import broken_limits, load_allow_list
    from gpukit.preview.revision import RevisionError
    from gpukit.projects.manifest import TemplateError
    from gpukit.report.change import UnreadablePreview
    from gpukit.report.findings_json import parse_findings
    from gpukit.report.gates import BadGate, parse_gates
    from gpukit.report.numbers import parse_plan_numbers
    from gpukit.report.pipeline import ReportFormat, complete_change, judge_change, parse_preview

    names, files = stacks or [], stack_files or []
    for option, given in (("--stack", names), ("--stack-file", files)):
        if given and len(given) != len(sources):
            _stop(f"{option} is given {len(given)} times, --from {len(sources)} times; give one for each, or none")
    if (plan_before or plan_after or findings) and len(sources) > 1:
        _stop("--plan-before, --plan-after and --findings go with one --from; use --stack-file for several")
    for file in files:
        if not file.is_file():
            problem = "is a folder" if file.is_dir() else "there is no such file"
            _stop(f"--stack-file {file}: {problem}{_near_stack_file(file)}")
    day = _day(today)
    try:
        chosen = ReportFormat.JSON if as_json else ReportFormat(form)
    except ValueError:
        _stop(f"--format {form}: there are {', '.join(ReportFormat)}")
    reports = []
    try:
        gates = parse_gates(fail_on)
        for index, source in enumerate(sources):
            change = parse_preview(
                _read(source), stack=names[index] if names else "", where="stdin" if str(source) == "-" else str(source)
            )
            before = parse_plan_numbers(_read(plan_before), where=str(plan_before)) if plan_before else None
            after = parse_plan_numbers(_read(plan_after), where=str(plan_after)) if plan_after else None
            told = parse_findings(_read(findings), where=str(findings)) if findings else ()
            own_gates = gates
            over: tuple[str, ...] = ()
            if files:
                from gpukit.report.stack_numbers import numbers_of_file

                known = numbers_of_file(files[index], today=day)
                after, told = after or known.numbers, (*told, *known.findings)
                own_gates = (*gates, *known.gates)
                before = before or _numbers_at(files[index], base, day)
                over = broken_limits(files[index].resolve().parent, base=base, known=known)
            change = complete_change(change, before=before, after=after, findings=told)
            allowed = load_allow_list(Path.cwd(), base=base, stack=change.stack, today=day, path=allow_file)
            reports.append(
                judge_change(change, gates=own_gates, allowed=allowed, gpu_types=_gpu_types(), over_limits=over)
            )
    except (UnreadablePreview, BadGate, TemplateError, RevisionError) as error:
        _stop(str(error))
    _write(_render(reports, chosen, limit), output)
    refused = [one for one in reports if one.refused]
    if refused:
        for one in refused:
            assert one.gate is not None
            typer.echo(f"refused on {one.change.stack}: {one.gate.reason}", err=True)
        raise typer.Exit(EXIT_REFUSED)


@app.command()
def post(
    section: Annotated[Path, typer.Argument(help="What `gpukit report` wrote for one stack (markdown); - for stdin.")],
    stack: Annotated[
        str | None, typer.Option(help="The stack whose section this is; not needed for a report of several stacks.")
    ] = None,
    github: Annotated[str | None, typer.Option(help="OWNER/NAME; in GitHub Actions taken from the job.")] = None,
    gitlab: Annotated[str | None, typer.Option(help="Project number or path; in GitLab CI taken from the job.")] = None,
    number: Annotated[int | None, typer.Option(help="Number of the pull or merge request.")] = None,
    api: Annotated[str | None, typer.Option(help="Address of the API, for a server of one's own.")] = None,
    login: Annotated[
        str | None, typer.Option(help="Login that writes the comment on GitHub, where the token may not ask.")
    ] = None,
    part: Annotated[str, typer.Option(help="Keeps several comments apart, where one repository needs them.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Say what happened as JSON.")] = False,
) -> None:
    """
    Create or update the one comment on a pull or merge request.

    The token comes from the environment: GITHUB_TOKEN or GITLAB_TOKEN. Exit codes: 0 done, 2 bad usage, 3 the code
    host refused or did not answer.
    """
    from gpukit.report.code_hosts import CodeHostError
    from gpukit.report.comment import sections_in
    from gpukit.report.post import post_section

    try:
        host = _code_host(github=github, gitlab=gitlab, number=number, api=api, login=login)
        text = _read(section)
        # A comment of several stacks carries its sections already; each goes to its own place.
        for name, body in (sections_in(text) or {stack or "": text}).items():
            if not name:
                _stop("--stack is missing: it says whose section this is")
            result = post_section(host, name, body, part=part)
    except CodeHostError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(EXIT_NO_SERVICE) from None
    if as_json:
        import json

        typer.echo(
            json.dumps(
                {
                    "action": result.action.value,
                    "comment": result.comment_id,
                    "doubles_removed": result.doubles_removed,
                }
            )
        )
    else:
        typer.echo(f"comment {result.comment_id} {result.action.value}", err=True)


def _render(reports: "list[Report]", form: "ReportFormat", limit: int) -> str:
    from gpukit.report.comment import build_comment
    from gpukit.report.pipeline import ReportFormat, render_report, report_documents

    if len(reports) == 1:
        return render_report(reports[0], form, limit=limit)
    if form is ReportFormat.JSON:
        import json

        return json.dumps(report_documents(reports), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if form is ReportFormat.TEXT:
        return "\n".join(render_report(one, form) for one in reports)
    room = limit if form is ReportFormat.MARKDOWN else 900_000
    share = max((room - 500) // len(reports) - 200, 2_000)
    sections = {
        one.change.stack or str(index): render_report(one, form, limit=share) for index, one in enumerate(reports)
    }
    return build_comment(sections, limit=room)


def _numbers_at(file: Path, base: str | None, day: "datetime.date") -> "Numbers | None":
    if base is None:
        return None
    from gpukit.preview.revision import RevisionError, read_at, repository_of
    from gpukit.report.stack_numbers import numbers_of_text

    try:
        top = repository_of(file.resolve().parent)
        text = read_at(top, base, file.resolve().relative_to(top).as_posix())
    except (RevisionError, ValueError) as error:
        typer.echo(f"note: no numbers of the base: {error}", err=True)
        return None
    if text is None:
        return None
    return numbers_of_text(text, file=str(file), folder=file.parent, today=day).numbers


def _near_stack_file(file: Path) -> str:
    """Return a hint where the stack file lies in `stacks/`, as Pulumi.yaml's `stackConfigDir` may say."""
    near = file.parent / "stacks" / file.name
    return f"; did you mean {near}" if near.is_file() else ""


def _gpu_types() -> frozenset[str]:
    """Return the catalogue's instance types with GPUs; without the catalogue other marks have to do."""
    from gpukit.catalog import load_catalog

    return frozenset(row.name for row in load_catalog().instance_types() if row.gpu_count)


def _code_host(
    *, github: str | None, gitlab: str | None, number: int | None, api: str | None, login: str | None
) -> "GitHub | GitLab":
    from gpukit.report.code_hosts import GitHub, GitLab

    env = os.environ
    if gitlab is None and github is None:
        github, gitlab = env.get("GITHUB_REPOSITORY"), env.get("CI_PROJECT_ID")
    if github is not None and gitlab is not None:
        _stop("name either --github or --gitlab")
    if github is not None:
        number = number or _number_from_ref(env.get("GITHUB_REF", ""))
        token = env.get("GITHUB_TOKEN") or env.get("GH_TOKEN")
        if not token or number is None:
            _stop("--number and the variable GITHUB_TOKEN are needed; a workflow gives both for a pull request")
        return GitHub(
            repository=github,
            number=number,
            token=token,
            api=api or env.get("GITHUB_API_URL") or "https://api.github.com",
            login=login,
        )
    if gitlab is None:
        _stop("neither --github nor --gitlab is given, and this is no job of either")
    iid = env.get("CI_MERGE_REQUEST_IID", "")
    number = number or (int(iid) if iid.isdigit() else None)
    token = env.get("GITLAB_TOKEN")
    if not token or number is None:
        _stop("--number and the variable GITLAB_TOKEN (scope `api`) are needed; CI_JOB_TOKEN may not write notes")
    return GitLab(
        project=gitlab,
        number=number,
        token=token,
        api=api or env.get("CI_API_V4_URL") or "https://gitlab.com/api/v4",
    )


def _number_from_ref(ref: str) -> int | None:
    """Return the number in `refs/pull/17/merge`, as GitHub Actions names it."""
    parts = ref.split("/")
    return int(parts[2]) if len(parts) >= 3 and parts[1] == "pull" and parts[2].isdigit() else None


def _read(file: Path) -> str:
    try:
        if str(file) == "-":
            return sys.stdin.read()
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        _stop(f"{file} cannot be read: {error.strerror or error}")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        _stop(f"{output} cannot be written: {error.strerror or error}")


def _day(text: str | None) -> "datetime.date":
    import datetime

    if text is None:
        return datetime.date.today()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        _stop(f"--today {text}: no day like 2026-12-31")


def _stop(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(EXIT_BAD_INPUT)
