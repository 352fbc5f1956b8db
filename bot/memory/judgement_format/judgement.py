"""What a judgement is: its fields, and the JSON schema a model is asked to keep to.

Invariant: every field takes anything; only a `keep` that says neither yes nor no makes a judgement invalid.
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from bot.memory.entities.entity import NAMED_TYPES, EntityType
from bot.memory.fact import TOLD_KINDS, FactKind
from bot.memory.judgement_format.fields import (
    DEFAULT_IMPORTANCE,
    as_bool,
    as_entities,
    as_facts,
    as_importance,
    as_kind,
    as_text,
    as_type,
    as_words,
)

Text = Annotated[str, BeforeValidator(as_text)]


class ReadFact(BaseModel):
    """One fact as the model put it."""

    text: Annotated[str, BeforeValidator(as_words)]
    kind: Annotated[FactKind | None, BeforeValidator(as_kind)] = None
    importance: Annotated[float, BeforeValidator(as_importance)] = DEFAULT_IMPORTANCE
    supersedes: Text = ""
    """The memory it takes the place of, as it was shown."""


class ReadEntity(BaseModel):
    """One entity as the model put it."""

    type: Annotated[EntityType, BeforeValidator(as_type)]
    value: Text


class ReadJudgement(BaseModel):
    """The model's judgement, types put right, content not yet checked."""

    intent: Text = ""
    keep: Annotated[bool, BeforeValidator(as_bool)]
    reason: Text = ""
    summary: Text = ""
    is_summary_cut: bool = Field(default=False, exclude=True)
    """It may be half of one: the text ended with it. Said by the reading, never by the model."""
    facts: Annotated[list[ReadFact], BeforeValidator(as_facts)] = Field(default_factory=list[ReadFact])
    entities: Annotated[list[ReadEntity], BeforeValidator(as_entities)] = Field(
        default_factory=list[ReadEntity]
    )


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(**properties: object) -> dict[str, object]:
    return {"type": "array", "items": _object(**properties)}


JUDGEMENT_SCHEMA: dict[str, object] = _object(
    intent={"type": "string"},
    keep={"type": "boolean"},
    reason={"type": "string"},
    summary={"type": "string"},
    facts=_list_of(
        kind={"type": "string", "enum": [kind.value for kind in TOLD_KINDS]},
        text={"type": "string"},
        importance={"type": "number"},
        supersedes={"type": "string"},
    ),
    entities=_list_of(
        type={"type": "string", "enum": [kind.value for kind in NAMED_TYPES]},
        value={"type": "string"},
    ),
)
"""JSON Schema, in the part of it that strict modes take: every field required, none added. A text cut off after
`keep` and the first facts still says what they are, so these come in that order."""
