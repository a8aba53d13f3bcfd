"""Check answers against a template's questions: types, ranges, choices, patterns; all mistakes at once."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gpukit.nearest import nearest
from gpukit.projects.manifest import AnswerType, Question, TemplateError

Ask = Callable[[Question, str], Any]
"""Asks a person one question; gets the question and what was wrong with the last answer ("" at first)."""


def settle_answers(
    questions: list[Question], given: Mapping[str, Any], *, ask: Ask | None = None, strict: bool = True
) -> dict[str, Any]:
    """
    Return an answer to every question: what is given, else what a person says, else the default.

    Raises TemplateError with all mistakes together. With `strict` an answer to no question is a mistake.
    """
    problems: list[str] = []
    answers: dict[str, Any] = {}
    known = {question.name for question in questions}
    if strict:
        for name in sorted(given.keys() - known):
            near = nearest(name, known)
            hint = f"; did you mean `{near[0]}`" if near else ""
            problems.append(f"`{name}` answers no question{hint}")
    for question in questions:
        if question.name in given:
            value, problem = check_answer(question, given[question.name])
        elif ask is not None:
            value, problem = _ask_until_right(question, ask)
        elif question.default is not None:
            value, problem = check_answer(question, question.default)
        else:
            value, problem = None, f"`{question.name}` has no answer: {question.question or 'it has no default'}"
        if problem:
            problems.append(problem)
        answers[question.name] = value
    if problems:
        raise TemplateError("the answers do not fit:\n" + "\n".join(f"  {problem}" for problem in problems))
    return answers


def check_answer(question: Question, value: Any) -> tuple[Any, str]:
    """Return the answer in its type, and what is wrong with it ("" for nothing)."""
    converted, problem = _convert(question, value)
    if problem:
        return None, f"`{question.name}`: {problem}"
    if question.type is AnswerType.CHOICE and converted not in question.choices:
        near = nearest(str(converted), question.choices)
        hint = f"; did you mean `{near[0]}`" if near else ""
        return None, f"`{question.name}`: `{converted}` is none of {', '.join(question.choices)}{hint}"
    if isinstance(converted, (int, float)) and not isinstance(converted, bool):
        if question.minimum is not None and converted < question.minimum:
            return None, f"`{question.name}`: {converted:g} is under the smallest allowed, {question.minimum:g}"
        if question.maximum is not None and converted > question.maximum:
            return None, f"`{question.name}`: {converted:g} is over the largest allowed, {question.maximum:g}"
    if isinstance(converted, str) and question.pattern and not re.fullmatch(question.pattern, converted):
        return None, f"`{question.name}`: `{converted}` does not match {question.pattern}"
    return converted, ""


def _convert(question: Question, value: Any) -> tuple[Any, str]:
    match question.type:
        case AnswerType.STRING | AnswerType.CHOICE:
            if isinstance(value, (dict, list)) or value is None:
                return None, f"`{value}` is no text"
            text = str(value)
            # One line only: an answer with a line break could add keys to the YAML it lands in.
            return (None, "the text has a line break") if re.search(r"[\r\n\x00]", text) else (text, "")
        case AnswerType.INTEGER:
            if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,15}", str(value)):
                return None, f"`{value}` is no whole number"
            return int(value), ""
        case AnswerType.NUMBER:
            try:
                number = float(value)
            except (TypeError, ValueError):
                return None, f"`{value}` is no number"
            if isinstance(value, bool) or number != number or number in (float("inf"), float("-inf")):
                return None, f"`{value}` is no number"
            return number, ""
        case AnswerType.BOOLEAN:
            words = {"yes": True, "true": True, "y": True, "no": False, "false": False, "n": False}
            found = value if isinstance(value, bool) else words.get(str(value).strip().lower())
            return (None, f"`{value}` is neither yes nor no") if found is None else (found, "")
        case AnswerType.LIST:
            items = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
            if not isinstance(items, list) or any(isinstance(item, (dict, list)) for item in items):
                return None, f"`{value}` is no list"
            return [str(item) for item in items], ""
    raise AssertionError(question.type)


def _ask_until_right(question: Question, ask: Ask) -> tuple[Any, str]:
    problem = ""
    for _ in range(5):
        value, problem = check_answer(question, ask(question, problem))
        if not problem:
            return value, ""
    return None, problem
