"""
What botocore's service models themselves say about a request: ranges, lengths, patterns, enumerations.

botocore's client checks only types, required members and minimum values, so the rest has to be refused here, as AWS does, with the code that each
service uses for it. Source: the models in botocore's `data/`, which AWS publishes.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.requests import ApiCall

CODE_BY_SERVICE: Final = {
    "autoscaling": "ValidationError",
    "budgets": "InvalidParameterException",
    "cloudwatch": "ValidationError",
    "ec2": "InvalidParameterValue",
    "ecr": "InvalidParameterException",
    "efs": "BadRequest",
    "eks": "InvalidParameterException",
    "fsx": "BadRequest",
    "iam": "ValidationError",
    "imagebuilder": "InvalidParameterValueException",
    "kms": "ValidationException",
    "logs": "InvalidParameterException",
    "resource-groups": "BadRequestException",
    "resourcegroupstaggingapi": "InvalidParameterException",
    "s3": "InvalidArgument",
    "service-quotas": "IllegalArgumentException",
    "sns": "InvalidParameter",
    "ssm": "ValidationException",
    "sts": "ValidationError",
}

LEFT_TO_RULES: Final = frozenset(
    {
        # A rule of ours refuses these with a more precise code.
        ("ec2", "InstanceType"),
        ("s3", "Bucket"),
        ("s3", "LocationConstraint"),
        ("kms", "PendingWindowInDays"),
        ("eks", "version"),
    }
)


def check(call: ApiCall) -> None:
    """Refuse a request that breaks the constraints of its own model. Raises AwsError with every constraint broken."""
    if (
        call.operation_model is None
        or call.operation_model.input_shape is None
        or call.operation in ("PutObject", "UploadPart")
    ):
        return
    found = list(_violations(call.operation_model.input_shape, call.params, "", call.service))
    if not found:
        return
    code = CODE_BY_SERVICE.get(call.service, "ValidationException")
    if call.service == "s3" and "." in found[0].split("'", 4)[3]:
        # What stands in the body is held against S3's XML schema.
        code = "MalformedXML"
    plural = "error" if len(found) == 1 else "errors"
    raise AwsError(code, f"{len(found)} validation {plural} detected: {'; '.join(found)}")


def _violations(shape: Any, value: Any, path: str, service: str) -> Iterator[str]:
    kind = shape.type_name
    if kind == "structure" and isinstance(value, dict):
        for name, member in shape.members.items():
            if name in value and value[name] is not None and (service, name) not in LEFT_TO_RULES:
                yield from _violations(member, value[name], f"{path}.{name}" if path else name, service)
        for name in shape.required_members:
            if value.get(name) is None:
                yield f"Value null at '{_lower(path, name)}' failed to satisfy constraint: Member must not be null"
    elif kind == "list" and isinstance(value, list):
        yield from _length(shape, len(value), path, "length")
        for place, item in enumerate(value, 1):
            yield from _violations(shape.member, item, f"{path}.{place}.member", service)
    elif kind == "map" and isinstance(value, dict):
        yield from _length(shape, len(value), path, "length")
        for key, item in value.items():
            yield from _violations(shape.key, key, f"{path}.key", service)
            yield from _violations(shape.value, item, f"{path}.{key}.member", service)
    elif kind == "string" and isinstance(value, str):
        yield from _string(shape, value, path)
    elif (
        kind in ("integer", "long", "float", "double")
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
    ):
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        if low is not None and value < low:
            yield f"Value '{value}' at '{path}' failed to satisfy constraint: Member must have value greater than or equal to {low}"
        if high is not None and value > high:
            yield f"Value '{value}' at '{path}' failed to satisfy constraint: Member must have value less than or equal to {high}"


def _string(shape: Any, value: str, path: str) -> Iterator[str]:
    choices = shape.metadata.get("enum")
    if choices and value not in choices:
        yield f"Value '{value}' at '{path}' failed to satisfy constraint: Member must satisfy enum value set: [{', '.join(choices)}]"
        return
    yield from _length(shape, len(value), path, "length", value)
    pattern = shape.metadata.get("pattern")
    if pattern:
        compiled = compile_pattern(pattern)
        if compiled is not None and compiled.fullmatch(value) is None:
            yield f"Value '{value}' at '{path}' failed to satisfy constraint: Member must satisfy regular expression pattern: {pattern}"


def _length(shape: Any, length: int, path: str, word: str, value: Any = None) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    shown = "" if value is None else f" '{value}'"
    if low is not None and length < low:
        yield f"Value{shown} at '{path}' failed to satisfy constraint: Member must have {word} greater than or equal to {low}"
    if high is not None and length > high:
        yield f"Value{shown} at '{path}' failed to satisfy constraint: Member must have {word} less than or equal to {high}"


def _lower(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_UNICODE_CLASSES: Final = {
    # Java's classes in the models, in the closest words of Python's `re`. `\w` without the digits and the underscore is a letter.
    r"\p{L}": r"a-zA-Z\u00AA-\uD7FF\uF900-\uFFDC",
    r"\p{Z}": r"\s\u00A0\u2000-\u200A\u202F\u205F\u3000",
    r"\p{N}": r"0-9\u00B2\u00B3\u00B9\u00BC-\u00BE\u0660-\u0669",
    r"\p{M}": r"\u0300-\u036F",
    r"\p{S}": r"$+<=>^`|~\u00A2-\u00A9",
    r"\p{P}": r"!-/:-@\[-`{-~",
    r"\p{C}": r"\u0000-\u001F",
    r"\p{IsLetter}": r"a-zA-Z\u00AA-\uD7FF",
    r"\p{Alnum}": "a-zA-Z0-9",
    r"\p{Graph}": r"\x21-\x7E",
    r"\p{Print}": r"\x20-\x7E",
    r"\p{ASCII}": r"\x00-\x7F",
    r"\p{Cntrl}": r"\x00-\x1F\x7F",
}


@cache
def compile_pattern(pattern: str) -> "re.Pattern[str] | None":
    """Return a model's pattern for Python's `re`; None when it has no equal there, and then nothing is refused by it."""
    # Some patterns hold an anchor in their middle, which Java's matcher of the model's authors evidently ignores.
    text = re.sub(r"(?<![\[\\])\^", "", pattern)
    text = re.sub(r"\\p\{(\w)\}|\\p(\w)(?![\w{])", lambda found: rf"\p{{{found.group(1) or found.group(2)}}}", text)
    for java, python in _UNICODE_CLASSES.items():
        text = re.sub(rf"(\[[^\]]*){re.escape(java)}", lambda found, python=python: found.group(1) + python, text)
        text = text.replace(java, f"[{python}]")
    text = re.sub(
        r"\[:(\w+):\]",
        lambda found: {"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9"}.get(found.group(1), ""),
        text,
    )
    try:
        return re.compile(text, re.DOTALL)
    except re.error:
        return None
