"""Two limiters that must answer alike, step by step.

Here: the steps, how they are drawn, and taking them. Not here: which limiters are compared.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from hypothesis import strategies as st

from fireflyassets.limiter.errors import OverrideRefused
from fireflyassets.limiter.port import Flow, Granted, Limiter, Ticket
from fireflyassets_tests.limiter.worlds import StandingClock, per_minute

Step = tuple[str, float]
RATES = st.sampled_from([4, 60, 600, 3000])
FLOWS = [Flow("acme", 3), Flow("b.e-t_a"), Flow("beta", 7)]
DAYS = st.sampled_from([None, 9])


def steps(most: int) -> st.SearchStrategy[list[Step]]:
    """Return up to *most* steps; an override's amount is its calls a minute."""
    kinds: list[tuple[str, Sequence[float]]] = [
        ("reserve", [1, 2, 5, 400]),
        ("noticed", [0.05, 0.4, 1]),
        ("turn", [0, 0, 0, 1, 5]),
        ("flow", [1, 2, 5]),
        ("advance", [0.01, 0.7, 6, 70, 400, 50_000]),
        ("pause", [0, 2, 40, 1000]),
        ("override", [0.1, 3, 48, 2000]),
        ("limits", [60, 90, 600]),
        ("answered", [0]),
        ("clear", [0]),
        ("reset", [0]),
    ]
    drawn = [st.tuples(st.just(kind), st.sampled_from(amounts)) for kind, amounts in kinds]
    return st.lists(st.one_of(*drawn), max_size=most)


def compare(limiters: Sequence[Limiter], item: str, clock: StandingClock, told: list[Step]) -> None:
    """Take the steps with each limiter; answers, states and what a ticket may do must be equal."""
    held: Ticket | None = None
    for number, step in enumerate(told):
        if step[0] == "advance":
            clock.advance(step[1])
        answers = [_take(limiter, item, step, number, held) for limiter in limiters]
        assert answers == answers[:1] * len(answers)
        states = [limiter.state(item) for limiter in limiters]
        assert states == states[:1] * len(states)
        if isinstance(answers[0], Granted):
            held = answers[0].tickets[-1]
        if held is not None:
            looks = [limiter.check(held) for limiter in limiters]
            assert looks == looks[:1] * len(looks)


def _take(limiter: Limiter, item: str, step: Step, number: int, held: Ticket | None) -> object:
    kind, amount = step
    duration = timedelta(seconds=(3, 90, 4000)[number % 3])
    flow = FLOWS[number % 3]
    actions: dict[str, Callable[[], object]] = {
        "reserve": lambda: limiter.reserve(item, int(amount)),
        "turn": lambda: [limiter.reserve(item, 5, flow=flow) for _ in range(3 + int(amount))],
        "flow": lambda: [limiter.reserve(item, 5, flow=FLOWS[0]) for _ in range(int(amount))],
        "noticed": lambda: limiter.reserve(item, 2, notice=timedelta(seconds=amount)),
        "pause": lambda: limiter.pause(item, timedelta(seconds=amount)),
        "override": lambda: limiter.override(
            item, amount, duration=duration, by="ops", why="a test"
        ),
        "limits": lambda: limiter.register(item, per_minute(int(amount), per_day=30)),
        "clear": lambda: limiter.clear_override(item, by="ops"),
        "reset": lambda: limiter.reset(item, by="ops", why="a test"),
        "answered": lambda: held and limiter.answered(held),
        "advance": lambda: None,
    }
    try:
        return actions[kind]()
    except OverrideRefused as refusal:
        return str(refusal)
