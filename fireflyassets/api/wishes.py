"""Small JSON bodies that ask for something, read by a model and described by it.

Belongs here: what all of them share. Does not: the models, jobs and briefs (``intake_routes.py``).
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from fireflyassets.api.bodies import JSON, json_fields
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core.request import Problem

_Wish = TypeVar("_Wish", bound=BaseModel)


def wish(model: type[_Wish], body: bytes, *, of: str) -> _Wish:
    """Return what a body asks for; *of* is what it is about, in words.

    Raises:
        ProblemRaised: 400, it is no JSON object; 422 with each field that is wrong.
    """
    try:
        return model.model_validate(dict(json_fields(body)))
    except ValidationError as error:
        said = f"The {of} is not right."
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, said, *_problems(error)) from None


def body(model: type[BaseModel]) -> dict[str, Any]:
    """Return a body's description."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})
    content = {JSON: {"schema": _inlined(schema, parts)}}
    return {"requestBody": {"required": True, "content": content}}


def _problems(error: ValidationError) -> list[Problem]:
    return [
        Problem(
            ".".join(map(str, fault["loc"])),
            "type",
            f"{fault['msg']}.",
            "Send it as the description at /openapi.json names it.",
        )
        for fault in error.errors(include_input=False, include_url=False)
    ]


def _inlined(schema: object, parts: Mapping[str, Any]) -> object:
    """Return a schema that stands alone: FastAPI knows nothing of its parts."""
    if isinstance(schema, dict):
        said = cast("dict[str, object]", schema)
        if "$ref" in said:
            return parts[str(said["$ref"]).rpartition("/")[2]]
        return {name: _inlined(value, parts) for name, value in said.items()}
    if isinstance(schema, list):
        return [_inlined(one, parts) for one in cast("list[object]", schema)]
    return schema
