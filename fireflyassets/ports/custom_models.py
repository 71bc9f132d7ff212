"""Custom models as a port: which there are, and whether one can be used now.

Belongs here: what is asked about them. Does not: training.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta

from fireflyassets.core.failure import Fault
from fireflyassets.core.recipe_step import Model


@dataclass(frozen=True, slots=True)
class CustomModel:
    """One model as the vendor lists it."""

    asset_id: str
    name: str
    state: str
    """``published``, ``queued``, ``training``, ``failed`` and so on."""
    base: str
    """``image3`` or ``image4``; empty where the vendor does not say."""
    concept: str | None = None
    """A subject model's word, which the prompt must hold."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The model can be used."""

    model: CustomModel


@dataclass(frozen=True, slots=True)
class NotReady:
    """The model can't be used, or nobody could say so: the fault's class tells which."""

    fault: Fault
    retry_after: timedelta | None = None


class CustomModels(ABC):
    """The custom models of one credential's organisation."""

    @abstractmethod
    async def models(self) -> tuple[CustomModel, ...] | NotReady:
        """Return all models, in whatever state, or why they can't be listed."""

    @abstractmethod
    async def check(self, asset_id: str, model: Model) -> Ready | NotReady:
        """Say whether *asset_id* can be used under the header *model*."""
