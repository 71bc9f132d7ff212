"""JSON Schemas: the forms that others write for us or read, as documents for editors and clients.

Belongs here: a campaign's file, a job, a message of the job queue, a reason, a sidecar.
Does not: the rules that no schema can say, such as a campaign's own locales (``core/request.py``).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fireflyassets.core import ids, sidecar
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.disclosure import SourceType
from fireflyassets.core.message import VERSION
from fireflyassets.core.request import KEY_FIELD, PROMPT_LIMIT, REASON_LIMIT

Schema = dict[str, Any]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

JOB: Final[Schema] = {
    "type": "object",
    "required": ["campaign", "prompt", "locale", "headline", "aspects"],
    "additionalProperties": False,
    "properties": {
        "campaign": {"type": "string", "pattern": f"^{ids.SLUG.pattern}$"},
        KEY_FIELD: {
            "type": "string",
            "pattern": f"^{ids.KEY.pattern}$",
            "description": "Unless the header Idempotency-Key holds it. A UUID is advised.",
        },
        "prompt": {"type": "string", "minLength": 1, "maxLength": PROMPT_LIMIT},
        "locale": {"type": "string", "description": "One of the campaign's."},
        "headline": {
            "type": "string",
            "minLength": 1,
            "description": "At most as long as the campaign allows.",
        },
        "aspects": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "string", "pattern": f"^{ids.ASPECT.pattern}$"},
            "description": "Some of the campaign's.",
        },
        "reference": {
            "type": "string",
            "pattern": f"^{ids.REFERENCE.pattern.replace('?P<', '?<')}$",
            "description": "A picture that was sent to POST /v1/references, where the campaign's "
            "recipe takes one.",
        },
    },
    "example": {
        "campaign": "spring-launch",
        KEY_FIELD: "market-01",
        "prompt": "Lemon verbena on a market stall, morning light",
        "locale": "de-DE",
        "headline": "Frisch vom Markt",
        "aspects": ["1080x1080", "1920x1080"],
    },
}
REASON: Final[Schema] = {
    "type": "object",
    "required": ["reason"],
    "additionalProperties": False,
    "properties": {
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": REASON_LIMIT,
            "description": "Why, in one line; told with the job or the campaign.",
        }
    },
    "example": {"reason": "The licence is renewed."},
}


def _campaign() -> Schema:
    return CampaignConfig.model_json_schema() | {"title": "A campaign's file"}


def _new_campaign() -> Schema:
    """Return what POST /v1/campaigns takes: the customer is the tenant, the rest may be taken."""
    return {
        "type": "object",
        "required": ["campaign"],
        "description": "The fields of a campaign's file; /schemas/campaign says each of them. The "
        "customer is the token's tenant.",
        "properties": {name: {} for name in CampaignConfig.model_fields if name != "customer"},
        "example": {
            "campaign": "autumn",
            "title": "Autumn launch",
            "locales": ["en-GB"],
            "budget": "500",
            "deadline": "2027-09-01T12:00:00Z",
            "priority": "high",
        },
    }


NEW_CAMPAIGN: Final[Schema] = _new_campaign()


def _job() -> Schema:
    return _named(JOB, "A job, as POST /v1/jobs takes it")


def _message() -> Schema:
    properties = {
        "version": {"const": VERSION},
        "customer": {"type": "string", "pattern": f"^{ids.SLUG.pattern}$"},
        **JOB["properties"],
    }
    body = {
        "type": "object",
        "required": ["version", "customer", KEY_FIELD, *JOB["required"]],
        "additionalProperties": False,
        "properties": properties
        | {KEY_FIELD: {"type": "string", "pattern": f"^{ids.KEY.pattern}$"}},
    }
    return _named(body, "A job, as a message of the job queue")


def _sidecar() -> Schema:
    text, words, number = {"type": "string"}, {"type": ["string", "null"]}, {"type": "integer"}
    digest = {"type": "string", "pattern": f"^{ids.DIGEST.pattern}$"}
    file = {
        "name": text,
        "mediaType": text,
        "width": number,
        "height": number,
        "bytes": number,
        "sha256": digest,
    }
    original = {
        "step": text,
        "key": text | {"description": "Of the untouched picture in the bucket."},
        "sha256": digest,
        "model": words,
        "seed": {"type": ["integer", "null"]},
    }
    return _closed(
        {
            "version": {"const": sidecar.VERSION},
            "creativeId": text | {"pattern": "^[0-9a-f]{12}$"},
            "file": _closed(file),
            "customer": text,
            "campaign": text,
            "campaignVersion": text,
            "jobId": text,
            "concept": text | {"description": "The job's own key."},
            "generation": number,
            "locale": text,
            "aspect": text,
            "templateSha256": words,
            "digitalSourceType": {"enum": [*(one.value for one in SourceType), None]},
            "generatedBy": text | {"description": "As the tag says it."},
            "modelId": words | {"description": "Of a custom model."},
            "originals": {"type": "array", "items": _closed(original)},
        }
    ) | {"title": "What is told of a delivered file, in <file>.json beside it"}


def _closed(properties: Schema) -> Schema:
    """Return an object that has all these properties and no other."""
    return {
        "type": "object",
        "required": [*properties],
        "additionalProperties": False,
        "properties": properties,
    }


def _named(schema: Schema, title: str) -> Schema:
    kept = {name: value for name, value in schema.items() if name != "example"}
    return {"title": title} | kept


SCHEMAS: Final[Mapping[str, Callable[[], Schema]]] = {
    "campaign": _campaign,
    "job": _job,
    "message": _message,
    "sidecar": _sidecar,
}
"""Name -> what makes the document."""


def document(name: str) -> Schema:
    """Return a schema of `SCHEMAS` as a document that stands alone."""
    return {"$schema": _DIALECT} | SCHEMAS[name]()
