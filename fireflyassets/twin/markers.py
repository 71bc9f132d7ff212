"""Marker words: prompts that the twin refuses or mistreats on purpose.

Belongs here: the list, which `docs/twin.md` documents. A marker anywhere in a prompt counts;
the longest one found decides. Does not belong here: faults set over HTTP (`faults.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fireflyassets.twin.fault_language import Effect, EndsAs, Flags


@dataclass(frozen=True, kw_only=True)
class RefusedAtOnce:
    """The submit is answered with an error; nothing is accepted."""

    status: int
    error_code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class AcceptedThen:
    """The submit is accepted, and the job ends so."""

    effect: Effect


_UNSAFE = "The prompt did not pass content policy checks."

MARKERS: Mapping[str, RefusedAtOnce | AcceptedThen] = {
    "twin-unsafe": RefusedAtOnce(status=451, error_code="prompt_unsafe", message=_UNSAFE),
    "twin-unsafe-422": RefusedAtOnce(status=422, error_code="prompt_unsafe", message=_UNSAFE),
    "twin-denied-entity": RefusedAtOnce(
        status=451, error_code="prompt_entity_denied", message="The prompt names a denied entity."
    ),
    "twin-legal": RefusedAtOnce(
        status=451, error_code="legal_error", message="Unavailable for legal reasons."
    ),
    "twin-unsafe-job": AcceptedThen(
        effect=EndsAs(kind="ends_as", error_code="prompt_unsafe", message=_UNSAFE)
    ),
    "twin-unsafe-output": AcceptedThen(
        effect=EndsAs(
            kind="ends_as",
            error_code="output_media_unsafe",
            message="The output did not pass content policy checks.",
        )
    ),
    "twin-language": AcceptedThen(
        effect=EndsAs(
            kind="ends_as",
            error_code="language_not_supported",
            message="The prompt's language is not supported.",
        )
    ),
    "twin-denied-words": AcceptedThen(effect=Flags(kind="flags")),
    "twin-blocked-artists": AcceptedThen(
        effect=Flags(kind="flags", denied_words=False, blocked_artists=True)
    ),
}


def marker_in(prompt: str | None) -> RefusedAtOnce | AcceptedThen | None:
    """Return what the longest marker in *prompt* asks for."""
    found = [word for word in MARKERS if word in (prompt or "").lower()]
    return MARKERS[max(found, key=len)] if found else None
