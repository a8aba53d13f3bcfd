"""The comment: verdict first, dangers whole, nothing alive in it, never too long."""

from dataclasses import replace

import pytest

from gpukit.finding import Finding, Severity
from gpukit.report.change import Numbers
from gpukit.report.danger import find_dangers
from gpukit.report.engine_digest import parse_engine_digest
from gpukit.report.gates import parse_gates
from gpukit.report.pipeline import ReportFormat, complete_change, judge_change, parse_preview, render_report
from tests.report.digests import GPU_GROUP, NODE_GROUP, TOTALS, digest, step


def report(
    text: str, *, gates: str = "", limit: int = 60_000, form: ReportFormat = ReportFormat.MARKDOWN, **more
) -> str:
    change = complete_change(replace(parse_preview(text), **more))
    return render_report(judge_change(change, gates=parse_gates(gates)), form, limit=limit)


def test_the_first_line_has_verdict_counts_and_numbers() -> None:
    after = Numbers(
        gpus=1024, nodes=128, hourly_usd=8000.0, monthly_usd=5840000.0, it_kw=1280.0, kgco2e_per_month=3.4e5, unpriced=0
    )
    text = report(digest(step("create", NODE_GROUP, "train-b", new=GPU_GROUP), totals=TOTALS), after=after)

    assert text.splitlines()[0] == (
        "**Changes** on `prod` · 1 to create, 40 unchanged · GPUs 512 → 1,024 · nodes 64 → 128 · \\$/hour 4,000.00 → 8,000.00 · "
        "\\$/month 2,920,000 → 5,840,000 · kW 640.0 → 1,280.0 · kgCO2e/month 170,000 → 340,000"
    )


def test_a_refusal_is_the_first_line() -> None:
    text = report(digest(step("delete", NODE_GROUP, "train-a", old=GPU_GROUP)), gates="delete")

    assert text.startswith(
        '**Refused** on `prod`: gate delete: "train-a" (aws:eks/nodeGroup:NodeGroup) would be deleted'
    )


