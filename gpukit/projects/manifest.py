"""
The manifest of a platform team's template, `gpukit-template.yaml` in its top folder.

    name: research-clusters
    version: "3"
    description: A cluster for a research group
    extends: ../organisation          # optional: limits and questions of another template come first
    questions:
      - name: team
        type: string                  # string | integer | number | boolean | choice | list
        question: Which team pays?
        pattern: "[a-z][a-z0-9-]+"
      - {name: nodes, type: integer, default: 2, minimum: 1, maximum: 8}
    limits:
      instance_types: [p5.48xlarge, g6e.12xlarge]
      regions: [us-east-1]
      max_gpus: 64
      max_hourly_usd: 700
      required_tags: [cost-center]
      mandatory_checks: [GK2041]
    exclude: [notes/*]
"""

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gpukit.projects.limits import OrgLimits

MANIFEST_FILE: Final = "gpukit-template.yaml"


class TemplateError(Exception):
    """A template that cannot be used, or answers that do not fit; for people."""


class AnswerType(StrEnum):
    """What kind of answer a question takes."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    LIST = "list"


class Question(BaseModel):
    """One question. Without a default it must be answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
    type: AnswerType = AnswerType.STRING
    question: str = ""
    help: str = ""
    default: Any = None
    choices: list[str] = Field(default_factory=list)
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None

    @model_validator(mode="after")
    def _choices_belong_to_choice(self) -> "Question":
        if (self.type is AnswerType.CHOICE) != bool(self.choices):
            raise ValueError("`choices` belongs to the type `choice`, and that type needs it")
        return self


class LimitsText(BaseModel):
    """The limits as the manifest states them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    instance_types: list[str] | None = None
    regions: list[str] | None = None
    max_gpus: Annotated[int, Field(ge=0)] | None = None
    max_hourly_usd: Annotated[float, Field(ge=0)] | None = None
    required_tags: list[str] = Field(default_factory=list)
    mandatory_checks: list[Annotated[str, Field(pattern=r"^GK\d{4}$")]] = Field(default_factory=list)

    def to_limits(self) -> OrgLimits:
        """Return the limits as a frozen value."""
        return OrgLimits(
            instance_types=None if self.instance_types is None else frozenset(self.instance_types),
            regions=None if self.regions is None else frozenset(self.regions),
            max_gpus=self.max_gpus,
            max_hourly_usd=self.max_hourly_usd,
            required_tags=frozenset(self.required_tags),
            mandatory_checks=frozenset(self.mandatory_checks),
        )


class Manifest(BaseModel):
    """The whole manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=100)]
    version: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    extends: str | None = None
    questions: list[Question] = Field(default_factory=list)
    limits: LimitsText = LimitsText()
    exclude: list[str] = Field(default_factory=list)


def parse_manifest(text: str, *, where: str) -> Manifest:
    """Return the manifest; raises TemplateError with all mistakes at once."""
    document = load_mapping(text, where=where)
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        lines = [f"  {'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()]
        raise TemplateError(f"{where} is no manifest of a template:\n" + "\n".join(lines)) from error


def parse_limits(text: str, *, where: str) -> OrgLimits:
    """Return limits from a file that holds nothing else; raises TemplateError."""
    try:
        return LimitsText.model_validate(load_mapping(text, where=where)).to_limits()
    except ValidationError as error:
        lines = [f"  {'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()]
        raise TemplateError(f"{where} holds no limits:\n" + "\n".join(lines)) from error


def load_mapping(text: str, *, where: str) -> dict[str, Any]:
    """Return the mapping of a YAML text; an empty one where there is nothing; raises TemplateError."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark is not None else ""
        raise TemplateError(f"{where} is not YAML{place}: {getattr(error, 'problem', None) or error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise TemplateError(f"{where} is no mapping")
    return document
