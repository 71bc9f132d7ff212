"""What an accepted call will do.

Belongs here: the plan a service makes of a valid request, and the request as the planner sees it.
Does not belong here: carrying it out (`work.py`) or making one (`firefly.py`, `photoshop.py`).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import Headers

from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import Endpoint
from fireflyassets.twin.fault_language import Effect
from fireflyassets.twin.gateway import Caller
from fireflyassets.twin.jobs import Output

Produce = Callable[[Effects], Awaitable[Sequence[bytes]]]


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One call that passed the gateway and the limits, with its body read as JSON."""

    endpoint: Endpoint
    caller: Caller
    headers: Headers
    body: dict[str, object]
    ordinal: int  # Of the call, for whatever is drawn from the seed.


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The outputs, in order, and how their bytes are made.

    `produce` may raise `JobFailedError`. `effects` come from marker words in the prompt.
    """

    rate: str
    outputs: list[Output]
    produce: Produce
    answer: dict[str, object] = field(default_factory=dict[str, object])
    effects: Sequence[Effect] = ()
    prompt_sha256: str | None = None


Planner = Callable[[Submission], Awaitable[Plan]]
