"""How every request body is read.

Belongs here: the one base of all bodies. Does not belong here: any field.
"""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Body(BaseModel):
    """Strict types, unknown fields ignored, names in camel case on the wire."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, alias_generator=to_camel)
