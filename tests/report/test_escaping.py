"""Names and messages are shown as they are and do nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.report.escaping import code, marker_word, prose, terminal, value_text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("train-a", "`train-a`", id="plain"),
        pytest.param('tags["a.b"]', '`tags["a.b"]`', id="property-path"),
        pytest.param("a|b", "<code>a&#124;b</code>", id="pipe"),
        pytest.param("a`b", "<code>a&#96;b</code>", id="backtick"),
        pytest.param("a\\|b", "<code>a&#92;&#124;b</code>", id="backslash-pipe"),
        pytest.param("<script>", "<code>&#60;script&#62;</code>", id="html"),
        pytest.param("@org/team", "<code>&#64;org/team</code>", id="mention"),
        pytest.param(":tada: ok", "`:tada: ok`", id="emoji-name-in-code"),
        pytest.param("a\nb", "`a b`", id="newline"),
        pytest.param("a\u202eb", "<code>a&#92;u202eb</code>", id="direction-mark"),
        pytest.param("\x1b[31mred", "<code>&#92;u001b&#91;31mred</code>", id="terminal-sequence"),
        pytest.param("", "<code>(empty)</code>", id="empty"),
        pytest.param("訓練-プール", "<code>訓練-プール</code>", id="other-scripts"),
    ],
)
def test_a_name_is_inline_code(name: str, shown: str) -> None:
    assert code(name) == shown


@given(st.text(max_size=120))
def test_inline_code_cannot_leave_its_cell_or_open_a_tag(name: str) -> None:
    shown = code(name)

    assert "\n" not in shown
    assert "|" not in shown
    inside = shown.removeprefix("<code>").removesuffix("</code>") if shown.startswith("<code>") else shown[1:-1]
    assert "`" not in inside
    assert "<" not in inside
    assert "&" not in inside.replace("&#", "") or not shown.startswith("<code>")


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("see @team", "@team"), ("closes #12", "#12"), ("GH-12", "GH-12"), ("!34", "!34"), (":rocket:", ":rocket:"),
        ("https://evil.example", "https://"), ("www.evil.example", "www."), ("<img src=x>", "<img"), ("a | b", "|"),
        ("**bold**", "**"), ("[x](y)", "[x]("), ("one ` mark", "`"), ("<!-- gpukit:report -->", "<!--"), ("$x^2$", "$x^2$"),
    ],
)  # fmt: skip
def test_prose_has_no_live_markup(text: str, forbidden: str) -> None:
    shown = prose(text).replace("\\" + forbidden[:1], "") if forbidden[:1] in "*[$" else prose(text)

    assert forbidden not in shown


@given(st.text(max_size=200))
def test_terminal_text_is_one_printable_line(text: str) -> None:
    assert all(character.isprintable() for character in terminal(text))


@given(st.text(max_size=80))
def test_a_marker_word_cannot_end_its_comment(name: str) -> None:
    word = marker_word(name)

    assert "--" not in word
    assert ">" not in word
    assert not any(character.isspace() for character in word)


def test_long_values_are_cut_in_the_middle_and_say_so() -> None:
    assert value_text("a" * 500, 60).count("more") == 1
    assert len(value_text("a" * 500, 60)) <= 60
