"""What it takes to draw a generated picture again.

Belongs here: the recipe, which is small, picklable and holds no prompt, only its hash.
Does not belong here: drawing (`art.py`).
"""

from dataclasses import asdict, dataclass
from typing import cast


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The picture of one prompt (by hash) and seed at one size in pixels."""

    prompt_sha256: str
    seed: int
    width: int
    height: int
    content_class: str = "photo"

    def as_json(self) -> dict[str, object]:
        """Return the recipe as the journal keeps it."""
        return asdict(self)


def recipe_from(row: dict[str, object]) -> Recipe:
    """Return the recipe of a journal row."""
    return Recipe(
        prompt_sha256=str(row["prompt_sha256"]),
        seed=cast("int", row["seed"]),
        width=cast("int", row["width"]),
        height=cast("int", row["height"]),
        content_class=str(row["content_class"]),
    )