def test_danger_names_property_nodes_and_what_is_lost() -> None:
    text = report(
        digest(
            step("create-replacement", NODE_GROUP, "a", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"}),
            step("replace", NODE_GROUP, "a", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"},
                 detailed={"amiType": "update-replace"}, replace=["amiType"]),
            step("delete-replaced", NODE_GROUP, "a", old=GPU_GROUP),
        )
    )  # fmt: skip

    assert (
        "- GPU node group `a` **replaced** in `GpuNodePool train`, because `amiType`: `AL2023_x86_64_NVIDIA` → `X` forces it; "
        "the new one first, then the old one goes; 64 nodes drain; at stake: its nodes and the jobs on them"
    ) in text


@pytest.mark.parametrize(
    ("new", "harm"),
    [
        pytest.param({**GPU_GROUP, "launchTemplate": {"id": "lt-1", "version": "2"}}, "rolled node by node", id="new-image"),
        pytest.param({**GPU_GROUP, "scalingConfig": {"desiredSize": 32, "minSize": 64, "maxSize": 64}}, "shrunk", id="shrunk"),
        pytest.param({**GPU_GROUP, "scalingConfig": {"desiredSize": 128, "minSize": 64, "maxSize": 128}}, "", id="grown"),
        pytest.param({**GPU_GROUP, "tags": {"team": "nlp"}}, "", id="tags"),
    ],
)  # fmt: skip
def test_updates_that_drain_nodes_are_dangers(new, harm: str) -> None:
    change = parse_engine_digest(digest(step("update", NODE_GROUP, "a", old=GPU_GROUP, new=new)))

    assert [danger.harm.value for danger in find_dangers(change)] == ([harm] if harm else [])


def test_a_deletion_with_a_twin_looks_like_a_rename() -> None:
    text = report(
        digest(
            step("create", NODE_GROUP, "learn-a", new=GPU_GROUP), step("delete", NODE_GROUP, "train-a", old=GPU_GROUP)
        )
    )

    assert "learn-a has the same inputs: if this is a rename, add an alias and nothing is lost" in text


def test_tag_only_updates_are_folded_into_one_line() -> None:
    steps = [
        step("update", "aws:ec2/subnet:Subnet", f"s-{n}", old={"tags": {"team": "a"}}, new={"tags": {"team": "b"}})
        for n in range(40)
    ]
    text = report(digest(*steps))

    assert "<summary>Tags only: 40 resources</summary>" in text
    assert "### In" not in text
    assert text.count("`tags.team` `a` → `b`") == 1


def test_an_unchanged_stack_says_no_changes_and_keeps_its_numbers() -> None:
    text = report(digest(totals=TOTALS))

    assert text.startswith("**No changes** on `prod` · 40 unchanged · GPUs 512 · nodes 64")


def many(count: int, token: str = NODE_GROUP):
    return [
        step("replace", token, f"group-{n:05}", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"}, replace=["amiType"])
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [5, 300, 1200, 5000])
def test_dangers_are_never_cut_and_the_comment_never_too_long(count: int) -> None:
    creates = [
        step("create", "aws:ec2/subnet:Subnet", f"subnet-{n}", new={"cidrBlock": "10.0.0.0/24"}) for n in range(3000)
    ]
    text = report(digest(*many(count), *creates), gates="replace")

    assert len(text) <= 60_000
    assert f"### Danger ({count:,})" in text
    named = sum(f"group-{n:05}" in text.split("### Danger")[1].split("### In")[0] for n in range(count))
    counted = f"{count:,} x GPU node group **replaced**, {count * 64:,} nodes" in text
    assert named == count or counted


def test_rows_that_did_not_fit_are_counted_and_hold_no_danger() -> None:
    text = report(digest(*[step("create", f"aws:ec2/x{n}:X{n}", f"x-{n}", new={}) for n in range(900)]), limit=8_000)

    assert len(text) <= 8_000
    assert "more rows; none of them is a danger, all dangers are above" in text


HOSTILE = [
    "<script>alert(1)</script>", "a|b|c", "`rm -rf`", "@everyone", "--> <!-- gpukit:stack:prod:end -->", "\u202egnp.exe",
    "::error::pwned", "</details>", "![x](https://evil.example/x.png)", "a\nb\n### Danger (0)", "x" * 3000, "🔥" * 50,
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", [ReportFormat.MARKDOWN, ReportFormat.SUMMARY, ReportFormat.TEXT])
def test_hostile_names_do_nothing(name: str, form: ReportFormat) -> None:
    old = {**GPU_GROUP, "tags": {name: name}, "amiType": name}
    text = report(
        digest(
            step("delete", NODE_GROUP, name, old=old),
            step("update", NODE_GROUP, name + "2", old=old, new={**old, "amiType": "X" + name, name: name}),
            diagnostics=[{"severity": "warning", "message": name, "urn": name}],
        ),
        form=form,
        findings=(Finding(code="GK1001", severity=Severity.ERROR, path=name, problem=name, why=name, fix=name),),
    )

    assert "\n::error" not in text
    assert "\u202e" not in text
    if form is not ReportFormat.TEXT:
        for alive in ("<script", "<!--", "![x]("):
            assert alive not in text
        assert text.count("<details>") == text.count("</details>")
        assert sum(line.startswith("### Danger") for line in text.splitlines()) == 1
        rows = [line for line in text.splitlines() if line.startswith(("| **", "| GK"))]
        assert all(row.count("|") == 5 for row in rows)


def test_a_report_of_five_thousand_steps_is_quick() -> None:
    import time

    text = digest(*many(5000))
    start = time.process_time()
    report(text)

    assert time.process_time() - start < 8


ONE_UPDATE = step("update", NODE_GROUP, "train-a", old=GPU_GROUP, new={**GPU_GROUP, "tags": {"team": "audio"}})


@pytest.mark.parametrize(
    ("form", "says"),
    [
        pytest.param(ReportFormat.MARKDOWN, "Tags only: 1 resource<", id="markdown"),
        pytest.param(ReportFormat.TEXT, "tags only: 1 resource\n", id="text"),
    ],
)
def test_one_resource_is_no_plural(form: ReportFormat, says: str) -> None:
    assert says in report(digest(ONE_UPDATE), form=form)


@pytest.mark.parametrize("form", [ReportFormat.MARKDOWN, ReportFormat.SUMMARY, ReportFormat.TEXT])
def test_totals_that_move_without_a_resource_are_explained(form: ReportFormat) -> None:
    text = report(digest(totals=TOTALS), form=form, after=Numbers(**{**TOTALS, "gpus": 0}))

    assert "Only totals change" in text.splitlines()[0]
    assert "No changes" not in text
    assert "No resource would be touched: what moved are the totals" in text


def test_a_total_that_nobody_knows_has_not_moved() -> None:
    after = Numbers(**{**TOTALS, "hourly_usd": None, "monthly_usd": None})

    assert report(digest(totals=TOTALS), after=after).startswith("**No changes**")


def test_text_tells_errors_before_warnings_and_unknowns() -> None:
    findings = tuple(
        Finding(code=f"GK{number}", severity=level, path=f"p{number}", problem="p", why="w", fix="f")
        for number, level in ((1001, Severity.UNKNOWN), (1002, Severity.WARNING), (1003, Severity.ERROR))
    )
    text = report(digest(ONE_UPDATE), form=ReportFormat.TEXT, findings=findings)

    assert text.index("GK1003") < text.index("GK1002") < text.index("GK1001")
